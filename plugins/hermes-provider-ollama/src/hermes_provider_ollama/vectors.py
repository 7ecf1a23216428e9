"""Texts as vectors."""

from hermes_core.errors import Unavailable
from hermes_core.types import JSON, MediaRequest, MediaResponse, Usage
from hermes_provider_ollama.line import Line
from hermes_provider_ollama.shown import post

__all__ = ["embed"]


async def embed(line: Line, request: MediaRequest) -> MediaResponse:
    """Give a vector for each text; one that is too long is an error, and not cut. Raises ProviderError."""
    if not request.texts:
        return MediaResponse(model=request.model)
    body: dict[str, JSON] = {"model": request.model, "input": list(request.texts), "truncate": False}
    if isinstance(wanted := request.options.get("dimensions"), int):
        body["dimensions"] = wanted
    found = await post(line, "embed", body, request.model)
    rows = found.get("embeddings") if isinstance(found, dict) else None
    if not isinstance(rows, list) or len(rows) != len(request.texts) or not all(map(_is_vector, rows)):
        raise Unavailable(f"{line.service.title} gave other vectors than it was asked for.")
    count = found.get("prompt_eval_count")
    return MediaResponse(
        model=request.model, vectors=rows, usage=Usage(input=count if isinstance(count, int) else 0, calls=1)
    )


def _is_vector(row: JSON) -> bool:
    return isinstance(row, list) and bool(row) and all(isinstance(one, int | float) for one in row)
