"""A provider that is told placeholders for people, and whose answers get the people back.

A placeholder is the kind and the number of a person in the order of the request. A conversation only grows, so the same
history gives the same bytes in every process, and nothing has to be kept.
"""

import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from attrs import evolve

from hermes_core.kinds import ModelRoute, Provider
from hermes_core.patterns import pattern
from hermes_core.types import (
    CallDelta,
    Delta,
    Done,
    Message,
    Model,
    Reasoning,
    Request,
    Text,
    TextDelta,
    ToolCall,
    ToolResult,
    UsageDelta,
)
from hermes_provider_router.people import KINDS, people

__all__ = ["Veiled", "is_here"]

_MARK = pattern(rf"(?:⟦|\\u27e6)({'|'.join(KINDS)}) (\d+)(?:⟧|\\u27e7)", re.IGNORECASE)
_ESCAPE = r"\\(?:u(?:2(?:7e?)?)?)?$"  # of one of the brackets, cut off
_BEGUN = pattern(rf"(?:⟦|\\u27e6)[a-z-]{{0,9}}(?: \d{{0,6}})?(?:$|{_ESCAPE})|{_ESCAPE}", re.IGNORECASE)
_ON_THIS_MACHINE = range(50, 99)  # the priorities of providers that are no service elsewhere


def is_here(route: ModelRoute) -> bool:
    """Whether what a route is sent stays on this machine."""
    if route.endpoint is None or not route.endpoint.base_url:
        return route.provider.priority in _ON_THIS_MACHINE
    host = urlsplit(route.endpoint.base_url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


class Veiled(Provider):
    """Answers as the provider it is made of."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider
        self.name, self.priority, self.default_model = provider.name, provider.priority, provider.default_model
        self.window, self.price, self.close = provider.window, provider.price, provider.close  # type: ignore[method-assign]

    async def models(self) -> "list[Model]":
        """Those of the provider."""
        return list(await self._provider.models())

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Send placeholders, and put people into what comes. Raises as the provider does."""
        veil = _Veil()
        deltas: Any = self._provider.stream(evolve(request, messages=[veil.message(one) for one in request.messages]))
        try:
            async for delta in veil.lifted(deltas):
                yield delta
        finally:
            if isinstance(deltas, AsyncGenerator):
                await deltas.aclose()


class _Veil:
    """The people of one request."""

    def __init__(self) -> None:
        self._marks: dict[tuple[str, str], str] = {}
        self._values: dict[tuple[str, int], str] = {}

    def text(self, text: str) -> str:
        """The text with placeholders."""
        parts, at = [], 0
        for begin, end, kind in people(text):
            parts += [text[at:begin], self._mark(kind, text[begin:end])]
            at = end
        return "".join([*parts, text[at:]])

    def message(self, message: Message) -> Message:
        """A message with placeholders in all it says, calls and got."""
        return evolve(message, parts=[self._part(part) for part in message.parts])

    def _part(self, part: Any) -> Any:
        if isinstance(part, Text | Reasoning):
            return evolve(part, text=self.text(part.text))
        if isinstance(part, ToolResult):
            return evolve(part, parts=[self._part(one) for one in part.parts])
        return evolve(part, arguments=self._data(part.arguments)) if isinstance(part, ToolCall) else part

    def _data(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {key: self._data(item) for key, item in value.items()}
        return [self._data(item) for item in value] if isinstance(value, list | tuple) else value

    def _mark(self, kind: str, value: str) -> str:
        if (kind, value) not in self._marks:
            number = 1 + sum(1 for known, _ in self._marks if known == kind)
            self._marks[kind, value] = f"⟦{kind} {number}⟧"
            self._values[kind, number] = value
        return self._marks[kind, value]

    def _back(self, text: str, *, data: bool = False) -> str:
        def value(mark: re.Match[str]) -> str:
            known = self._values.get((mark[1].lower(), int(mark[2])))
            return mark[0] if known is None else json.dumps(known, ensure_ascii=False)[1:-1] if data else known

        return _MARK.sub(value, text)

    async def lifted(self, deltas: AsyncIterator[Delta]) -> AsyncIterator[Delta]:
        """The pieces with people again; the beginning of a placeholder waits for the rest of it."""
        held: dict[tuple[type, int], Any] = {}
        async for delta in deltas:
            if isinstance(delta, UsageDelta):
                yield delta
                continue
            place = (type(delta), delta.index if isinstance(delta, CallDelta) else 0)
            done = isinstance(delta, Done)
            for other in [key for key in held if done or (key != place and key[0] is not CallDelta)]:
                yield held.pop(other)
            if isinstance(delta, Done):
                yield delta
                continue
            field = "arguments" if isinstance(delta, CallDelta) else "text"
            before = getattr(held.pop(place, None), field, "")
            whole = self._back(before + getattr(delta, field), data=field == "arguments")
            begun = _BEGUN.search(whole)
            ready = whole[: begun.start()] if begun else whole
            if begun:
                rest: Any = CallDelta(index=delta.index) if isinstance(delta, CallDelta) else type(delta)(text="")
                held[place] = evolve(rest, **{field: whole[begun.start() :]})
            if ready or not isinstance(delta, TextDelta):
                piece: Any = delta
                yield evolve(piece, **{field: ready})
