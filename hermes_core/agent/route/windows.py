"""How many tokens fit into a model: what is known without asking, what was learned, and what to try next."""

import contextlib
import json
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import TypeVar

from hermes_core.config.files import write_atomic
from hermes_core.errors import ContextTooLong
from hermes_core.types import Blob, Part, Reasoning, Request, Text, ToolCall, ToolResult

TIERS = (256_000, 128_000, 64_000, 32_000, 16_000, 8_000)
_BYTES_PER_TOKEN = 4
_SHRINKS = 3  # times a request that did not fit is built again
T = TypeVar("T")
_PICTURE = 1_500 * _BYTES_PER_TOKEN


class Windows:
    """What services said of their models' windows, kept between runs. Losing the file costs nothing but asking."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._known: dict[str, int] | None = None

    def get(self, label: str) -> int:
        """The window of a route by its label; 0 when nobody said it."""
        return self._read().get(label, 0)

    def learn(self, found: dict[str, int]) -> None:
        """Keep the windows of routes. What cannot be written is known until the end of the program."""
        fresh = {label: tokens for label, tokens in found.items() if tokens > 0 and self.get(label) != tokens}
        if fresh:
            self._known = {**self._read(), **fresh}
            with contextlib.suppress(OSError):
                self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                write_atomic(self._file, json.dumps(self._known).encode(), sync=False)

    def _read(self) -> dict[str, int]:
        if self._known is None:
            self._known = {}
            with contextlib.suppress(OSError, ValueError):
                kept = json.loads(self._file.read_bytes())
                if isinstance(kept, dict):
                    self._known = {k: v for k, v in kept.items() if type(v) is int}
        return self._known


def estimate(request: Request) -> int:
    """About how many tokens a request has: a quarter of its bytes."""
    tools = sum(len(t.name) + len(t.description) + len(json.dumps(dict(t.schema))) for t in request.tools)
    return (tools + sum(_bytes(message.parts) for message in request.messages)) // _BYTES_PER_TOKEN


def _bytes(parts: Iterable[Part]) -> int:
    total = 0
    for part in parts:
        if isinstance(part, Text | Reasoning):
            total += len(part.text.encode("utf-8", "replace"))
        elif isinstance(part, ToolCall):
            total += len(part.name) + len(json.dumps(dict(part.arguments), ensure_ascii=False, default=str).encode())
        elif isinstance(part, ToolResult):
            total += _bytes(part.parts)
        elif isinstance(part, Blob):
            total += _PICTURE
    return total


def smaller(error: ContextTooLong, request: Request) -> int:
    """The window to build a refused request for: what the service named, else the next tier below what was sent.

    0 when there is none: nothing smaller is worth a try.
    """
    most = request.context or 10**9
    if 0 < error.window < most:
        return error.window
    below = min(estimate(request), most)
    return next((tier for tier in TIERS if tier < below), 0)


async def fitted(build: Callable[[int], Awaitable[Request]], send: Callable[[Request], Awaitable[T]]) -> T:
    """Send a request; what does not fit is built again for a smaller window, a few times.

    ``build`` takes the window in tokens, 0 for the usual one. Raises ContextTooLong, in words for the person, when
    nothing made it smaller.
    """
    request = await build(0)
    for _ in range(_SHRINKS):
        try:
            return await send(request)
        except ContextTooLong as error:
            window = smaller(error, request)
            again = await build(window) if window else request
            if estimate(again) >= estimate(request):
                raise _stuck(error, request) from error
            request = again
    try:
        return await send(request)
    except ContextTooLong as error:
        raise _stuck(error, request) from error


def _stuck(error: ContextTooLong, request: Request) -> ContextTooLong:
    room = f" It takes {error.window:,}." if error.window else ""
    text = f"This conversation has about {estimate(request):,} tokens, too many for {request.model}.{room}"
    hint = "Nothing made it short enough. Start a new session, or choose a model with a larger window."
    return ContextTooLong(f"{text} {error.text}", window=error.window, hint=hint, reason=error.reason)
