"""What models a service offers."""

from collections.abc import Mapping

from attrs import evolve

from hermes_core.errors import ProviderError
from hermes_core.types import JSON, Feature, Model, Price
from hermes_openai_wire.line import Line
from hermes_openai_wire.usage import whole_number
from hermes_provider_kit.kept import Offer, priced
from hermes_provider_kit.listing import fetch_json

__all__ = ["ask_models", "ask_offers", "known_models", "listed_models", "read_models", "read_offers"]

SECONDS = 8.0
HELP_SECONDS = 3.0  # when the list only makes an error message better
_CONTEXT = (
    ("context_length",),
    ("context_window",),
    ("max_context_length",),
    ("max_model_len",),
    ("max_input_tokens",),
    ("loaded_context_length",),
    ("input_token_limit",),
    ("limits", "max_context_window_tokens"),
    ("limits", "max_input_tokens"),
    ("top_provider", "context_length"),
    ("metadata", "context_length"),
    ("meta", "n_ctx"),
    ("meta", "n_ctx_train"),
)
_OUTPUT = (
    ("max_output_tokens",),
    ("max_completion_tokens",),
    ("max_output_length",),
    ("top_provider", "max_completion_tokens"),
    ("limits", "max_output_tokens"),
    ("metadata", "max_tokens"),
)
_PRICING = {
    "input": "prompt",
    "output": "completion",
    "cache_read": "input_cache_read",
    "cache_write": "input_cache_write",
}


async def known_models(line: Line) -> tuple[str, ...]:
    """The names on offer as far as they can be had quickly; never raises."""
    try:
        return tuple(model.name for model in await ask_models(line, HELP_SECONDS)) if line.entry.list_models else ()
    except ProviderError:
        return ()


async def ask_models(line: Line, seconds: float = SECONDS) -> list[Model]:
    """What the service itself lists now. Raises ProviderError."""
    return [one.model for one in await ask_offers(line, seconds)]


async def ask_offers(line: Line, seconds: float = SECONDS) -> list[Offer]:
    """The same, with prices where the service says them; what is known where it lists nothing. Raises ProviderError."""
    if not line.entry.list_models:
        line.require_key()
        return [Offer(model=model) for model in listed_models(line)]
    url, headers = f"{line.service.url}/models", line.request_headers()
    found = await fetch_json(line.client(), url, headers=headers, service=line.service, seconds=seconds)
    return read_offers(found)


def listed_models(line: Line) -> list[Model]:
    """The models that the catalogue names."""
    return [Model(name=name, context=line.entry.contexts.get(name, 0)) for name in line.entry.models]


def read_models(found: JSON, context: int = 0) -> list[Model]:
    """The models of a list in any dialect, in its order; what has no name is left out."""
    models = [one.model for one in read_offers(found)]
    return [evolve(model, context=context) for model in models] if context else models


def read_offers(found: JSON) -> list[Offer]:
    """The same, with prices."""
    rows = found
    if isinstance(found, dict):
        rows = next((found[key] for key in ("data", "models", "result") if isinstance(found.get(key), list)), [])
    made: dict[str, Offer] = {}
    for row in rows if isinstance(rows, list) else []:
        facts: Mapping[str, JSON] = {"id": row} if isinstance(row, str) else row if isinstance(row, dict) else {}
        name = next((facts[k] for k in ("id", "model", "name", "key") if isinstance(facts.get(k), str)), "")
        name = name.removeprefix("models/")
        if name and name not in made:
            limits = {"context": _number(facts, _CONTEXT), "output": _number(facts, _OUTPUT)}
            made[name] = Offer(model=Model(name=name, features=_features(facts), **limits), price=_price(facts))
    return list(made.values())


def _price(facts: Mapping[str, JSON]) -> Price | None:
    """What a row says it costs, in the forms whose unit is documented; a bare number may be for any count of tokens.

    OpenRouter, Nous and Kilo write texts for one token (https://openrouter.ai/docs/models), so does Vercel with other
    names (https://vercel.com/docs/ai-gateway/models-and-providers), DeepInfra numbers for a million.
    """
    said, metadata = facts.get("pricing"), facts.get("metadata")
    if isinstance(said, dict):
        named = {new: said[old] for new, old in _PRICING.items() if isinstance(said.get(old), str)}
        return priced({**said, **named}, scale=1e-6) if isinstance(named.get("input", said.get("input")), str) else None
    said = metadata.get("pricing") if isinstance(metadata, dict) else None
    if isinstance(said, dict):
        return priced({name: said.get(f"{name}_tokens") for name in ("input", "output", "cache_read", "cache_write")})
    return None


def _number(facts: Mapping[str, JSON], paths: tuple[tuple[str, ...], ...]) -> int:
    for path in paths:
        value: JSON = facts
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        if number := whole_number(value):
            return number
    return 0


def _features(facts: Mapping[str, JSON]) -> frozenset[Feature]:
    made = {Feature.TOOLS}
    parameters = facts.get("supported_parameters")
    if isinstance(parameters, list) and parameters:
        if "tools" not in parameters:
            made.discard(Feature.TOOLS)
        if "reasoning" in parameters or "include_reasoning" in parameters:
            made.add(Feature.REASONING)
    architecture = facts.get("architecture")
    inputs = architecture.get("input_modalities") if isinstance(architecture, dict) else facts.get("input_modalities")
    if (isinstance(inputs, list) and "image" in inputs) or facts.get("supports_image_in") is True:
        made.add(Feature.IMAGES)
    if facts.get("supports_reasoning") is True:
        made.add(Feature.REASONING)
    return frozenset(made)
