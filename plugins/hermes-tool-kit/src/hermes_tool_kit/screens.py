"""Screens that a plugin brings to whoever shows some: columns of cards as plain values, and what a key does to one.

A service is one of ``register_services``. One that is also ``Screens`` has screens under names of their own: a full
screen opens ``/SERVICE SCREEN``. Whoever shows them has ``host.serve``; nothing here knows who that is, nor how they
are drawn.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from hermes_core.errors import UserError
from hermes_core.values import frozen

if TYPE_CHECKING:
    from hermes_core.context import PluginContext

__all__ = ["Card", "Column", "Key", "Picture", "Screen", "Screens", "Tone", "screens", "screens_of"]

Tone: TypeAlias = Literal["", "good", "bad", "busy", "waits", "quiet"]
"""How something is, for whoever has colours: done, failed, under way, waiting for a person, of no matter now."""


@frozen(kw_only=True)
class Card:
    """Something that can be chosen. ``id`` is its own in a picture, known again in the next one, and not shown.

    ``note`` is a second line that says less. ``goes`` are the columns that it can be moved to: Shift with an arrow
    takes the nearest on that side.
    """

    id: str
    title: str
    note: str = ""
    tone: Tone = ""
    goes: Sequence[str] = ()


@frozen(kw_only=True)
class Column:
    """Cards below each other, the first on top. ``id`` is what a card that is moved here is told of."""

    id: str
    title: str
    cards: Sequence[Card] = ()
    tone: Tone = ""


@frozen(kw_only=True)
class Picture:
    """All that is to be seen now. ``note`` is a line about all of it; ``at`` the column that is looked at first."""

    columns: Sequence[Column]
    note: str = ""
    at: str = ""


@frozen(kw_only=True)
class Key:
    """A key and what it does to the card that is chosen, in a word or two.

    ``asks`` is put to the person first, and what they type goes with the key; ``sure`` is a question that they say yes
    to first. ``alone``: it needs no card.
    """

    key: str
    does: str
    asks: str = ""
    sure: str = ""
    alone: bool = False


class Screen(ABC):
    """A screen of a plugin's, which asks its own rows. The person who looks is the one whose Hermes it is.

    Whoever shows it has the arrows, Enter, Escape and Shift with an arrow; all other keys are ``keys``: one letter
    each. What raises a HermesError is told in its words.
    """

    name: ClassVar[str]  # what is typed after the name of its service
    title: ClassVar[str]
    keys: ClassVar[Sequence[Key]] = ()
    every: ClassVar[float] = 2.0  # seconds after which it is asked again

    @abstractmethod
    async def picture(self) -> Picture:
        """Return what is to be seen now."""

    async def about(self, card: str) -> str:
        """Return all about a card, as text."""
        return ""

    async def press(self, key: str, card: str, text: str = "") -> str:
        """Do what a key does to a card, which is empty where none is chosen; what is to be said of it."""
        raise UserError(f"Nothing is done by {key}.")

    async def move(self, card: str, column: str) -> str:
        """Move a card to a column that it ``goes`` to; what is to be said of it."""
        raise UserError("Nothing is moved here.")


class Screens(ABC):
    """A service that has screens."""

    @abstractmethod
    def screens(self) -> Sequence[Screen]:
        """Return them; to make one reads nothing."""


def screens(ctx: "PluginContext") -> Mapping[str, Sequence[Screen]]:
    """Return all screens of enabled plugins by their services, which are loaded for that. Needs ``host.serve``."""
    found = _services(ctx, ctx.plugins.offered("services"))
    return {name: list(one.screens()) for name, one in found.items() if isinstance(one, Screens)}


def screens_of(ctx: "PluginContext", service: str) -> Sequence[Screen]:
    """Return the screens of one service; nothing where there is none, or it is not enabled. Needs ``host.serve``."""
    if service not in ctx.plugins.offered("services"):
        return ()
    one = _services(ctx, [service]).get(service)
    return list(one.screens()) if isinstance(one, Screens) else ()


def _services(ctx: "PluginContext", names: Sequence[str]) -> Mapping[str, object]:
    found, _ = ctx.host.contributed("services", names)
    return found
