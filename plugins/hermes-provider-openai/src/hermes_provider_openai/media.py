"""Texts as vectors, and sounds as texts: calls that answer with one JSON document."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hermes_core.errors import Refused, UserError
from hermes_core.types import JSON, Blob, MediaRequest, MediaResponse, Usage
from hermes_openai_wire.line import Line
from hermes_openai_wire.usage import read_usage
from hermes_provider_kit.replies import FAILURE_CAP, read_bytes, told

__all__ = ["ask", "bytes_of", "embed", "fetch", "model_for", "transcribe", "usage_of"]

CAP = 256 * 1024 * 1024  # bytes of an answer; two thousand long vectors as text are a tenth of that


async def embed(line: Line, request: MediaRequest) -> MediaResponse:
    """Give a vector for each text. Raises ProviderError, and UserError where no model is named."""
    model = model_for(line, request, "embed")
    if not request.texts:
        return MediaResponse(model=model)
    body: dict[str, JSON] = {"model": model, "input": list(request.texts), "encoding_format": "float"}
    if dimensions := request.options.get("dimensions"):
        body["dimensions"] = dimensions
    found = await ask(line, model, "embeddings", json=body)
    rows = found.get("data")
    return MediaResponse(model=model, vectors=_vectors(line, rows, len(request.texts)), usage=usage_of([found]))


async def transcribe(line: Line, request: MediaRequest) -> MediaResponse:
    """Write down what is said in each sound. Raises as ``embed``."""
    model, found = model_for(line, request, "transcribe"), []
    given = {"model": model, "response_format": "json"}
    if language := request.options.get("language"):
        given["language"] = str(language)
    for blob in request.blobs:
        file = (blob.name or "sound", await asyncio.to_thread(bytes_of, blob), blob.media_type)
        found.append(await ask(line, model, "audio/transcriptions", data=given, files={"file": file}))
    texts = [str(one.get("text") or "").strip() for one in found]
    return MediaResponse(model=model, texts=texts, usage=usage_of(found))


def model_for(line: Line, request: MediaRequest, verb: str) -> str:
    """The model that is named, or the service's own for this. Raises UserError."""
    model = request.model or (line.entry.media_models.get(verb, "") if line.own else "")
    if not model:
        text = f"{line.service.title} has no model of its own to {verb} with."
        raise UserError(text, hint=f"Name one: auxiliary.{verb}.model.")
    return model


def bytes_of(blob: Blob) -> bytes:
    """What is in a file. Raises Refused."""
    try:
        return blob.data if blob.data is not None else Path(blob.path or "").read_bytes()
    except OSError as error:
        raise Refused(f"{blob.name or blob.path} cannot be read: {error.strerror}.") from None


async def ask(line: Line, model: str, where: str, **content: Any) -> Mapping[str, JSON]:
    """The JSON object that is answered. Raises ProviderError."""
    from hermes_provider_kit.failures import broken_off, message_of, unreadable

    said, _ = await fetch(line, model, where, **content)
    text, service = said.decode("utf-8", "replace"), line.about(model)
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise unreadable(text, service=service) from None
    if not isinstance(found, dict):
        raise unreadable(text, service=service)
    if "error" in found and message_of(text):
        raise broken_off(found, service=service)
    return found


async def fetch(line: Line, model: str, where: str, **content: Any) -> tuple[bytes, str]:
    """The bytes that are answered, and their media type. Raises ProviderError."""
    from hermes_openai_wire.chat import reply_failure

    client = line.client()
    headers = {name: value for name, value in line.request_headers().items() if name != "content-type"}
    with told(line.service, line.stale_seconds):
        asked = client.build_request("POST", f"{line.about(model).url}/{where}", headers=headers, **content)
        response = await client.send(asked, stream=True)
        try:
            body = await read_bytes(response.aiter_bytes(), CAP if response.is_success else FAILURE_CAP)
        finally:
            await response.aclose()
    if not response.is_success:
        raise await reply_failure(
            line, model, response.status_code, dict(response.headers), body.decode("utf-8", "replace")
        )
    return body, str(response.headers.get("content-type") or "").partition(";")[0].strip().lower()


def _vectors(line: Line, rows: JSON, due: int) -> Sequence[Sequence[float]]:
    """The vectors of a list in the order of the texts. Raises Unavailable for what is none."""
    from hermes_provider_kit.failures import unreadable

    vectors: dict[int, Sequence[float]] = {}
    for number, row in enumerate(rows if isinstance(rows, list) else ()):
        vector = row.get("embedding") if isinstance(row, dict) else None
        place = row.get("index", number) if isinstance(row, dict) else number
        if isinstance(place, int) and isinstance(vector, list) and all(map(_is_number, vector)):
            vectors[place] = tuple(float(figure) for figure in vector)
    if sorted(vectors) != list(range(due)):
        raise unreadable(json.dumps(rows)[:2000], service=line.service)
    return [vectors[place] for place in range(due)]


def _is_number(figure: JSON) -> bool:
    return isinstance(figure, int | float) and not isinstance(figure, bool)


def usage_of(found: Sequence[Mapping[str, JSON]]) -> Usage:
    """What answers used together."""
    said = [one.get("usage") for one in found]
    each = [read_usage(usage if isinstance(usage, dict) else {}) for usage in said]
    return Usage(
        input=sum(one.input for one in each),
        output=sum(one.output for one in each),
        cost=sum(one.cost for one in each),
        calls=len(each),
        priced="actual" if each and all(one.priced for one in each) else "",
    )
