"""One service of the catalogue: what is known about it and its models, read from its TOML file when first used."""

from collections.abc import Mapping
from pathlib import Path

from hermes_core.types import JSON
from hermes_core.values import frozen
from hermes_provider_kit.catalogue import problems_of, read_row, tuples

__all__ = ["FOLDER", "Card", "Entry", "load_entry", "parse_entry"]

FOLDER = Path(__file__).with_name("catalogue")
DEFAULT_OUTPUT = 16_000  # for a model nobody told us about: most servers take it
_PRICES = ("input", "output", "cache reads", "cache writes")
_WORDS = {"thinking": ("", "adaptive", "budget"), "off": ("", "disabled", "between_tools")}


@frozen(kw_only=True)
class Card:
    """What is known about one model, or, with a name that ends in ``*``, about a family.

    ``thinking`` says how thinking is asked for: ``adaptive``, with a token ``budget``, or not at all. A model that
    thinks unasked is ``always``; ``off`` is the word that stops it. ``display``: it leaves out what it thought unless
    asked to show it. ``price``: US dollars for a million tokens of input, output, cache reads and cache writes.
    """

    name: str
    context: int = 0
    output: int = DEFAULT_OUTPUT
    thinking: str = ""
    always: bool = False
    display: bool = False
    off: str = ""
    efforts: tuple[str, ...] = ()
    temperature: bool = True
    images: bool = True
    price: tuple[float, ...] = ()


@frozen(kw_only=True)
class Entry:
    """What is known about one service.

    ``dashes``: its model names have no dots and no maker before a slash. ``unsigned``: it wants its thoughts back
    although they carry no signature. ``prices_from`` says where prices were read and when.
    """

    name: str
    title: str
    summary: str
    aliases: tuple[str, ...] = ()
    signup: str = ""
    priority: int = 20
    env: tuple[str, ...] = ()
    base_url: str = ""
    base_url_env: str = ""
    default_model: str = ""
    dashes: bool = False
    unsigned: bool = False
    prices_from: str = ""
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
    return parse_entry(read_row(FOLDER, name), where=f"{name}.toml")


def parse_entry(data: Mapping[str, JSON], *, where: str) -> Entry:
    """Check a file's content against the fields above. Raises ValueError naming every problem."""
    rest = {key: value for key, value in data.items() if key != "models"}
    problems = problems_of(Entry, rest, ("name", "title", "summary"))
    rows = data.get("models", [])
    for row in rows:
        wrong = problems_of(Card, row, ("name",), _WORDS)
        if len(row.get("price", _PRICES)) != len(_PRICES):
            wrong.append(f"price is not {', '.join(_PRICES)}")
        problems += [f"model {row.get('name', '?')}: {problem}" for problem in wrong]
    if problems:
        raise ValueError(f"{where}: {'; '.join(problems)}")
    return Entry(**tuples(rest), models=tuple(Card(**tuples(row)) for row in rows))
