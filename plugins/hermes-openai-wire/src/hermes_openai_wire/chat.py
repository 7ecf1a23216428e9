"""One streamed chat-completions call."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator
from functools import lru_cache
from typing import TYPE_CHECKING

from hermes_core.errors import ProviderError, Unavailable
from hermes_core.types import JSON, Delta, Request
from hermes_openai_wire.body import chat_body, encode
from hermes_openai_wire.decode import ChatDecoder, says
from hermes_openai_wire.line import Line
from hermes_openai_wire.messages import Written
from hermes_provider_kit.replies import Patience, drain, first_bytes, names_files, read_capped, told
from hermes_provider_kit.sse import BrokenEvent, EventReader

if TYPE_CHECKING:
    import httpx2

__all__ = ["made_body", "reply_failure", "stream_chat"]

USAGE_SECONDS = 5.0  # how long to wait for usage after the reply itself is whole
HEAD = 2000  # characters kept to say what came instead of a reply


async def stream_chat(line: Line, request: Request, model: str) -> AsyncGenerator[Delta, None]:
    """Answer piece by piece. Raises ProviderError."""
    import httpx2

    with told(line.service, line.stale_seconds):
        response = await _ask(line, request, model)
        try:
            kind = response.headers.get("content-type", "")
            pieces = response.aiter_bytes() if "content-encoding" in response.headers else response.aiter_raw()
            patience = Patience(line.service, line.stale_seconds)
            first = await first_bytes(pieces, patience)
            start = first.lstrip()[:1]
            if start in (b"{", b"[", b"<") or (not first.strip() and "json" in kind):
                for delta in _whole(line, request, model, first + await _remainder(pieces)):
                    yield delta
                line.state.broken = 0
                return
            # Written out here and not in a generator of its own: this loop runs once for every piece of a reply.
            reader, decoder = EventReader(), ChatDecoder(line.about(model), line.key, request.tools)
            seen, piece = False, first
            while True:
                events = reader.feed(piece)
                seen = seen or bool(events)
                deltas = decoder.feed(events)
                patience.hear(something=bool(deltas) or any(map(says, events)), size=len(piece))
                for delta in deltas:
                    yield delta
                if decoder.failed is not None:
                    raise decoder.failed
                if decoder.finished or decoder.done:
                    break
                piece = await anext(pieces, b"")
                if not piece:
                    break
            for delta in await _finish(line, pieces, reader, decoder, seen=seen, head=first):
                yield delta
            line.state.broken = 0
        except (Unavailable, BrokenEvent, httpx2.HTTPError, httpx2.StreamError):
            line.state.broken += 1
            raise
        finally:
            await response.aclose()


async def _ask(line: Line, request: Request, model: str) -> "httpx2.Response":
    with_usage = not line.state.usage_refused
    response = await _post(line, request, model, with_usage=with_usage)
    if response.is_success:
        if line.heard:
            line.heard(response.headers)
        return response
    body = await read_capped(response.aiter_bytes())
    await response.aclose()
    refused = response.status_code in (400, 422)
    if refused and ((with_usage and _names_usage(body)) or (not line.whole() and _names_stream(body))):
        had_streams = not line.state.stream_refused
        line.state.usage_refused = line.state.usage_refused or _names_usage(body)
        line.state.stream_refused = line.state.stream_refused or not _names_usage(body)
        response = await _post(line, request, model, with_usage=False)
        if response.is_success:
            if line.heard:
                line.heard(response.headers)
            return response
        if had_streams:  # it was about something else
            line.state.stream_refused = False
        body = await read_capped(response.aiter_bytes())
        await response.aclose()
    raise await reply_failure(line, model, response.status_code, dict(response.headers), body)


async def made_body(line: Line, request: Request, model: str, *, with_usage: bool) -> bytes:
    """The bytes of a call, without making it."""

    def content(written: Written | None = None) -> bytes:
        extra, whole = line.extra_body, line.whole()
        made = chat_body(
            line.entry, line.key, request, model, extra, with_usage=with_usage, whole=whole, written=written
        )
        return encode(made)

    written = line.state.written
    files = names_files(request, written.known(request.messages))
    return await asyncio.to_thread(content) if files else content(written)


async def _post(line: Line, request: Request, model: str, *, with_usage: bool) -> "httpx2.Response":
    data = await made_body(line, request, model, with_usage=with_usage)
    headers = {**line.request_headers(), "accept": "text/event-stream"}
    place = _address(f"{line.service.url}/chat/completions")
    return await line.client().send(line.connection.request(place, data, headers), stream=True)


@lru_cache(maxsize=8)
def _address(url: str) -> "httpx2.URL":
    import httpx2

    return httpx2.URL(url)


def _names_usage(body: str) -> bool:
    return "stream_options" in body or "include_usage" in body


def _names_stream(body: str) -> bool:
    """Whether a refusal says that there are no streams: names the field, or the word, beside a no; not an upstream."""
    said = body.lower()
    no = any(word in said for word in ("not support", "unsupported", "must be false", "disabled"))
    return no and re.search(r"(?<![a-z])stream", said) is not None


async def reply_failure(line: Line, model: str, status: int, headers: dict[str, str], body: str) -> ProviderError:
    """The error for an unsuccessful reply; for what may be an unknown model the service is asked what it has."""
    from hermes_provider_kit.failures import failure

    known: tuple[str, ...] = ()
    if status in (404, 410) or (status in (400, 422) and "model" in body):
        from hermes_openai_wire.offered import known_models

        known = await known_models(line)
    return failure(status, body, headers, service=line.about(model), models=known)


async def _remainder(pieces: AsyncIterator[bytes]) -> bytes:
    body = bytearray()
    async for piece in pieces:
        body += piece
        if len(body) > 64 * 1024 * 1024:
            break
    return bytes(body)


def _whole(line: Line, request: Request, model: str, body: bytes) -> list[Delta]:
    """The deltas of a reply that came as one JSON object, or as JSON lines."""
    from hermes_provider_kit.failures import broken_off, message_of, unreadable

    service = line.about(model)
    text = body.decode("utf-8", "replace")
    decoder = ChatDecoder(service, line.key, request.tools)
    try:
        events: list[JSON] = [json.loads(text)]
    except (ValueError, RecursionError):
        if not text.lstrip().startswith("{"):
            raise unreadable(text, service=service) from None
        reader = EventReader()
        events = [*reader.feed(body), *reader.end()]
    if isinstance(events[0], list):
        events = events[0]
    if len(events) == 1 and isinstance(events[0], dict) and "choices" not in events[0] and message_of(text):
        raise broken_off(events[0], service=service)
    deltas = decoder.feed(events)
    decoder.done = decoder.done or len(events) == 1
    return deltas + decoder.end()


async def _finish(
    line: Line, pieces: AsyncIterator[bytes], reader: EventReader, decoder: ChatDecoder, *, seen: bool, head: bytes
) -> list[Delta]:
    deltas: list[Delta] = []
    if decoder.finished or decoder.done:
        deltas += await _usage_and_end(pieces, reader, decoder)
    else:
        events = reader.end()
        seen = seen or bool(events)
        deltas += decoder.feed(events)
    if not seen and not decoder.finished and not decoder.done:
        from hermes_provider_kit.failures import unreadable

        raise unreadable(head[:HEAD].decode("utf-8", "replace"), service=line.service)
    return deltas + decoder.end()


async def _usage_and_end(pieces: AsyncIterator[bytes], reader: EventReader, decoder: ChatDecoder) -> list[Delta]:
    import httpx2

    deltas: list[Delta] = []
    if not decoder.done:
        with_usage = asyncio.timeout(USAGE_SECONDS)
        try:
            async with with_usage:
                async for piece in pieces:
                    deltas += decoder.feed(reader.feed(piece))
                    if decoder.done:
                        break
                else:
                    deltas += decoder.feed(reader.end())
        except (TimeoutError, httpx2.HTTPError, httpx2.StreamError, BrokenEvent):
            return deltas  # the reply is whole; only its usage is missing
    await drain(pieces)
    return deltas
