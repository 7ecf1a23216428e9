"""One service of the catalogue: what is known about it and its models, read from its TOML file when first used."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from attrs import evolve, field
from attrs.validators import min_len

from hermes_core.types import JSON
from hermes_core.values import frozen
from hermes_provider_kit.catalogue import made_of, read_row

__all__ = ["FOLDER", "Card", "Entry", "load_entry", "parse_entry"]

FOLDER = Path(__file__).with_name("catalogue")
DEFAULT_OUTPUT = 16_000  # for a model nobody told us about: most servers take it
_PRICES = ("input", "output", "cache reads", "cache writes")


def _is_price(_card: Any, _field: Any, value: tuple[float, ...]) -> None:
    if value and (len(value) != len(_PRICES) or min(value) < 0):
        raise ValueError(f"must be {', '.join(_PRICES)}")


@frozen(kw_only=True)
class Card:
    """What is known about one model, or, with a name that ends in ``*``, about a family.

    ``thinking`` says how thinking is asked for: ``adaptive``, with a token ``budget``, or not at all. A model that
    thinks unasked is ``always``; ``off`` is the word that stops it. ``display``: it leaves out what it thought unless
    asked to show it. ``price``: US dollars for a million tokens of input, output, cache reads and cache writes.
    """

    name: str = field(validator=min_len(1))
    context: int = 0
    output: int = DEFAULT_OUTPUT
    thinking: Literal["", "adaptive", "budget"] = ""
    always: bool = False
    display: bool = False
    off: Literal["", "disabled", "between_tools"] = ""
    efforts: tuple[str, ...] = ()
    temperature: bool = True
    images: bool = True
    price: tuple[float, ...] = field(default=(), validator=_is_price)


@frozen(kw_only=True)
class Entry:
    """What is known about one service.

    ``dashes``: its model names have no dots and no maker before a slash. ``unsigned``: it wants its thoughts back
    although they carry no signature. ``like`` another service it has the same models, at prices of its own.
    ``public`` is its name at https://models.dev. ``prices_from`` says where prices were read and when.
    """

    name: str = field(validator=min_len(1))
    title: str = field(validator=min_len(1))
    summary: str = field(validator=min_len(1))
    aliases: tuple[str, ...] = ()
    signup: str = ""
    priority: int = 20
    env: tuple[str, ...] = ()
    base_url: str = ""
    base_url_env: str = ""
    default_model: str = ""
    public: str = ""
    dashes: bool = False
    unsigned: bool = False
    prices_from: str = ""
    like: str = ""
    models: tuple[Card, ...] = ()

    def card(self, model: str) -> Card:
        """What is known about a model: itself, a dated edition of it, its family, or nothing."""
        plain = model.rsplit("/", 1)[-1].lower()
        plain = plain.replace(".", "-") if self.dashes else plain
        best: Card | None = None
        for card in self.models:
            name = card.name.lower()
            if plain == name or plain.startswith(f"{name}-20"):
                return card
            longer = best is None or len(name) > len(best.name)
            if name.endswith("*") and plain.startswith(name[:-1]) and longer:
                best = card
        return best or Card(name=model)


def load_entry(name: str) -> Entry:
    """Read a service's file. Raises ValueError when the file is not as it should be."""
    entry = parse_entry(read_row(FOLDER, name), where=f"{name}.toml")
    if not entry.like:
        return entry
    return evolve(entry, models=tuple(evolve(card, price=()) for card in load_entry(entry.like).models))


def parse_entry(data: Mapping[str, JSON], *, where: str) -> Entry:
    """Check a file's content against the fields above. Raises ValueError naming every problem."""
    return made_of(data, Entry, where=where)
