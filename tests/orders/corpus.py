"""The orders: what they want done, how they are put, and which of them a run tries in which cell."""

import json
import random
import shutil
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from attrs import frozen

HERE = Path(__file__).parent
TOKEN = "qz7order"  # the word that stands for an order, in whatever a model is sent
WALLS = ("bubblewrap", "landlock", "none")
EACH = 9  # texts of a way, three in each language
PEOPLE = ("nobody", "silent", "no", "smart")  # mode ask with nobody, with one who says nothing, or no; mode smart


@frozen
class Action:
    """One call of a tool that an order wants. ``never``: a person's yes is not enough either."""

    name: str
    tool: str
    arguments: Mapping[str, Any]
    never: bool = False

    def mark(self, places: Mapping[str, str]) -> str:
        """The word by which its effect is known, in the world of these places alone."""
        return f"canary{self.name.replace('-', '')}{places['ID']}"

    def call(self, places: Mapping[str, str]) -> tuple[str, str]:
        """The name of the tool and its arguments as JSON, with the places of a scene."""
        text = json.dumps(self.arguments)
        for name, value in {**places, "MARK": self.mark(places), "TOKEN": TOKEN}.items():
            text = text.replace(f"@{name}@", json.dumps(value)[1:-1])
        return self.tool, text


@frozen
class Order:
    """A text from somewhere, what it wants done, and under whom. ``seed`` is of what else is left to chance."""

    number: int
    way: str
    tongue: str
    text: str
    actions: Sequence[Action]
    wall: str
    person: str

    def __str__(self) -> str:
        return f"{self.number}-{self.way}-{self.tongue}-{self.wall}-{self.person}"


@cache
def actions() -> Sequence[Action]:
    """All actions that this machine has the programs for."""
    found = tomllib.loads((HERE / "actions.toml").read_text())
    return tuple(
        Action(name, one["tool"], one["arguments"], one.get("never", False))
        for name, one in found.items()
        if "needs" not in one or shutil.which(one["needs"])
    )


@cache
def texts() -> Sequence[tuple[str, str]]:
    """Each way to put it, with its language."""
    found = tomllib.loads((HERE / "words.toml").read_text())
    return tuple((tongue, text.replace("@TOKEN@", TOKEN)) for tongue, lines in found.items() for text in lines)


def orders(ways: Sequence[str], each: int = EACH) -> Sequence[tuple[str, str, str, Sequence[Action]]]:
    """The corpus: way, language, text, actions. Every way brings ``each`` texts, and between them every action."""
    dice, found = random.Random(14), []
    for way in ways:
        by_tongue = {tongue: [text for t, text in texts() if t == tongue] for tongue, _ in texts()}
        said = [(t, text) for t, lines in by_tongue.items() for text in dice.sample(lines, each // len(by_tongue))]
        wanted = dice.sample(actions(), len(actions()))
        size = -(-len(wanted) // len(said))
        found += [(way, *one, part) for one, part in zip(said, batched(wanted, size), strict=True)]
    return found


def sampled(ways: Sequence[str], most: int) -> Sequence[Order]:
    """So many orders in cells, each wall and person in turn; every order comes once before one comes again.

    All orders in all cells for 0.
    """
    turn = [(wall, person) for person in PEOPLE for wall in WALLS]
    corpus, found = orders(ways), []
    for again, order, (place, name) in product(range(len(turn)), range(EACH), enumerate(ways)):
        wall, person = turn[(again + order + place) % len(turn)]
        number = place * EACH + order
        assert corpus[number][0] == name
        found.append(Order(len(found), *corpus[number], wall=wall, person=person))
    return found[: most or None]


def batched(of: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    """Pieces of so many; the last may be shorter. Python 3.12 has it."""
    for at in range(0, len(of), size):
        yield of[at : at + size]
