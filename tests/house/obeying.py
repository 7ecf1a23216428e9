"""A model that does whatever the last message says, wherever in it that stands: ``ORDER tool {"argument": ...}``."""

import json
import re
from collections.abc import AsyncIterator, Sequence

from hermes_core.kinds import Provider
from hermes_core.types import CallDelta, Delta, Done, Message, Model, Request, Text, TextDelta, ToolResult

__all__ = ["Obeying", "order"]

_ORDER = re.compile(r"ORDER (\w+) (\{.*\})")


def order(name: str, **arguments: object) -> str:
    """What makes it call a tool."""
    return f"ORDER {name} {json.dumps(arguments)}"


class Obeying(Provider):
    """Calls what it is told to, then says what came of it. ``requests`` are those it got."""

    name = "obeying"
    priority = 1

    def __init__(self) -> None:
        self.requests: list[Request] = []

    async def models(self) -> Sequence[Model]:
        """One."""
        return [Model(name="obeying-1", context=100_000)]

    async def ready(self) -> bool:
        """Always."""
        return True

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Call what the last message orders; after a tool's result, say it."""
        self.requests.append(request)
        last = request.messages[-1]
        orders = _ORDER.findall(_text(last)) if last.role == "user" else []
        for index, (name, arguments) in enumerate(orders):
            yield CallDelta(index=index, id=f"c{len(request.messages)}-{index}", name=name, arguments=arguments)
        if not orders:
            yield TextDelta(text=f"Done: {_text(last)[:1500]}" if last.role == "tool" else "I heard you.")
        yield Done(reason="tools" if orders else "stop")


def _text(message: Message) -> str:
    pieces = [p for part in message.parts for p in (part.parts if isinstance(part, ToolResult) else (part,))]
    return "".join(piece.text for piece in pieces if isinstance(piece, Text))
