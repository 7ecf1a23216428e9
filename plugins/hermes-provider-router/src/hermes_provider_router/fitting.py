"""What is done about a request that did not fit: the window to build it again for, and words for the person."""

import json
from collections.abc import Iterable

from hermes_core.errors import ContextTooLong
from hermes_core.types import Blob, Part, Reasoning, Request, Text, ToolCall, ToolResult

__all__ = ["TIERS", "estimate", "only_text", "smaller", "told"]

TIERS = (256_000, 128_000, 64_000, 32_000, 16_000, 8_000)
_BYTES_PER_TOKEN = 4
_PICTURE = 1_500 * _BYTES_PER_TOKEN


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


def only_text(request: Request) -> bool:
    """Whether its tokens alone can have been too many: pictures are refused for their bytes."""
    return not any(
        isinstance(piece, Blob)
        for message in request.messages
        for part in message.parts
        for piece in (part.parts if isinstance(part, ToolResult) else (part,))
    )


def smaller(error: ContextTooLong, request: Request) -> int:
    """The window to build a refused request for: what the service named, else the next tier below what was sent.

    0 when there is none: nothing smaller is worth a try.
    """
    most = request.context or 10**9
    if 0 < error.window < most:
        return error.window
    below = min(estimate(request), most)
    return next((tier for tier in TIERS if tier < below), 0)


def told(error: ContextTooLong, request: Request) -> ContextTooLong:
    """The error with the window to build the request for, and in words for the person if nothing makes it smaller."""
    room = f" It takes {error.window:,}." if error.window else ""
    text = f"This conversation has about {estimate(request):,} tokens, too many for {request.model}.{room}"
    hint = "Nothing made it short enough. Try /compress, start a new session, or choose a model with a larger window."
    return ContextTooLong(f"{text} {error.text}", window=smaller(error, request), hint=hint, reason=error.reason)
