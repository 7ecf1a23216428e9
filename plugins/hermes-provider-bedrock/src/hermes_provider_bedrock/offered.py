"""What models the service offers: those it runs itself, and the inference profiles that lead to others.

Source: ListFoundationModels and ListInferenceProfiles of https://docs.aws.amazon.com/bedrock/latest/APIReference/.
"""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from urllib.parse import quote

from attrs import evolve

from hermes_core.errors import ProviderError
from hermes_core.types import JSON, Feature, Model
from hermes_provider_bedrock.exchange import asked
from hermes_provider_bedrock.known import images, plain, thinks
from hermes_provider_bedrock.line import SERVICE, Line
from hermes_provider_kit.replies import read_capped

__all__ = ["ask_models", "list_models"]

SECONDS = 8.0
PAGES = 20  # of a thousand profiles each; a list without an end is cut
CAP = 32 * 1024 * 1024  # bytes


async def list_models(line: Line) -> Sequence[Model]:
    """List the models on offer, the default one first. Raises ProviderError."""
    found = await ask_models(line)
    if line.context:
        found = [evolve(model, context=line.context) for model in found]
    return sorted(found, key=lambda model: model.name != SERVICE.default_model)


async def ask_models(line: Line, seconds: float = SECONDS) -> list[Model]:
    """List what the service says now: what answers conversations piece by piece.

    Raises:
        ProviderError: The service could not be asked for its models. That its profiles cannot be listed, which other
            rights are needed for, is no error.
    """
    rows = [row async for row in _rows(line, "/foundation-models?byOutputModality=TEXT", "modelSummaries", seconds)]
    known = {str(row.get("modelId")): row for row in rows if _converses(row)}
    made = {
        name: _model(name, row) for name, row in known.items() if "ON_DEMAND" in _words(row, "inferenceTypesSupported")
    }
    try:
        path = "/inference-profiles?maxResults=1000"
        async for row in _rows(line, path, "inferenceProfileSummaries", seconds):
            if (name := _profile_name(row)) and (of := known.get(_first_model(row) or plain(name))):
                made.setdefault(name, _model(name, of))
    except ProviderError:
        if not made:
            raise
    return list(made.values())


async def _rows(line: Line, path: str, field: str, seconds: float) -> AsyncIterator[Mapping[str, JSON]]:
    token = ""
    for _ in range(PAGES):
        url = line.control_url + path + (f"&nextToken={quote(token, safe='')}" if token else "")
        async with asked(line, "GET", url, seconds=seconds) as pieces:
            said = await read_capped(pieces, CAP)
        try:
            found = json.loads(said)
        except (ValueError, RecursionError):
            from hermes_provider_kit.failures import unreadable

            raise unreadable(said, service=line.service) from None
        rows = found.get(field) if isinstance(found, Mapping) else None
        for row in rows if isinstance(rows, list) else []:
            if isinstance(row, Mapping):
                yield row
        token = str(found.get("nextToken") or "") if isinstance(found, Mapping) else ""
        if not token:
            return


def _converses(row: Mapping[str, JSON]) -> bool:
    status = row.get("modelLifecycle")
    gone = isinstance(status, Mapping) and status.get("status") not in (None, "ACTIVE", "LEGACY")
    return bool(row.get("modelId")) and row.get("responseStreamingSupported") is True and not gone


def _words(row: Mapping[str, JSON], field: str) -> Sequence[JSON]:
    found = row.get(field)
    return found if isinstance(found, list) else ()


def _profile_name(row: Mapping[str, JSON]) -> str:
    """Name a profile: AWS's own by its id, one of one's own by its ARN, which the service wants."""
    own = row.get("type") == "APPLICATION"
    return str(row.get("inferenceProfileArn" if own else "inferenceProfileId") or "")


def _first_model(row: Mapping[str, JSON]) -> str:
    models = row.get("models")
    first = models[0] if isinstance(models, list) and models else None
    return str(first.get("modelArn") or "").rsplit("/", 1)[-1] if isinstance(first, Mapping) else ""


def _model(name: str, row: Mapping[str, JSON]) -> Model:
    of = str(row.get("modelId"))
    seen = "IMAGE" in _words(row, "inputModalities") if row.get("inputModalities") else images(of)
    features = {Feature.TOOLS, *([Feature.IMAGES] if seen else []), *([Feature.REASONING] if thinks(of) else [])}
    return Model(name=name, features=frozenset(features))
