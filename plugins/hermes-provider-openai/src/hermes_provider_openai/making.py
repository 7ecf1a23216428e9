"""Pictures seen and drawn, texts read aloud."""

import asyncio
import base64
import binascii
from collections.abc import AsyncIterator, Callable
from typing import Any

from hermes_core.errors import Refused
from hermes_core.types import (
    JSON,
    Blob,
    Delta,
    MediaRequest,
    MediaResponse,
    Message,
    Request,
    Text,
    TextDelta,
    Usage,
    UsageDelta,
)
from hermes_openai_wire.line import Line
from hermes_provider_openai.media import ask, bytes_of, fetch, model_for, usage_of

__all__ = ["draw", "see", "speak"]

_WORDS = "Say what this shows, in a few plain sentences. Write down all text that is in it, word for word."
_VOICE = "alloy"


async def see(request: MediaRequest, model: str, stream: Callable[[Request], AsyncIterator[Delta]]) -> MediaResponse:
    """Say what pictures show, in a conversation of one question. Raises as ``stream``, Refused for an empty answer."""
    words = [Text(text=text) for text in request.texts] or [Text(text=_WORDS)]
    message = Message(role="user", parts=(*words, *request.blobs))
    said, used = list[str](), Usage(calls=1)
    async for delta in stream(Request(model=model, messages=(message,))):
        if isinstance(delta, TextDelta):
            said.append(delta.text)
        elif isinstance(delta, UsageDelta):
            used = delta.usage
    text = "".join(said).strip()
    if not text:
        raise Refused(f"{model} said nothing of what it was shown.")
    return MediaResponse(model=model, texts=(text,), usage=used)


async def draw(line: Line, request: MediaRequest) -> MediaResponse:
    """Make a picture from words, or change those that are given. Raises ProviderError, UserError without a model."""
    model = model_for(line, request, "draw")
    asked: dict[str, Any] = {"model": model, "prompt": "\n\n".join(request.texts)}
    if size := request.options.get("size"):
        asked["size"] = str(size)
    if model.startswith("dall-e"):  # others know no other way, and refuse to be told
        asked["response_format"] = "b64_json"
    if request.blobs:
        files = [
            ("image[]", (blob.name or f"picture-{at}", await asyncio.to_thread(bytes_of, blob), blob.media_type))
            for at, blob in enumerate(request.blobs, 1)
        ]
        found = await ask(line, model, "images/edits", data=asked, files=files)
    else:
        found = await ask(line, model, "images/generations", json=asked)
    kind = f"image/{found.get('output_format') or 'png'}"
    rows = found.get("data")
    blobs = [_picture(line, row, kind) for row in (rows if isinstance(rows, list) else ())]
    if not blobs:
        raise _none(line, found)
    return MediaResponse(model=model, blobs=blobs, usage=usage_of([found]))


async def speak(line: Line, request: MediaRequest) -> MediaResponse:
    """Read each text aloud. Raises as ``draw``."""
    model, blobs = model_for(line, request, "speak"), []
    voice = str(request.options.get("voice") or _VOICE)
    for at, text in enumerate(request.texts, 1):
        asked = {"model": model, "input": text, "voice": voice, "response_format": "mp3"}
        sound, kind = await fetch(line, model, "audio/speech", json=asked)
        if not sound or kind in ("application/json", "text/html", "text/plain"):
            raise _none(line, sound)
        kind = kind if kind.startswith("audio/") else "audio/mpeg"
        blobs.append(Blob(media_type=kind, data=sound, name=f"speech-{at}.mp3"))
    return MediaResponse(model=model, blobs=blobs, usage=Usage(calls=len(blobs)))


def _picture(line: Line, row: JSON, kind: str) -> Blob:
    data = row.get("b64_json") if isinstance(row, dict) else None
    try:
        picture = base64.b64decode(data, validate=True) if isinstance(data, str) else b""
    except binascii.Error:
        picture = b""
    if not picture:
        raise _none(line, row)
    return Blob(media_type=kind, data=picture, name=f"picture.{kind.partition('/')[2]}")


def _none(line: Line, said: Any) -> Exception:
    from hermes_provider_kit.failures import unreadable

    return unreadable(
        said[:2000].decode("utf-8", "replace") if isinstance(said, bytes) else str(said)[:2000], service=line.service
    )
