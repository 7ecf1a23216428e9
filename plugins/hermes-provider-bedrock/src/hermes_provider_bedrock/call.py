"""One streamed call."""

import asyncio
import json
from collections.abc import AsyncGenerator

from hermes_core.errors import Unavailable
from hermes_core.types import Delta, Request
from hermes_provider_bedrock.body import converse_body
from hermes_provider_bedrock.decode import ConverseDecoder
from hermes_provider_bedrock.exchange import asked
from hermes_provider_bedrock.frames import FrameReader
from hermes_provider_bedrock.line import Line
from hermes_provider_kit.replies import Patience, names_files

__all__ = ["made_body", "stream_converse"]

BYTES_PER_TOKEN = 4  # roughly; only where the service does not count
HEAD = 2000  # bytes kept to say what came instead of a reply


async def stream_converse(line: Line, request: Request, model: str) -> AsyncGenerator[Delta, None]:
    """Answer piece by piece. Raises ProviderError, and UserError for a profile that cannot be read."""
    data = await made_body(line, request, model)
    service, patience = line.about(model), Patience(line.service, line.stale_seconds)
    decoder = ConverseDecoder(service, line.key, guess=len(data) // BYTES_PER_TOKEN, tools=request.tools)
    async with asked(line, "POST", line.url_of(model), data, model=model) as pieces:
        reader, head = FrameReader(), b""
        async for piece in pieces:
            if not decoder.begun:
                head = (head + piece)[:HEAD]
                _refuse_page(head, line)
            events = reader.feed(piece)
            patience.hear(something=bool(events), size=len(piece))
            for delta in decoder.feed(events):
                yield delta
            if decoder.failed is not None:
                break
        if not decoder.begun and decoder.failed is None:
            from hermes_provider_kit.failures import unreadable

            raise unreadable(head.decode("utf-8", "replace"), service=line.service)
        for delta in decoder.end():
            yield delta


async def made_body(line: Line, request: Request, model: str) -> bytes:
    """Give the bytes of a call's body, without making it; files are read in a thread."""
    if names_files(request):
        return await asyncio.to_thread(_encoded, line, request, model)
    return _encoded(line, request, model)


def _encoded(line: Line, request: Request, model: str) -> bytes:
    body = converse_body(line, request, model)
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _refuse_page(head: bytes, line: Line) -> None:
    """Refuse what is no frame but a text, as a web page. Raises Unavailable."""
    if head.lstrip()[:1] == b"<":  # a frame begins with its length, which has 24 bits at most
        from hermes_provider_kit.failures import unreadable

        raise unreadable(head.decode("utf-8", "replace"), service=line.service)
    if head.lstrip()[:1] == b"{":
        text = f"{line.service.title} answered in another protocol than ConverseStream."
        raise Unavailable(text, transient=False, hint=line.service.place_hint, reason="wrong_address")
