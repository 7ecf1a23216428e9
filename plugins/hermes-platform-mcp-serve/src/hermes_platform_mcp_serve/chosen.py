"""The tools of Hermes that clients may call besides, and those that nobody outside gets.

What a call does is the same as in a conversation: it is a turn, in a hidden session, with that one tool. So the rules
judge it, and it is written down before it is made.
"""

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.kinds.console import AskPerson
from hermes_core.types import (
    Blob,
    Effect,
    Ended,
    Failed,
    Message,
    Returned,
    Text,
    ToolResult,
    ToolRow,
    TurnBounds,
    TurnOrder,
)  # fmt: skip
from hermes_core.values import frozen
from hermes_platform_mcp_serve.asked import attended
from hermes_platform_mcp_serve.config import Config
from hermes_platform_mcp_serve.desk import Desk, Served
from hermes_platform_mcp_serve.play import MODEL, order_of
from hermes_platform_mcp_serve.recovered import event_of

__all__ = ["Chosen", "answer_of", "chosen"]

NEVER = frozenset({Effect.EXECUTE, Effect.DELEGATE, Effect.CONFIGURE, Effect.SCHEDULE})
CLOSED = frozenset({"terminal", "files", "kanban", "tools", "clarify"})  # toolsets that no client gets
_LOOKING = frozenset({Effect.NETWORK, Effect.RECALL, Effect.READ_FILES})


@frozen
class Chosen:
    """What clients get, and lines about what they were to get and do not."""

    tools: Sequence[Served] = ()
    left: Sequence[str] = ()


async def chosen(ctx: PluginContext, words: Sequence[str]) -> Chosen:
    """Return the tools that words name: tools, and toolsets. Raises UserError for what is never given away."""
    wanted = [word.strip() for word in words if word.strip()]
    if not wanted:
        return Chosen()
    rows = await ctx.plugins.tools("mcp-serve")
    found: dict[str, ToolRow] = {}
    for word in dict.fromkeys(wanted):
        named = [row for row in rows if word in (row.name, row.toolset)]
        if word in CLOSED or (named and all(_closed(row) for row in named)):
            raise UserError(
                f"--tools {word}: what runs commands, is of files or hands work on is not given to clients."
            )
        if not named:
            there = sorted({row.toolset for row in rows if not _closed(row)})
            raise UserError(f"--tools {word}: there is no such tool or toolset.", hint=f"There is: {', '.join(there)}.")
        found |= {row.name: row for row in named if not _closed(row)}
    schemas = {one.name: one for one in (await ctx.models.opening(_empty()))[1].tools}
    left = [f"{name} is not served: {row.hidden or 'it is off'}." for name, row in found.items() if name not in schemas]
    return Chosen(
        [
            Served(
                name=name,
                description=schemas[name].description,
                schema=schemas[name].schema,
                run=partial(_called, name, row.toolset),
                looks=row.effects <= _LOOKING,
            )
            for name, row in found.items()
            if name in schemas
        ],
        left,
    )


def _closed(row: ToolRow) -> bool:
    return row.toolset in CLOSED or bool(row.effects & NEVER)


def _empty() -> Message:
    return Message(role="user", parts=(Text(text=""),))


async def _called(name: str, toolset: str, desk: Desk, given: Mapping[str, Any]) -> Any:
    """Make the call, as a turn. Whoever wrote its arguments is outside, so what crosses the wall asks a person."""
    config: Config = desk.ctx.config or Config()
    play = partial(_played, desk, f"{toolset}/{name}", order_of(name, given), config.ask)
    return await attended(desk, play, asks=not config.ask)


async def _played(desk: Desk, tool: str, text: str, target: str, ask: AskPerson | None, task: str) -> Any:
    bounds = TurnBounds(tools=(tool,), never=tuple(NEVER), levels=0)
    order = TurnOrder(model=MODEL, hidden=True, ask=target, bounds=bounds, event=event_of(task) if task else "")
    message = Message(role="user", parts=(Text(text=text),), untrusted=True)
    result, failure = None, ""
    async with aclosing(desk.ctx.turns.run(message, owner=desk.owner, order=order, ask=ask)) as turn:
        async for event in turn:
            if isinstance(event, Returned) and result is None:
                result = event.result
            elif isinstance(event, Failed):
                failure = " ".join(word for word in (event.text, event.hint) if word)
            elif isinstance(event, Ended) and event.reason == "interrupted":
                failure = "It was stopped."
    if result is None:
        raise UserError(failure or "The call was not made.")
    return answer_of(desk.ctx, result)


def answer_of(ctx: PluginContext, result: ToolResult) -> Any:
    """Return the result of a tool of ours as a client gets it."""
    import base64

    from mcp_types import CallToolResult, ImageContent, TextContent

    content: list[Any] = []
    for part in result.parts:
        if isinstance(part, Text):
            content.append(TextContent(type="text", text=ctx.masks.text(part.text)))
        elif isinstance(part, Blob) and part.data is not None and part.media_type.startswith("image/"):
            held = base64.b64encode(part.data).decode()
            content.append(ImageContent(type="image", data=held, mime_type=part.media_type))
        elif isinstance(part, Blob):
            content.append(TextContent(type="text", text=f"[{part.name or part.media_type}]"))
    return CallToolResult(content=content, is_error=result.failed)
