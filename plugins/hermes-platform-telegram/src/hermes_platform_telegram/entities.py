"""Text with its formatting beside it, counted as Telegram counts: in UTF-16 code units.

Formatting is sent as a list of entities and never as marks in the text: there is nothing to escape, so nothing that
Telegram could fail to parse. The rules kept here are those it publishes: an entity lies within the text, splits no
character, is not empty; two entities are apart or one holds the other; code holds and is held by nothing; quotes do
not nest; links do not hold each other.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from attrs import evolve

from hermes_core.types import JSON
from hermes_core.values import frozen

__all__ = ["Entity", "Formatted", "clean", "cut", "lawful", "units"]

MOST = 100  # entities of one message; Telegram ignores what is beyond
_STYLES = frozenset({"bold", "italic", "strikethrough"})
_CODE = frozenset({"code", "pre"})


@frozen
class Entity:
    """Formatting of a piece of text. ``start`` and ``end`` are in UTF-16 code units; ``more`` is a link or language."""

    kind: str
    start: int
    end: int
    more: str = ""

    def to_json(self) -> dict[str, JSON]:
        """As the Bot API writes it."""
        data: dict[str, JSON] = {"type": self.kind, "offset": self.start, "length": self.end - self.start}
        if self.more:
            data["url" if self.kind == "text_link" else "language"] = self.more
        return data


class Formatted(NamedTuple):
    """A text and its formatting."""

    text: str
    entities: Sequence[Entity] = ()


def units(text: str) -> int:
    """How long Telegram says a text is: characters beyond U+FFFF count as two."""
    return len(text) + sum(c > "\uffff" for c in text)


def clean(text: str) -> str:
    """The text without what no text holds: halves of characters and control characters."""
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", " ", re.sub("[\ud800-\udfff]", "\ufffd", text.replace("\r\n", "\n")))


def lawful(text: str, entities: Sequence[Entity]) -> Formatted:
    """The text with as much of its formatting as keeps to the rules."""
    quotes = _apart([e for e in entities if e.kind == "blockquote"])
    links = [e for e in _apart([e for e in entities if e.kind == "text_link"]) if _fits(e, quotes)]
    codes = [e for e in _apart([e for e in entities if e.kind in _CODE]) if _fits(e, quotes)]
    codes = [e for e in codes if not any(_meet(e, link) for link in links)]
    kept = [*quotes, *links, *codes]
    for kind in sorted(_STYLES):
        for entity in _apart([e for e in entities if e.kind == kind]):
            kept += [p for p in _without(entity, codes) if all(not _meet(p, k) or _nested(p, k) for k in kept)]
    return Formatted(text, sorted(_seen(text, kept), key=lambda e: (e.start, -e.end))[:MOST])


def cut(whole: Formatted, limit: int) -> list[Formatted]:
    """The text in pieces of at most ``limit`` units, each with its part of the formatting; no character is lost.

    A piece ends at a line end or a space where there is one in its second half.
    """
    pieces: list[Formatted] = []
    rest, start = whole.text, 0
    while rest:
        size = _room(rest, limit)
        if size < len(rest):
            at = max(rest.rfind("\n", size // 2, size), -1)
            at = at if at >= 0 else rest.rfind(" ", size // 2, size)
            size = at + 1 if at >= 0 else size
        piece, rest = rest[:size], rest[size:]
        end = start + units(piece)
        inside = [
            evolve(e, start=max(e.start, start) - start, end=min(e.end, end) - start)
            for e in whole.entities
            if e.start < end and e.end > start
        ]
        pieces.append(lawful(piece, inside))
        start = end
    return pieces


def _room(text: str, limit: int) -> int:
    """How many characters of a text have at most ``limit`` units."""
    used = 0
    for at, character in enumerate(text):
        used += 2 if character > "\uffff" else 1
        if used > limit:
            return at
    return len(text)


def _seen(text: str, entities: Sequence[Entity]) -> list[Entity]:
    """Those that format something that can be seen."""
    if len(text) == units(text):
        return [e for e in entities if text[e.start : e.end].strip()]
    wide = text.encode("utf-16-le", "replace")
    return [e for e in entities if wide[2 * e.start : 2 * e.end].decode("utf-16-le", "replace").strip()]


def _apart(entities: Sequence[Entity]) -> list[Entity]:
    """The outermost ones, in order; what meets one before it is left out."""
    kept: list[Entity] = []
    for entity in sorted(entities, key=lambda e: (e.start, -e.end)):
        if entity.end > entity.start and (not kept or entity.start >= kept[-1].end):
            kept.append(entity)
    return kept


def _without(entity: Entity, holes: Sequence[Entity]) -> list[Entity]:
    """What is left of an entity between the holes, which are in order and apart."""
    pieces, start = [], entity.start
    for hole in holes:
        if _meet(entity, hole):
            pieces.append(evolve(entity, start=start, end=min(hole.start, entity.end)))
            start = max(start, hole.end)
    pieces.append(evolve(entity, start=start))
    return [p for p in pieces if p.end > p.start]


def _fits(entity: Entity, quotes: Sequence[Entity]) -> bool:
    return all(not _meet(entity, quote) or _holds(quote, entity) for quote in quotes)


def _meet(one: Entity, other: Entity) -> bool:
    return one.start < other.end and other.start < one.end


def _nested(one: Entity, other: Entity) -> bool:
    return _holds(one, other) or _holds(other, one)


def _holds(one: Entity, other: Entity) -> bool:
    return one.start <= other.start and other.end <= one.end
