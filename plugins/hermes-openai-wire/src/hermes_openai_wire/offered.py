"""What models a service offers."""

from collections.abc import Mapping, Sequence

from hermes_core.errors import AuthError, ProviderError
from hermes_core.types import JSON, Feature, Model
from hermes_openai_wire.line import Line
from hermes_openai_wire.usage import whole_number
from hermes_provider_kit.listing import fetch_json

__all__ = ["ask_models", "known_models", "list_models", "read_models"]

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


async def list_models(line: Line) -> Sequence[Model]:
    """The models on offer, the default one first. Raises ProviderError when there is neither a reply nor a list."""
    if line.entry.list_models:
        try:
            found = await ask_models(line)
        except AuthError:
            raise
        except ProviderError:
            if not line.entry.models:
                raise
            found = []
        if found:
            return _default_first(line, found)
    if not line.entry.list_models:
        line.require_key()
    known = [Model(name=name, context=line.context or line.entry.contexts.get(name, 0)) for name in line.entry.models]
    return _default_first(line, known)


async def known_models(line: Line) -> tuple[str, ...]:
    """The names on offer as far as they can be had quickly; never raises."""
    try:
        return tuple(model.name for model in await ask_models(line, HELP_SECONDS)) if line.entry.list_models else ()
    except ProviderError:
        return ()


async def ask_models(line: Line, seconds: float = SECONDS) -> list[Model]:
    """What the service itself lists now. Raises ProviderError."""
    url, headers = f"{line.service.url}/models", line.request_headers()
    found = await fetch_json(line.client(), url, headers=headers, service=line.service, seconds=seconds)
    return read_models(found, line.context)


def read_models(found: JSON, context: int = 0) -> list[Model]:
    """The models of a list in any dialect, in its order; what has no name is left out."""
    rows = found
    if isinstance(found, dict):
        rows = next((found[key] for key in ("data", "models", "result") if isinstance(found.get(key), list)), [])
    made: dict[str, Model] = {}
    for row in rows if isinstance(rows, list) else []:
        facts: Mapping[str, JSON] = {"id": row} if isinstance(row, str) else row if isinstance(row, dict) else {}
        name = next((facts[k] for k in ("id", "model", "name", "key") if isinstance(facts.get(k), str)), "")
        name = name.removeprefix("models/")
        if name and name not in made:
            made[name] = Model(
                name=name,
                context=context or _number(facts, _CONTEXT),
                output=_number(facts, _OUTPUT),
                features=_features(facts),
            )
    return list(made.values())


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


def _default_first(line: Line, models: list[Model]) -> list[Model]:
    wanted = line.entry.default_model
    if wanted and all(model.name != wanted for model in models):
        return models or [Model(name=wanted, context=line.context)]
    return sorted(models, key=lambda model: model.name != wanted)
