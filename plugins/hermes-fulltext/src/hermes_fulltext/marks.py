"""Where terms stand in a text, and the part of it to show."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from hermes_fulltext.asked import Term
from hermes_fulltext.slips import LEAST, one_slip
from hermes_fulltext.words import CJK, folded

__all__ = ["Marks", "Span", "are_near", "mask_of"]

Span = tuple[int, int, int]  # from, until, the number of the term
_BEFORE, _AFTER = 60, 160
_WORD = re.compile(r"[^\W_]+")
_MOST = 400  # marks looked at
_NEAR = 40  # characters that may stand between two terms that belong together
_folded = lru_cache(maxsize=8192)(folded)


class Marks:
    """Finds terms in texts."""

    def __init__(self, terms: Sequence[Term]) -> None:
        self._words: dict[str, int] = {}
        self._parts: dict[str, int] = {}
        self._phrases: list[tuple[re.Pattern[str], int]] = []
        self._slipped, self._slips = list[str](), list[int]()
        for number, term in enumerate(terms):
            for shown in term.shown:
                if re.match(f"[{CJK}]+$", shown):
                    self._parts.setdefault(shown, number)
                    self._words.setdefault(folded(shown), number)
                elif _WORD.fullmatch(shown):
                    self._words.setdefault(folded(shown), number)
                elif parts := [re.escape(part) for part in re.split(r"[\W_]+", shown) if part]:
                    pattern = r"(?<![^\W_])" + r"[\W_]+".join(parts) + r"(?![^\W_])"
                    self._phrases.append((re.compile(pattern, re.IGNORECASE), number))
        plain: dict[int, list[str]] = {}
        for word, number in self._words.items():
            if word.isascii():
                plain.setdefault(number, []).append(word)
        self._plain = [(_beginning(words), words, number) for number, words in plain.items()]

    def forgive(self, slipped: Mapping[int, str]) -> None:
        """Mark also what is one slip away from a word: ``slipped`` are such words, by the numbers of their terms."""
        self._slipped = [*slipped.values()]
        self._slips = [*slipped]

    def spans(self, text: str) -> list[Span]:
        """Return where the terms stand, in order; of marks within each other the first."""
        words, found = self._words, list[Span]()
        if text.isascii():
            found += self._in_plain(text.lower())
        elif words:
            for match in _WORD.finditer(text):
                word = match[0]
                if (number := words.get(word.lower() if word.isascii() else _folded(word))) is not None:
                    found.append((match.start(), match.end(), number))
        for pattern, number in self._phrases:
            found += ((match.start(), match.end(), number) for match in pattern.finditer(text))
        for part, number in self._parts.items():
            at = text.find(part)
            while at >= 0 and len(found) < _MOST:
                found.append((at, at + len(part), number))
                at = text.find(part, at + 1)
        if self._slipped:
            for match in _WORD.finditer(text):
                if len(match[0]) >= LEAST - 1 and (at := one_slip(match[0].lower(), self._slipped)) >= 0:
                    found.append((match.start(), match.end(), self._slips[at]))
        if self._phrases or self._parts or self._slipped:
            found.sort(key=lambda span: (span[0], -span[1]))
        return found[:_MOST]

    def _in_plain(self, text: str) -> list[Span]:
        """Return where words stand in an ASCII text in small letters: few are looked for, and a text has many."""
        found, end = list[Span](), len(text)
        for begin, words, number in self._plain:
            if begin not in text:  # most forms begin alike, and most texts hold none of them
                continue
            for word in words:
                at = text.find(word)
                while at >= 0:
                    last = at + len(word)
                    if not (at and text[at - 1].isalnum()) and not (last < end and text[last].isalnum()):
                        found.append((at, last, number))
                    at = text.find(word, last)
        found.sort()
        return found

    def snippet(self, text: str, spans: Sequence[Span] | None = None) -> str:
        """Return the part of a text in which most terms stand, each marked as ``>>>word<<<``."""
        spans = self.spans(text) if spans is None else spans
        start = max(0, _densest(spans) - _BEFORE)
        end = min(len(text), start + _BEFORE + _AFTER)
        shown, at = "…" if start else "", start
        for first, last in _joined(spans):
            if last > end:
                break
            if first >= at:
                shown += f"{text[at:first]}>>>{text[first:last]}<<<"
                at = last
        return " ".join((shown + text[at:end] + ("…" if end < len(text) else "")).split())


def _beginning(words: Sequence[str]) -> str:
    """Return what all of the words begin with."""
    first, last = min(words), max(words)
    return next((first[:at] for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), first)


def mask_of(spans: Sequence[Span]) -> int:
    """Return a bit for each term that stands in a text."""
    return sum(1 << number for number in {number for _, _, number in spans})


def are_near(spans: Sequence[Span]) -> bool:
    """Tell whether all the terms of a text stand near each other somewhere in it."""
    wanted = len({number for _, _, number in spans})
    if wanted < 2:
        return True
    for at, (_, last, _) in enumerate(spans):
        seen, end = {spans[at][2]}, last
        for first, until, number in spans[at + 1 : at + 12]:
            if first - end > _NEAR:
                break
            seen.add(number)
            end = until
        if len(seen) == wanted:
            return True
    return False


def _densest(spans: Sequence[Span]) -> int:
    """Return where the part begins that holds most of the terms."""
    best, place = 0, spans[0][0] if spans else 0
    for at, (first, _, _) in enumerate(spans):
        many = len({number for begin, last, number in spans[at : at + 40] if last <= first + _AFTER})
        if many > best:
            best, place = many, first
    return place


def _joined(spans: Sequence[Span]) -> list[tuple[int, int]]:
    """Return marks that touch or overlap as one."""
    made: list[tuple[int, int]] = []
    for first, last, _ in spans:
        if made and first < made[-1][1]:
            made[-1] = (made[-1][0], max(last, made[-1][1]))
        else:
            made.append((first, last))
    return made
