"""Calls that another tool answers: one that is named through ``tool_call``, or one that a plugin has redirected.

What is called so is, for everything in the house, a call of the tool itself: checked, judged, run and written
down under its real name. Only the model sees its own words again, so that what it was sent stays the same.
"""

import json
from collections.abc import Sequence
from typing import Any

from attrs import evolve

from hermes_core.agent.reply import read_arguments
from hermes_core.errors import ToolError
from hermes_core.kinds import Tool, tool
from hermes_core.options import option, settings
from hermes_core.types import Message, Part, ToolCall, ToolResult

__all__ = ["CALL", "call_tool", "inner", "through", "unwrapped", "wrapped"]

CALL = "tool_call"


@settings
class Call:
    """What to call."""

    name: str = option("")
    arguments: dict[str, Any] = option("", factory=dict)


def call_tool() -> Tool:
    """Make what answers a ``tool_call`` that names no tool; any other is a call of the tool it names."""

    @tool(name=CALL, toolset="tools", touches=lambda _: ())
    async def called(wanted: Call) -> str:
        """Call a tool that appeared in this conversation, by its name."""
        raise ToolError("tool_call needs the name of a tool and an object of arguments.")

    return called


def unwrapped(message: Message) -> Message:
    """Return a reply in which what goes through ``tool_call`` is a call of the tool itself."""
    parts = [inner(part) if isinstance(part, ToolCall) else part for part in message.parts]
    return message if parts == [*message.parts] else evolve(message, parts=tuple(parts))


def inner(call: ToolCall) -> ToolCall:
    """Return a call through ``tool_call`` as a call of the tool that it names; any other as it is."""
    name, given = call.arguments.get("name"), call.arguments.get("arguments", {})
    if call.name != CALL or call.invalid or not isinstance(name, str) or name in ("", CALL):
        return call
    arguments, invalid = read_arguments(given if isinstance(given, str) else json.dumps(given))
    return through(call, evolve(call, name=name, arguments=arguments, invalid=invalid))


def through(call: ToolCall, to: ToolCall) -> ToolCall:
    """Return a call that another tool answers, with the words the model knows it by; itself where it is the same."""
    ours = {"through": {"name": call.name, "arguments": call.arguments}, **dict(call.meta.get("hermes") or {})}
    return call if to is call else evolve(to, id=call.id, meta={**call.meta, "hermes": ours})


def wrapped(messages: Sequence[Message]) -> list[Message]:
    """Return the messages as the model wrote them, and results under the name it called."""
    shown, names = list(messages), dict[str, str]()
    for at, message in enumerate(messages):
        for part in message.parts:
            if isinstance(part, ToolCall) and (outer := (part.meta.get("hermes") or {}).get("through")):
                names[part.id] = outer["name"]
                meta = {k: v for k, v in part.meta.items() if k != "hermes"}
                known: Part = evolve(part, **outer, invalid="", meta=meta)
            elif names and isinstance(part, ToolResult) and part.call_id in names:
                known = evolve(part, name=names[part.call_id])
            else:
                continue
            shown[at] = evolve(message, parts=tuple(known if p is part else p for p in shown[at].parts))
    return shown
