"""One streamed call of the Messages API."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from typing import TYPE_CHECKING

from hermes_core.errors import ProviderError
from hermes_core.types import Delta, Request
from hermes_provider_anthropic.body import encode, messages_body, seals_in
from hermes_provider_anthropic.decode import MessageDecoder
from hermes_provider_anthropic.line import Line
from hermes_provider_kit.failures import Service
from hermes_provider_kit.replies import Patience, drain, first_bytes, names_files, read_capped, told
from hermes_provider_kit.sse import BrokenEvent, EventReader, objects

if TYPE_CHECKING:
    import httpx2

__all__ = ["made_body", "stream_messages"]

END_SECONDS = 5.0  # how long to wait for the last event after the reply itself is whole
WHOLE_CAP = 64 * 1024 * 1024
BYTES_PER_TOKEN = 4  # roughly; only where the service does not count
HEAD = 2000  # characters kept to say what came instead of a reply


async def stream_messages(line: Line, request: Request, model: str) -> AsyncGenerator[Delta, None]:
    """Answer piece by piece. Raises ProviderError."""
    with told(line.service, line.stale_seconds):
        response, guess = await _ask(line, request, model)
        try:
            pieces = response.aiter_bytes() if "content-encoding" in response.headers else response.aiter_raw()
            patience = Patience(line.service, line.stale_seconds)
            first = await first_bytes(pieces, patience)
            decoder = MessageDecoder(line.about(model), line.key, guess=guess, tools=request.tools)
            if first.lstrip()[:1] in (b"{", b"[", b"<", b""):
                for delta in await _whole(decoder, line.about(model), first, pieces):
                    yield delta
                return
            reader = EventReader()
            piece = first
            while piece and not decoder.done and decoder.failed is None:
                events = objects(reader.feed(piece))
                patience.hear(something=any(event.get("type") != "ping" for event in events), size=len(piece))
                for delta in decoder.feed(events):
                    yield delta
                if not decoder.done:
                    piece = await _next(pieces, decoder)
            for delta in await _finish(line, pieces, reader, decoder, first):
                yield delta
        finally:
            await response.aclose()


async def _ask(line: Line, request: Request, model: str) -> tuple["httpx2.Response", int]:
    """The response that streams the answer, and a guess of the request's tokens.

    A service may no longer accept thoughts of earlier replies, as after a compaction or under another account; then
    it is asked once more without those.
    """
    for attempt in (1, 2):
        body = await _body(line, request, model)
        client = line.client()
        headers = {**line.request_headers(), "accept": "text/event-stream"}
        url = f"{line.service.url}/v1/messages"
        data = encode(body)
        made = client.build_request("POST", url, content=data, headers=headers)
        response = await client.send(made, stream=True)
        if response.is_success:
            return response, len(data) // BYTES_PER_TOKEN
        try:
            said = await read_capped(response.aiter_bytes())
        finally:
            await response.aclose()
        seals = seals_in(body)
        if attempt == 2 or response.status_code != 400 or not seals or not _about_thoughts(said):
            break
        line.state.refuse(seals)
    raise await _failure(line, model, response.status_code, dict(response.headers), said)


def _about_thoughts(said: str) -> bool:
    return "signature" in said or ("thinking" in said and "block" in said)


async def made_body(line: Line, request: Request, model: str) -> bytes:
    """The bytes of a call, without making it."""
    return encode(await _body(line, request, model))


async def _body(line: Line, request: Request, model: str) -> dict[str, object]:
    if names_files(request):
        return await asyncio.to_thread(messages_body, line, request, model)
    return messages_body(line, request, model)


async def _failure(line: Line, model: str, status: int, headers: dict[str, str], body: str) -> ProviderError:
    """The error for an unsuccessful reply; for what may be an unknown model the service is asked what it has."""
    from hermes_provider_kit.failures import failure

    known: tuple[str, ...] = ()
    if status == 404 or (status == 400 and "model" in body):
        from hermes_provider_anthropic.offered import known_models

        known = await known_models(line)
    return failure(status, body, headers, service=line.about(model), models=known)


async def _next(pieces: AsyncIterator[bytes], decoder: MessageDecoder) -> bytes:
    """The next bytes. Once the reply is whole they matter little: neither silence nor a lost connection loses it."""
    import httpx2

    if not decoder.ending:
        return await anext(pieces, b"")
    try:
        async with asyncio.timeout(END_SECONDS):
            return await anext(pieces, b"")
    except (TimeoutError, httpx2.HTTPError, httpx2.StreamError):
        return b""


async def _whole(decoder: MessageDecoder, service: Service, first: bytes, pieces: AsyncIterator[bytes]) -> list[Delta]:
    """The deltas of a reply that came as one JSON object."""
    from hermes_provider_kit.failures import broken_off, unreadable

    text = first.decode("utf-8", "replace") if not first.strip() else await _all(first, pieces)
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise unreadable(text, service=service) from None
    if not isinstance(found, dict) or not isinstance(found.get("content"), list):
        raise broken_off(found, service=service)
    return decoder.whole(found) + decoder.end()


async def _all(first: bytes, pieces: AsyncIterator[bytes]) -> str:
    async def everything() -> AsyncIterator[bytes]:
        yield first
        async for piece in pieces:
            yield piece

    return await read_capped(everything(), WHOLE_CAP)


async def _finish(
    line: Line, pieces: AsyncIterator[bytes], reader: EventReader, decoder: MessageDecoder, head: bytes
) -> list[Delta]:
    if decoder.done:
        await drain(pieces)
        return decoder.end()
    try:
        deltas = decoder.feed(objects(reader.end()))
    except BrokenEvent:  # the last event was cut, which is said below unless the reply is whole without it
        deltas = []
    if not decoder.begun and decoder.failed is None:
        from hermes_provider_kit.failures import unreadable

        raise unreadable(head[:HEAD].decode("utf-8", "replace"), service=line.service)
    return deltas + decoder.end()
