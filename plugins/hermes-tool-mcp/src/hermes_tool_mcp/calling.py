"""A call of a server's tool, from a conversation."""

from collections.abc import Mapping, Sequence
from typing import Any

from hermes_core.errors import ToolError
from hermes_core.kinds import ToolContext, ToolOutput
from hermes_tool_mcp.connection import Connection, Spoken
from hermes_tool_mcp.given import hidden, without_secrets
from hermes_tool_mcp.holding import RESOURCE, Held
from hermes_tool_mcp.lists import ListedSkill, ListedTool
from hermes_tool_mcp.results import contents, fenced, result_of
from hermes_tool_mcp.tools import SKILL

__all__ = ["answered"]

_LISTED = 200


async def answered(
    context: ToolContext, name: str, one: ListedTool, given: Mapping[str, Any], *, own: bool
) -> ToolOutput:
    """Call a tool and return what it gave. ``own`` are those that Hermes gives a server with resources. ToolError.

    Errors in a server's words are marked as words from outside, as its answers are.
    """
    held: Held = await context.resource(RESOURCE)
    connection = held.connection(name)
    try:
        return without_secrets(connection.server, await _answered(context, connection, one, given, own=own))
    except Spoken as error:
        source, said = f"the MCP server {name}", hidden(connection.server, error.text)
        raise ToolError(fenced(source, said), hint=error.hint, retry=error.retry) from error


async def _answered(
    context: ToolContext, connection: Connection, one: ListedTool, given: Mapping[str, Any], *, own: bool
) -> ToolOutput:
    if not own:
        answer = await connection.call(one.name, dict(given), context, again=one.looks)
        return await result_of(answer, context)
    if one.name == SKILL:
        return await _skill(connection, context, str(given["name"]), str(given.get("file") or ""))
    if one.name == "read_resource":
        uri = str(given["uri"])
        return await contents(await connection.use(lambda client: client.read_resource(uri)), context)
    return await _resources(connection)


async def _skill(connection: Connection, context: ToolContext, name: str, path: str) -> ToolOutput:
    from hermes_tool_mcp.skills import Changed, read_skill

    def skills() -> Sequence[ListedSkill]:
        return connection.listed.skills if connection.listed else ()

    try:
        found = await connection.use(lambda client: read_skill(client, skills(), name, path))
    except Changed:
        connection.learn_again()
        raise
    if isinstance(found, str):
        return found
    return f"[{len(found):,} bytes, kept in {await context.spill(path.rpartition('/')[2], found)}]"


async def _resources(connection: Connection) -> str:
    async def listed(client: Any) -> list[str]:
        lines: list[str] = []
        cursor: str | None = None
        while len(lines) < _LISTED:
            page = await client.list_resources(cursor=cursor)
            lines += [_line(one.uri, one) for one in page.resources]
            if (cursor := page.next_cursor) is None:
                break
        try:
            templates = (await client.list_resource_templates()).resource_templates
        except Exception:  # noqa: BLE001 - many servers have none, and say so by an error
            templates = []
        return [*lines[:_LISTED], *(_line(one.uri_template, one) for one in templates[:_LISTED])]

    lines = await connection.use(listed)
    if not lines:
        raise ToolError("There is nothing to read.", retry=False)
    return "\n".join(lines)


def _line(uri: Any, one: Any) -> str:
    words = [str(uri), one.title or one.name or "", one.mime_type or "", (one.description or "")[:200]]
    return "  ".join(word for word in words if word)
