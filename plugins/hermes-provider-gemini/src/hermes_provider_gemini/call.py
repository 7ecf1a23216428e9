"""One streamed call."""

import asyncio
import json
from collections.abc import AsyncGenerator

from hermes_core.types import Delta, Request
from hermes_provider_gemini.body import content_body
from hermes_provider_gemini.decode import ContentDecoder
from hermes_provider_gemini.line import Line
from hermes_provider_kit.exchange import posted
from hermes_provider_kit.replies import Patience, first_bytes, names_files
from hermes_provider_kit.sse import EventReader, objects

__all__ = ["made_body", "stream_content"]

BYTES_PER_TOKEN = 4  # roughly; only where the service does not count
HEAD = 2000  # characters kept to say what came instead of a reply


async def stream_content(line: Line, request: Request, model: str) -> AsyncGenerator[Delta, None]:
    """Answer piece by piece. Raises ProviderError."""
    body = await made_body(line, request, model)
    guess = len(str(body)) // BYTES_PER_TOKEN
    decoder = ContentDecoder(line.about(model), line.key, guess=guess, tools=request.tools)
    reader, patience = EventReader(), Patience(line.service, line.stale_seconds)
    url = f"{line.url_of(model, 'streamGenerateContent')}?alt=sse"
    async with posted(line, url, body, model=model, headers=line.request_headers()) as pieces:
        piece = head = await first_bytes(pieces, patience)
        while piece and decoder.failed is None:
            events = objects(reader.feed(piece))
            patience.hear(something=bool(events), size=len(piece))
            for delta in decoder.feed(events):
                yield delta
            piece = await anext(pieces, b"")
        for delta in decoder.feed(objects(reader.end())):
            yield delta
        if not decoder.begun and decoder.failed is None:
            from hermes_provider_kit.failures import unreadable

            raise unreadable(head[:HEAD].decode("utf-8", "replace"), service=line.service)
        for delta in decoder.end():
            yield delta


async def made_body(line: Line, request: Request, model: str) -> dict[str, object]:
    """Make the body of a call, without making it; files are read in a thread."""
    if names_files(request):
        return await asyncio.to_thread(content_body, line, request, model)
    return content_body(line, request, model)


def encoded(body: dict[str, object]) -> bytes:
    """Give the bytes of a body, as they are sent."""
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
