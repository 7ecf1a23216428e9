"""What an index says of the words that are asked for: in which messages they stand, alone and together.

Never more messages are looked up than are asked for, and where words are everywhere the rarest of them are looked up
together: so what a look costs does not grow with what was said.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from hermes_fulltext.asked import Term
from hermes_fulltext.slips import added, may_be_slip, shorter
from hermes_fulltext.words import cut_words

__all__ = ["ROUND", "Look", "Source"]

ROUND = 36  # messages that are read at once
_TELLING = 0.4  # of what the rarest word says, a word must say to be looked up beside it
_BESIDE_RARE = 3  # words that are looked up beside rare ones at most
_SLIPS = 2  # words that may be slips, in one question
_SLIP = 0.7  # of what a word says is said by one that is a slip away from it
_FEW = 24  # messages in which rare words are likely to meet: more words are not looked up with them
_ENOUGH = 12  # messages that hold all of the words: where two of them meet is not looked up any more

Phrases = Sequence[str]


class Source(Protocol):
    """Where the index and the messages are, in one transaction. ``server``: its phrases are cut and folded."""

    server: bool

    def found(self, groups: Sequence[Phrases], first: int, last: int, limit: int, order: str) -> Sequence[int]:
        """Return the ``newest`` or ``oldest`` messages in which a phrase of each group stands, by number, in order."""

    def rows(self, name: str, /, **values: Any) -> Sequence[Any]:
        """Return the rows of ``search_span``, ``search_near``, ``search_said`` or ``messages_from``."""


class Look:
    """What the index says of each term: in ``masks``, by message, a bit for each term that stands in it."""

    def __init__(self, source: Source, terms: Sequence[Term], owner: str, first: int, last: int, oldest: bool) -> None:
        self.source, self.terms, self.first, self.last, self.oldest = source, terms, first, last, oldest
        self._owner, self._order = [[owner]] if owner else [], "oldest" if oldest else "newest"
        self.masks: dict[int, int] = defaultdict(int)
        self.values = [0.0] * len(terms)
        self._must = [term.phrases for term in terms if term.must]
        self._counts: list[float] = []
        self.any_words = all(term.weight < 0.5 for term in terms)  # only a time is asked for
        self.cut = False  # there is more of a term than was looked up
        self.met = 0  # how many messages are looked up in which words meet that are everywhere

    def rows(self, groups: Sequence[Phrases], limit: int, first: int = 0, last: int = 0) -> Sequence[int]:
        """Look up where a phrase of each group stands, and of what must."""
        wanted = [*groups, *(phrases for phrases in self._must if phrases not in groups), *self._owner]
        begin, end = max(first, self.first), min(last or self.last, self.last)
        if self.source.server:
            wanted = [[cut_words(phrase) for phrase in phrases] for phrases in wanted]
        return self.source.found(wanted, begin, end, limit, self._order)

    def gather(self, many: int, first: int = 0, last: int = 0) -> None:
        """Look up every term, and where those that are everywhere meet others."""
        whole, common = list[int](), list[int]()
        rows: list[Sequence[int]] = []
        total = self.last - self.first + 1
        self._counts = []
        for number, term in enumerate(self.terms):
            found = self.rows([term.phrases], many, first, last)
            rows.append(found)
            walked = abs(found[-1] - (self.first if self.oldest else self.last)) + 1 if found else 1
            self._counts.append(len(found) if len(found) < many else len(found) * total / walked)
            (whole if len(found) < many else common).append(number)
            self.values[number] = term.weight * math.log(1 + (total + 10) / (self._counts[-1] + 0.5))
            for row in found:
                self.masks[row] |= 1 << number
        self.cut = self.cut or bool(common)
        if len(self.terms) > 1 and common:
            self._meetings(whole, common, sum(len(rows[number]) for number in whole), many, first, last)

    def _meetings(
        self, rare: Sequence[int], common: Sequence[int], known: int, many: int, first: int, last: int
    ) -> None:
        """Look up where words that are everywhere meet rare ones; where there are none of these, where they meet.

        Where rare ones stand in so few messages that all of these are read, the others are seen there.
        """
        if known > ROUND:
            near = list(dict.fromkeys(phrase for at in rare for phrase in self.terms[at].phrases))
            least = _TELLING * max(self.values[number] for number in rare)
            telling = sorted(common, key=lambda number: -self.values[number])[:_BESIDE_RARE]
            for number in telling:  # what says little is seen in those that are read
                if self.values[number] >= least:
                    self._mark(self.rows([self.terms[number].phrases, near], known, first, last), [number])
        if known:
            return
        rarest = sorted(common, key=self._counts.__getitem__)
        together = self._together(rarest, first, last)
        if len(common) > 2 and together < _ENOUGH:
            most, *others = sorted(common, key=lambda number: -self.values[number])[:3]
            for pair in ((most, other) for other in others):
                self._mark(self.rows([self.terms[number].phrases for number in pair], many // 6, first, last), pair)

    def _together(self, rarest: Sequence[int], first: int, last: int) -> int:
        """Look up where words meet; how many messages hold all that were looked for.

        To walk along what is everywhere costs most and tells least: it is left out where few messages are to be
        expected without it, and is seen in those that are read.
        """
        total = self.last - self.first + 1
        expected, taken = float(total), 0
        while taken < len(rarest) and (taken < 2 or expected > _FEW):
            expected *= min(self._counts[rarest[taken]] / total, 1.0)
            taken += 1
        while True:
            found = self.rows([self.terms[number].phrases for number in rarest[:taken]], self.met, first, last)
            self._mark(found, rarest[:taken])
            if len(found) <= 2 * ROUND or taken == len(rarest):
                return len(found)
            taken += 1

    def _mark(self, rows: Iterable[int], terms: Iterable[int]) -> None:
        mask = sum(1 << number for number in terms)
        for row in rows:
            self.masks[row] |= mask

    def slipped(self, many: int) -> dict[int, str]:
        """Return the words that nobody ever said and that may be slips, by term; what they may be is looked up."""
        unsaid = [number for number, count in enumerate(self._counts) if not count and not self.terms[number].must]
        words = {number: word for number in unsaid if may_be_slip(word := self.terms[number].shown[0])}
        for number in sorted(words, key=lambda one: -len(words[one]))[_SLIPS:]:
            del words[number]
        for number, word in words.items():
            self._meant(number, shorter(word), many)
        return words

    def look_wider(self, missed: Mapping[int, str], many: int) -> bool:
        """Look up all that the longest of some words may be; whether any of it was said.

        These are hundreds: where enough other words say what is meant, it is not worth that.
        """
        if sum(map(bool, self._counts)) > _SLIPS:
            return False
        number = max(missed, key=lambda one: len(missed[one]))
        return bool(self._meant(number, added(missed[number]), many))

    def _meant(self, number: int, words: Sequence[str], many: int) -> Sequence[int]:
        rows = self.rows([words], many)
        self._mark(rows, [number])
        total = self.last - self.first + 1
        self.values[number] = _SLIP * self.terms[number].weight * math.log(1 + (total + 10) / (len(rows) + 0.5))
        return rows

    def within(self, since: float, until: float, many: int) -> None:
        """Look up what was said in a time; where nothing else is asked for, all of it."""
        first, last = self._row_at(since), self._row_at(until) - 1
        if last < first:
            return
        if self.any_words:
            rows: Iterable[int] = range(last, max(first, last - many) - 1, -1)
            for row in self.rows((), many, first, last) if self._owner else rows:
                self.masks[row] |= 0
        if self.terms:
            values, counts = list(self.values), list(self._counts)
            self.gather(many, first, last)
            self.values, self._counts = values, counts

    def _row_at(self, instant: float) -> int:
        """Return the first message of an instant or later: they are numbered as they were said."""
        low, high = self.first, self.last + 1
        while low < high:
            middle = (low + high) // 2
            rows = self.source.rows("search_near", row=middle)
            if rows and rows[0]["created"] < instant:
                low = max(middle, rows[0]["id"]) + 1
            else:
                high = middle
        return low

    def worth(self, mask: int) -> float:
        """Return how much the terms of a mask say."""
        return sum(value for number, value in enumerate(self.values) if mask >> number & 1)
