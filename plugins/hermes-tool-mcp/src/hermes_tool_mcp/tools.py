"""The tools of servers as they are offered. What they do is imported when one is called."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from hermes_core.context import PluginContext
from hermes_core.kinds import Tool, ToolContext, ToolOutput, ToolSource
from hermes_core.types import Effect, Session
from hermes_tool_mcp.config import ServerSettings
from hermes_tool_mcp.known import closed_to, lists_of, servers_of, settings_of
from hermes_tool_mcp.lasting import lasting
from hermes_tool_mcp.lists import Listed, ListedTool
from hermes_tool_mcp.live import began
from hermes_tool_mcp.names import PREFIX, named, source_of

__all__ = ["SKILL", "bounded", "make_sources", "offered", "toolset_of"]

LATER = "mcp"  # the source, and the toolset, of servers that came while this Hermes runs
_MADE = 1_000  # of servers, each in a folder, whose tools are kept ready
_GRACE = 15.0  # seconds that a call may take beyond its deadline, which says more than the kernel's
_LIST = ListedTool(
    name="list_resources",
    description="List what can be read there.",
    schema={"type": "object", "properties": {}},
    looks=True,
)
_READ = ListedTool(
    name="read_resource",
    description="Read a resource by its URI.",
    schema={"type": "object", "properties": {"uri": {"type": "string"}}, "required": ["uri"]},
    looks=True,
)
_TOLD = 3_000  # characters that the skills of a server have in what a model is told of them
SKILL = "load_skill"


def toolset_of(server: str) -> str:
    """Return the toolset of a server's tools."""
    return f"mcp-{server}"


def bounded(server: ServerSettings) -> bool:
    """Tell whether all that a server can do is bounded by its wall: it reaches no host of its own."""
    return bool(server.command) and server.wall and not server.hosts


def offered(server: ServerSettings, listed: Listed) -> list[ListedTool]:
    """Return what of a server is offered."""
    wanted = [one for one in listed.tools if _wanted(server, one.name)]
    own = [*([_LIST, _READ] if listed.resources else []), *([_skills(listed)] if listed.skills else [])]
    there = {one.name for one in wanted}
    return [*wanted, *(one for one in own if one.name not in there and _wanted(server, one.name))]


def _skills(listed: Listed) -> ListedTool:
    """Return what reads the skills of a server, and says which there are."""
    told, left = "Read a skill: how something is done with this server. There is:", 0
    for one in listed.skills:
        line = f"\n- {one.name}: {one.description}"
        left += len(told) + len(line) > _TOLD
        told += line if not left else ""
    told += f"\n… and {left} more" if left else ""
    return ListedTool(
        name=SKILL,
        description=told,
        schema={
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "file": {"type": "string", "description": "another file of it than SKILL.md"},
            },
            "required": ["name"],
        },
        looks=True,
    )


def _wanted(server: ServerSettings, name: str) -> bool:
    if server.include and not any(fnmatchcase(name, one) for one in server.include):
        return False
    return not any(fnmatchcase(name, one) for one in server.exclude)


def make_sources(ctx: PluginContext) -> Sequence[ToolSource]:
    """Return a source for each server, which has what is known of it by now; and one for those that come later."""
    began(ctx)
    at_first = tuple(servers_of(ctx))

    def later(session: Session) -> Iterable[Tool]:
        names = [name for name in servers_of(ctx, session.id) if name not in at_first]
        tools = [one for name in names for one in _tools(ctx, name, LATER, session)]
        return lasting(ctx, LATER, session, tools)

    def first(name: str, session: Session) -> Iterable[Tool]:
        return lasting(ctx, name, session, _tools(ctx, name, toolset_of(name), session))

    return [
        *(
            ToolSource(
                name=source_of(name).removesuffix("_"),
                toolset=toolset_of(name),
                tools=partial(first, name),
            )
            for name in at_first
        ),
        ToolSource(name=LATER, toolset=LATER, tools=later),
    ]


def _tools(ctx: PluginContext, name: str, toolset: str, session: Session) -> Iterable[Tool]:
    server = settings_of(ctx, name, session.id)
    listed = lists_of(ctx).get(name, server) if server else None
    if server is None or listed is None:
        return []
    # The same ones again, as long as nothing changed: each step of a turn asks for them.
    made: dict[tuple[str, str, str], tuple[Listed, ServerSettings, list[Tool]]] = ctx.state.setdefault("made", {})
    before = made.get(key := (name, toolset, session.cwd))
    if before is not None and before[0] is listed and before[1] is server:
        return before[2]
    if len(made) > _MADE:
        made.clear()
    made[key] = (listed, server, _made(ctx, name, toolset, session, server, listed))
    return made[key][2]


def _made(
    ctx: PluginContext, name: str, toolset: str, session: Session, server: ServerSettings, listed: Listed
) -> list[Tool]:
    there = {one.name: one for one in offered(server, listed)}
    needs = partial(_closed, ctx, server)
    own = {_LIST.name, _READ.name, SKILL} - {one.name for one in listed.tools}
    return [
        _tool(name, server, there[inner], outer, session, needs, inner in own, toolset)
        for outer, inner in named(name, there).items()
    ]


def _closed(ctx: PluginContext, server: ServerSettings, session: Session) -> str | None:
    return "this MCP server is for its owner alone" if closed_to(ctx, server, session) else None


def _tool(
    name: str,
    server: ServerSettings,
    one: ListedTool,
    outer: str,
    session: Session,
    needs: Callable[[Session], str | None],
    own: bool,
    toolset: str,
) -> Tool:
    async def run(context: ToolContext, given: Mapping[str, Any]) -> ToolOutput:
        from hermes_tool_mcp.calling import answered

        return await answered(context, name, one, given, own=own)

    effects, keys = _does(name, server, one, session)
    return Tool(
        name=outer,
        description=one.description or f"{one.name} of {name}.",
        schema=one.schema,
        run=run,
        toolset=toolset,
        effects=frozenset({*effects, *([Effect.ASK] if server.elicitation else [])}),
        idempotent=one.looks,
        touches=None if keys is None else lambda _: keys,
        untrusted=True,
        needs=needs,
        seconds=server.timeout + server.connect_timeout + _GRACE,
    )


def _does(
    name: str, server: ServerSettings, one: ListedTool, session: Session
) -> tuple[Iterable[Effect], tuple[str, ...] | None]:
    """Return what a tool may do to the world, and what it touches; None where nobody can say."""
    if server.url:
        keys = (f"host:{(urlsplit(server.url).hostname or '').lower()}",)
        return ({Effect.NETWORK} if one.looks else {Effect.NETWORK, Effect.SEND}), keys
    if bounded(server):
        folder = server.folder or session.cwd
        return ((), ()) if one.looks else ({Effect.WRITE_FILES}, (f"file:{folder}" if folder else f"{PREFIX}{name}",))
    return ({Effect.NETWORK} if one.looks else {Effect.NETWORK, Effect.SEND}), None
