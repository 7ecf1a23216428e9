"""Asking a server for all that it has: its tools, page by page, its prompts, whether it has resources."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hermes_tool_mcp.config import ServerSettings
from hermes_tool_mcp.lists import Listed, ListedSkill, ListedTool, mark_of

if TYPE_CHECKING:
    from mcp import Client

__all__ = ["listed"]

_PAGES, _TOOLS, _PROMPTS = 50, 1_000, 200
_LEFT = 100  # tools of which is kept why they cannot be used
_WORDS = 1_000  # characters of a description


async def listed(client: "Client", server: ServerSettings, left: dict[str, str]) -> Listed:
    """Ask a server for all that it has. ``left`` gets meanwhile what of its tools cannot be used, and why."""
    left.clear()
    able, info = client.server_capabilities, client.server_info
    tools: list[ListedTool] = []
    cursor: str | None = None
    for _ in range(_PAGES if able.tools else 0):
        page = await client.list_tools(cursor=cursor)
        for one in page.tools:
            told = (one.description or one.title or one.name).strip()
            looks = bool(one.annotations and one.annotations.read_only_hint)
            tools.append(ListedTool(name=one.name, description=told[:_WORDS], schema=one.input_schema, looks=looks))
        cursor = page.next_cursor
        if cursor is None or len(tools) >= _TOOLS:
            break
    prompts = tuple(await _prompts(client)) if able.prompts else ()
    skills = await _skills_of(client, left)
    return Listed(
        mark=mark_of(server),
        title=f"{info.name} {info.version}" if info else "",
        protocol=client.protocol_version,
        tools=tuple(tools[:_TOOLS]),
        prompts=prompts,
        resources=able.resources is not None,
        skills=skills,
        left=tuple({"name": name, "why": why} for name, why in left.items())[:_LEFT],
        at=time.time(),
    )


async def _skills_of(client: "Client", left: dict[str, str]) -> tuple[ListedSkill, ...]:
    """Return its skills; none where it says that it has some and cannot list them: its tools are there all the same."""
    from hermes_tool_mcp.skills import listed_skills

    try:
        return tuple(await listed_skills(client))
    except Exception as error:  # noqa: BLE001 - an error of the server, or an answer that is none
        left["its skills"] = f"it cannot list them: {' '.join(str(error).split())[:200]}"
        return ()


async def _prompts(client: "Client") -> Sequence[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor: str | None = None
    for _ in range(_PAGES):
        page = await client.list_prompts(cursor=cursor)
        for one in page.prompts:
            arguments = [{"name": a.name, "required": bool(a.required)} for a in one.arguments or ()]
            found.append({"name": one.name, "summary": (one.description or "")[:200], "arguments": arguments})
        cursor = page.next_cursor
        if cursor is None or len(found) >= _PROMPTS:
            break
    return found[:_PROMPTS]
