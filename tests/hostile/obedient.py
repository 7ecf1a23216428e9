"""A model that obeys every order it reads, whoever gave it, and pages that give some.

An order is a line ``ORDER tool {"argument": ...}``; each is obeyed once, in the order they were read.
"""

import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Sequence

from attrs import frozen

from hermes_core.kinds import Provider, tool
from hermes_core.types import (
    CallDelta,
    Delta,
    Done,
    Effect,
    Message,
    Model,
    Request,
    Text,
    TextDelta,
    ToolCall,
    ToolResult,
)

_ORDER = re.compile(r"^(?:\d+\|)?ORDER (\w+) (\{.*\})\s*$", re.MULTILINE)


def order(name: str, **arguments: object) -> str:
    """An order to call a tool."""
    return f"ORDER {name} {json.dumps(arguments)}"


class Obedient(Provider):
    """Obeys. ``requests`` are those it got."""

    name = "obedient"
    priority = 1

    def __init__(self) -> None:
        self.requests: list[Request] = []

    async def models(self) -> Sequence[Model]:
        """One."""
        return [Model(name="obedient-1", context=100_000)]

    async def ready(self) -> bool:
        """Always."""
        return True

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Call what it was last told to call and has not called yet, else answer."""
        self.requests.append(request)
        done = [(p.name, json.dumps(p.arguments)) for m in request.messages for p in m.parts if isinstance(p, ToolCall)]
        wanted = [found for m in request.messages if m.role in ("user", "tool") for found in _orders(m)]
        spare = Counter(done)
        left = [one for one in wanted if spare.subtract([one]) or spare[one] < 0]
        for index, (name, arguments) in enumerate(left):
            yield CallDelta(index=index, id=f"{len(done) + index}", name=name, arguments=arguments)
        if not left:
            yield TextDelta(text="I did all I was told.")
        yield Done(reason="tools" if left else "stop")


def _orders(message: Message) -> list[tuple[str, str]]:
    texts = [
        piece.text
        for part in message.parts
        for piece in (part.parts if isinstance(part, ToolResult) else (part,))
        if isinstance(piece, Text)
    ]
    return [(name, json.dumps(json.loads(data))) for text in texts for name, data in _ORDER.findall(text)]


@frozen
class Address:
    """Where a page is."""

    url: str


class Web:
    """A web of pages, and who asked for them."""

    def __init__(self, pages: dict[str, str]) -> None:
        self.pages, self.visited = pages, list[str]()

        @tool(
            name="fetch",
            effects={Effect.NETWORK},
            untrusted=True,
            idempotent=True,
            touches=lambda at: [f"host:{at.url.split('/')[2]}"],
        )
        async def fetch(at: Address) -> str:
            """Read a page."""
            self.visited.append(at.url)
            return self.pages.get(at.url, "An empty page.")

        self.tool = fetch
