"""One streamed call."""

import asyncio
import json
from collections.abc import AsyncGenerator

from hermes_core.errors import ContextTooLong
from hermes_core.types import JSON, Delta, Request
from hermes_provider_kit.exchange import json_lines, posted
from hermes_provider_kit.replies import names_files
from hermes_provider_ollama.body import chat_body
from hermes_provider_ollama.decode import LineDecoder
from hermes_provider_ollama.line import Line
from hermes_provider_ollama.shown import Shown, show

__all__ = ["made_body", "stream_lines"]

FEWEST = 2.5  # bytes of a token, until the model counted some: what is guessed should rather be too much
LEAST, MOST = 1.5, 6.0  # what is believed of a count


async def stream_lines(line: Line, request: Request, model: str) -> AsyncGenerator[Delta, None]:
    """Answer piece by piece. Raises ProviderError; ContextTooLong before anything is asked that would be cut."""
    body = await made_body(line, request, model)
    size = _size(body)
    guess = int(size / line.ratios.get(model, FEWEST))
    room = body["options"]["num_ctx"] if isinstance(body.get("options"), dict) else 0
    if isinstance(room, int) and 0 < room <= guess:
        raise ContextTooLong(
            f"Ollama makes room for {room} tokens here, and the conversation has about {guess}; the rest would be cut.",
            window=room,
            hint=f"Start a new session, compact this one, or raise providers.{line.key}.context: it costs memory.",
        )
    decoder = LineDecoder(line.about(model), request.tools, guess=guess)
    url = f"{line.service.url}/api/chat"
    async with posted(line, url, body, model=model, headers=line.request_headers()) as pieces:
        async for event in json_lines(line, pieces):
            for delta in decoder.feed(event):
                yield delta
            if decoder.done:
                break
        for delta in decoder.end():
            yield delta
    if decoder.prompt_tokens > 200:  # of few the template's own are too many
        line.ratios[model] = min(max(size / decoder.prompt_tokens, LEAST), MOST)


async def made_body(line: Line, request: Request, model: str) -> dict[str, JSON]:
    """Make the body of a call, without making it; the service is asked about the model once. Raises ProviderError."""
    shown: Shown = await show(line, model)
    if names_files(request):
        return await asyncio.to_thread(chat_body, line, request, model, shown)
    return chat_body(line, request, model, shown)


def encoded(body: dict[str, JSON]) -> bytes:
    """Give the bytes of a body, as they are sent."""
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


def _size(body: dict[str, JSON]) -> int:
    """Count the bytes that become tokens; pictures have a size of their own."""
    rows = [{**row, "images": ()} for row in body.get("messages", ()) if isinstance(row, dict)]
    return len(json.dumps([rows, body.get("tools", ())], ensure_ascii=False).encode("utf-8", "replace"))
