"""What models a subscription has, as its service lists them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import evolve

from hermes_core.types import JSON, Feature, Model
from hermes_openai_wire.line import Line
from hermes_openai_wire.offered import read_models
from hermes_provider_kit.listing import fetch_json

__all__ = ["list_models"]

_SECONDS = 8.0
_VERSION = "1.0.0"  # ChatGPT lists nothing to who says none


async def list_models(line: Line) -> Sequence[Model]:
    """Ask the service, or say what its row knows where it has no list; the default first. Raises ProviderError."""
    if not line.entry.list_models:
        return [Model(name=name, context=line.context) for name in line.entry.models]
    query = f"?client_version={_VERSION}" if line.protocol == "responses" else ""
    url, headers = f"{line.service.url}/models{query}", line.request_headers()
    found = await fetch_json(line.client(), url, headers=headers, service=line.service, seconds=_SECONDS)
    rows = list(_rows(found))
    seeing = {row["id"] for row in rows if row["supports_image_in"] is True}
    models = [
        evolve(one, features=one.features | {Feature.IMAGES}) if one.name in seeing else one
        for one in read_models({"data": rows}, line.context)
    ]
    wanted = line.entry.default_model or next(iter(line.entry.models), "")
    return sorted(models, key=lambda one: one.name != wanted)


def _rows(found: JSON) -> Iterator[dict[str, Any]]:
    """Bring rows of Copilot (``capabilities``) and of ChatGPT (``slug``) into the form that lists usually have."""
    held = _mapping(found)
    listed: JSON = next((held[key] for key in ("data", "models") if isinstance(held.get(key), list)), [])
    for row in listed:
        name = row.get("id") or row.get("slug") if isinstance(row, dict) else None
        if not isinstance(name, str):
            continue
        able = _mapping(row.get("capabilities"))
        places = row.get("supported_endpoints")
        if able.get("type", "chat") != "chat" or (isinstance(places, list) and "/chat/completions" not in places):
            continue  # embeddings, and models that speak another protocol there
        limits, inputs = _mapping(able.get("limits")), row.get("input_modalities")
        sees = _mapping(able.get("supports")).get("vision") is True or (isinstance(inputs, list) and "image" in inputs)
        window = row.get("context_window")
        yield {"id": name, "limits": limits, "context_window": window, "supports_image_in": sees}


def _mapping(value: JSON) -> Mapping[str, JSON]:
    return value if isinstance(value, dict) else {}
