"""A request as the body of a ``/api/chat`` call. Source: https://docs.ollama.com/api/chat."""

from base64 import b64encode
from collections.abc import Iterator, Sequence

from hermes_core.types import JSON, Blob, Message, Part, Request, Text, ToolCall, ToolResult, ToolSpec
from hermes_provider_kit.blobs import blob_bytes, blob_words
from hermes_provider_kit.shape import wanted
from hermes_provider_ollama.line import Line
from hermes_provider_ollama.shown import Shown

__all__ = ["chat_body"]

LEVELS = {"minimal": "low", "low": "low", "medium": "medium", "high": "high", "xhigh": "high", "max": "high"}


def chat_body(line: Line, request: Request, model: str, shown: Shown) -> dict[str, JSON]:
    """Make the body of a call; the user's ``extra_body`` is laid over it, and a null in it takes a field away.

    ``num_ctx`` is always sent: without it Ollama makes room for few tokens, and cuts what is longer without a word.
    """
    options: dict[str, JSON] = {"num_ctx": shown.room(line.context)}
    if isinstance(limit := request.options.get("max_tokens"), int) and limit > 0:
        options["num_predict"] = limit
    if isinstance(warmth := request.options.get("temperature"), int | float):
        options["temperature"] = warmth
    body: dict[str, JSON] = {
        "model": model,
        "messages": [row for message in request.messages for row in _rows(message, pictures=_sees(shown))],
        "stream": True,
        "options": options,
    }
    if request.tools:
        body["tools"] = [_declared(spec) for spec in request.tools]
    elif schema := wanted(request):  # a grammar would let it say nothing else, so no call either
        body["format"] = schema
    effort = str(request.options.get("effort") or "")
    if "thinking" in shown.can and effort:
        body["think"] = _think(model, effort)
    return line.laid_over(body)


def _declared(spec: ToolSpec) -> JSON:
    function = {"name": spec.name, "description": spec.description, "parameters": dict(spec.schema)}
    return {"type": "function", "function": function}


def _sees(shown: Shown) -> bool:
    return "vision" in shown.can or not shown.can


def _think(model: str, effort: str) -> JSON:
    """Say how hard to think: gpt-oss takes a level and never stops, all others a yes or no."""
    if model.rsplit("/", 1)[-1].startswith("gpt-oss"):
        return LEVELS.get(effort, "low")
    return effort != "none"


def _rows(message: Message, *, pictures: bool) -> Iterator[JSON]:
    results = [part for part in message.parts if isinstance(part, ToolResult)]
    for result in results:
        said, images = _content(result.parts, pictures=pictures)
        told = f"Error: {said}" if result.failed else said or "(no output)"
        yield {"role": "tool", "tool_name": result.name, "content": told, **images}
    rest = [part for part in message.parts if not isinstance(part, ToolResult)]
    if results and not rest:
        return
    said, images = _content(rest, pictures=pictures)
    calls = [part for part in rest if isinstance(part, ToolCall)]
    called = [{"function": {"name": call.name, "arguments": dict(call.arguments)}} for call in calls]
    yield {"role": message.role, "content": said, **images, **({"tool_calls": called} if called else {})}


def _content(parts: Sequence[Part], *, pictures: bool) -> tuple[str, dict[str, JSON]]:
    """Give the text and the pictures of some parts; what cannot be carried is named."""
    said: list[str] = []
    images: list[str] = []
    for part in parts:
        if isinstance(part, Text):
            said.append(part.text)
        elif isinstance(part, Blob):
            carried = pictures and part.media_type.startswith("image/")
            if data := blob_bytes(part) if carried else b"":
                images.append(b64encode(data).decode())
            else:
                said.append(blob_words(part, unreadable=carried))
    return "\n".join(said), {"images": images} if images else {}
