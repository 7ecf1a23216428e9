"""What models a service offers."""

from collections.abc import Mapping

from hermes_core.errors import ProviderError
from hermes_core.types import JSON, Feature, Model
from hermes_provider_anthropic.entry import Card
from hermes_provider_anthropic.line import Line
from hermes_provider_anthropic.usage import whole_number
from hermes_provider_kit.listing import fetch_json

__all__ = ["ask_models", "known_models", "listed_models", "read_models"]

SECONDS = 8.0
HELP_SECONDS = 3.0  # when the list only makes an error message better
LIST_CAP = 32 * 1024 * 1024


def listed_models(line: Line) -> list[Model]:
    """The models that the catalogue names."""
    return [_from_card(card) for card in line.entry.models if not card.name.endswith("*")]


async def known_models(line: Line) -> tuple[str, ...]:
    """The names on offer as far as they can be had quickly; never raises."""
    try:
        return tuple(model.name for model in await ask_models(line, HELP_SECONDS))
    except ProviderError:
        return ()


async def ask_models(line: Line, seconds: float = SECONDS) -> list[Model]:
    """What the service itself lists now. Raises ProviderError."""
    url = f"{line.service.url}/v1/models?limit=1000"
    headers = line.request_headers()
    found = await fetch_json(line.client(), url, headers=headers, service=line.service, seconds=seconds)
    return read_models(found, line)


def read_models(found: JSON, line: Line) -> list[Model]:
    """The models of a list, in its order; what has no name is left out. The catalogue fills what the list leaves."""
    rows = found.get("data") if isinstance(found, dict) else found
    made: dict[str, Model] = {}
    for row in rows if isinstance(rows, list) else []:
        name = row.get("id") if isinstance(row, dict) else None
        if isinstance(name, str) and name and name not in made:
            made[name] = _from_row(name, row, line.entry.card(name))
    return list(made.values())


def _from_row(name: str, row: Mapping[str, JSON], card: Card) -> Model:
    known = _from_card(card)
    context = whole_number(row.get("max_input_tokens")) or whole_number(row.get("context_length"))
    features = set(known.features)
    can = row.get("capabilities")
    for feature, field in ((Feature.IMAGES, "image_input"), (Feature.REASONING, "thinking")):
        said = can.get(field) if isinstance(can, dict) else None
        if isinstance(said, dict) and isinstance(said.get("supported"), bool):
            (features.add if said["supported"] else features.discard)(feature)
    return Model(
        name=name,
        context=context or known.context,
        output=whole_number(row.get("max_tokens")) or known.output,
        features=frozenset(features),
    )


def _from_card(card: Card) -> Model:
    features = {Feature.TOOLS}
    if card.images:
        features.add(Feature.IMAGES)
    if card.thinking:
        features.add(Feature.REASONING)
    return Model(name=card.name, context=card.context, output=card.output, features=frozenset(features))
