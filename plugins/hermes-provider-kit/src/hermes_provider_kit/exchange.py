"""One streamed call: its bytes, or the error that says why there are none."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from hermes_core.types import JSON
from hermes_provider_kit.replies import Patience, first_bytes, read_capped, told
from hermes_provider_kit.sse import BrokenEvent

if TYPE_CHECKING:
    from hermes_provider_kit.line import ServiceLine

__all__ = ["json_lines", "posted"]

LIMIT = 64 * 1024 * 1024  # bytes of one line; more is not a model's reply


@asynccontextmanager
async def posted(
    line: "ServiceLine", url: str, body: JSON, *, model: str, headers: Mapping[str, str] = {}
) -> AsyncGenerator[AsyncIterator[bytes], None]:
    """Send a JSON body and give the bytes of the answer as they come; the connection is let go of at the end.

    Args:
        line: The service.
        url: Where to send it.
        body: What to send.
        model: The model asked for, for what is said when it fails.
        headers: Headers of the call.

    Raises:
        ProviderError: The service could not be reached, refused, broke off or sent what is no JSON, also while the
            bytes are read inside.
    """
    from hermes_provider_kit.failures import failure

    service = line.about(model)
    with told(service, line.stale_seconds):
        client = line.client()
        made = client.build_request("POST", url, content=json.dumps(body, ensure_ascii=False).encode(), headers=headers)
        response = await client.send(made, stream=True)
        try:
            if not response.is_success:
                said = await read_capped(response.aiter_bytes())
                raise failure(response.status_code, said, dict(response.headers), service=service)
            yield response.aiter_bytes()
        finally:
            await response.aclose()


async def json_lines(line: "ServiceLine", pieces: AsyncIterator[bytes]) -> AsyncGenerator[JSON, None]:
    """Read one JSON value from each line, as it comes; the last needs no newline.

    Raises:
        BrokenEvent: A line is no JSON, or has no end.
        Unavailable: Nothing was said for longer than was agreed.
    """
    patience = Patience(line.service, line.stale_seconds)
    piece = tail = await first_bytes(pieces, patience)
    while True:
        *whole, tail = tail.split(b"\n")
        for one in whole:
            if one.strip():
                yield _value(one)
        if len(tail) > LIMIT:
            raise BrokenEvent(tail[:200].decode(errors="replace"))
        patience.hear(something=any(map(bytes.strip, whole)), size=len(piece))
        piece = await anext(pieces, b"")
        if not piece:
            break
        tail += piece
    if tail.strip():
        yield _value(tail)


def _value(text: bytes) -> JSON:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise BrokenEvent(text.decode("utf-8", "replace")) from None
