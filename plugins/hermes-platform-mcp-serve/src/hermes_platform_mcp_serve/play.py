"""Who makes the calls of clients: no model, but a play of two steps, so that a call is a turn like any other.

It calls the one tool that it is told of, and ends. Rules judge the call, and it is written down before it is made.
"""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from hermes_core.errors import Refused
from hermes_core.kinds import Provider
from hermes_core.types import CallDelta, Delta, Done, Endpoint, Message, Model, Request, Text, TextDelta, ToolResult

__all__ = ["MODEL", "Play", "order_of"]

MODEL = "mcp-serve:call"
_ORDER = "An MCP client calls this tool:\n"


def order_of(name: str, given: Mapping[str, Any]) -> str:
    """Return what is said to it to call a tool."""
    return _ORDER + json.dumps({"tool": name, "arguments": dict(given)}, ensure_ascii=False)


class Play(Provider):
    """Makes the call that it is told, once. No person chooses it by itself."""

    name = "mcp-serve"
    priority = 99
    default_model = "call"

    async def models(self) -> Sequence[Model]:
        """Return the one there is."""
        return [Model(name="call", context=1_000_000)]

    def window(self, model: str) -> int:
        """Return more than any call has."""
        return 1_000_000

    def at(self, endpoint: Endpoint) -> Provider:
        """Return the same: it has no address."""
        return self

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Call the tool, then end. Raises Refused where no call was ordered."""
        results = [part for message in request.messages for part in message.parts if isinstance(part, ToolResult)]
        if results:
            yield TextDelta(text="It was called.")
            yield Done(reason="stop")
            return
        wanted = _wanted(request.messages)
        yield CallDelta(index=0, id="call", name=wanted["tool"], arguments=json.dumps(wanted["arguments"]))
        yield Done(reason="tools")


def _wanted(messages: Sequence[Message]) -> Any:
    for message in messages:
        for part in message.parts:
            if isinstance(part, Text) and message.role == "user" and _ORDER in part.text:
                try:
                    return json.JSONDecoder().raw_decode(part.text.partition(_ORDER)[2])[0]
                except ValueError:
                    break
    raise Refused("The provider mcp-serve makes calls of MCP clients, and answers nothing else.")
