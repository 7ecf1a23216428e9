"""``hermes tools``: what the model may call, and what it called."""

import click

from hermes_core.cli.scope import Scope
from hermes_core.cli.sessions import with_store
from hermes_core.cli.table import ago, emit, json_option
from hermes_core.errors import UnknownName
from hermes_core.kinds import Tool
from hermes_core.types import HistoryEntry, Principal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.store.journal import Store


@click.group()
def tools() -> None:
    """Tools are functions the model may call; toolsets are groups of them."""


@tools.command("list")
@json_option
@click.pass_obj
def list_(scope: Scope, as_json: bool) -> None:
    """List tools, what they may touch, and whether they are on."""
    found = _all_tools(scope)
    off = scope.settings.config.agent.disabled_tools
    rows = [
        {
            "tool": t.name,
            "on": "off" if t.name in off else "on",
            "toolset": t.toolset,
            "may": ", ".join(sorted(e.value for e in t.effects)) or "nothing outside",
            "description": t.description.splitlines()[0],
        }
        for t in found.values()
    ]
    emit(rows, ("tool", "on", "toolset", "may", "description"), as_json=as_json, empty="No tool plugin is enabled.")


def _all_tools(scope: Scope) -> dict[str, Tool]:
    runtime = scope.hermes().runtime
    runtime.loader.load_contributing("tools")
    return {tool.name: tool for _, tool in runtime.dispatch.contributions("register_tools")}


@tools.command()
@click.argument("names", nargs=-1, required=True)
@click.pass_obj
def enable(scope: Scope, names: tuple[str, ...]) -> None:
    """Offer tools again."""
    _switch(scope, names, on=True)


@tools.command()
@click.argument("names", nargs=-1, required=True)
@click.pass_obj
def disable(scope: Scope, names: tuple[str, ...]) -> None:
    """Offer tools no more."""
    _switch(scope, names, on=False)


def _switch(scope: Scope, names: tuple[str, ...], *, on: bool) -> None:
    from hermes_core.config.edit import set_value

    known = _all_tools(scope)
    for name in names:
        if name not in known:
            raise UnknownName("tool", name, known)
    off = set(scope.settings.config.agent.disabled_tools)
    set_value(scope.home, "agent.disabled_tools", sorted(off - set(names) if on else off | set(names)))


@tools.command()
@click.option("--session", default="", help="Only of this session (id, title or latest).")
@click.option("--tool", "name", default="", help="Only of this tool.")
@click.option(
    "-n", "--limit", default=30, type=click.IntRange(min=1), show_default=True, help="How many, newest first."
)
@json_option
@click.pass_obj
def history(scope: Scope, session: str, name: str, limit: int, as_json: bool) -> None:
    """Past calls: what went in, what came out, how long it took."""

    async def read(store: "Store", owner: Principal) -> list[HistoryEntry]:
        session_id = (await store.find_session(session, owner)).id if session else ""
        return await store.tool_history(owner, session_id=session_id, name=name, limit=limit)

    rows = [
        {
            "session": e.session_id,
            "when": ago(e.started) if e.started else "",
            "started": e.started,
            "tool": e.name,
            "outcome": e.outcome,
            "seconds": round(e.seconds, 3),
            "repeats": e.repeats,
            "arguments": dict(e.arguments),
            "output": e.output if as_json else e.output[:200],
        }
        for e in with_store(scope, read)
    ]
    columns = ("when", "session", "tool", "outcome", "seconds", "arguments", "output")
    emit(rows, columns, as_json=as_json, empty="No tool was called yet.")
