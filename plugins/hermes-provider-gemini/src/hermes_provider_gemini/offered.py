"""What models the service offers."""

from urllib.parse import quote

from hermes_core.types import JSON, Feature, Model
from hermes_provider_gemini.line import Line
from hermes_provider_gemini.thinking import generation
from hermes_provider_kit.listing import fetch_json

__all__ = ["ask_models"]

SECONDS = 8.0
PAGES = 20  # of a thousand models each; a list without an end is cut


async def ask_models(line: Line, seconds: float = SECONDS) -> list[Model]:
    """List what the service itself says now: what answers conversations. Raises ProviderError."""
    made: dict[str, Model] = {}
    page = ""
    for _ in range(PAGES):
        url = f"{line.service.url}/models?pageSize=1000{f'&pageToken={quote(page)}' if page else ''}"
        found = await fetch_json(
            line.client(), url, headers=line.request_headers(), service=line.service, seconds=seconds
        )
        rows = found.get("models") if isinstance(found, dict) else None
        for row in rows if isinstance(rows, list) else []:
            if isinstance(row, dict) and (model := _model(row)):
                made.setdefault(model.name, model)
        page = str(found.get("nextPageToken") or "") if isinstance(found, dict) else ""
        if not page:
            break
    return list(made.values())


def _model(row: dict[str, JSON]) -> Model | None:
    name = str(row.get("name") or "").removeprefix("models/")
    methods = row.get("supportedGenerationMethods")
    if not name or (isinstance(methods, list) and "generateContent" not in methods):
        return None
    thinks = row.get("thinking") is True or (row.get("thinking") is None and generation(name) >= (2, 5))
    features = {Feature.TOOLS, Feature.IMAGES, *([Feature.REASONING] if thinks else [])}
    return Model(
        name=name,
        context=_count(row.get("inputTokenLimit")),
        output=_count(row.get("outputTokenLimit")),
        features=frozenset(features),
    )


def _count(value: JSON) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
