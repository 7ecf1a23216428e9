"""Which messages a person means by some words: those that hold the most telling of them, and what stands beside these.

An index says in which messages a word stands, newest first, and never more of them than are asked for: so what a search
costs does not grow with what was said. Rare words are looked up whole, common words where they meet others.
"""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from operator import attrgetter
from typing import Any, NamedTuple

from hermes_fulltext.asked import asked
from hermes_fulltext.look import ROUND, Look, Source
from hermes_fulltext.marks import Marks, Span, are_near, mask_of
from hermes_fulltext.words import OWNER

__all__ = ["Among", "Found", "Source", "search"]

_LIST = 320  # messages looked up of one word
_ROUNDS = 12  # times that messages are read, where machines said most of them
_ROW_ROUNDS = 4  # of these, where the words stand in a row in none yet that holds all of them
_READ, _LONG = 6_000, 200_000  # characters of a message that are looked into, and of one with no word in these
_ANSWERED = 8  # messages after a question among which its answer is
# What a message is worth beside what its own terms say: for the question that it answers, what stands beside it, its
# session, for terms that stand near each other, and for words in a row as in the question. Then what makes it less.
_ANSWERS, _BESIDE, _SESSION, _TOGETHER, _IN_A_ROW = 0.7, 0.3, 0.12, 0.08, 0.15
_QUESTION, _MACHINE, _RESULT, _SCHEDULE, _IN_TIME, _OUT_OF_TIME = 0.85, 0.5, 0.9, 0.6, 1.6, 0.8
_LIKELY, _NEWER = 0.7, 0.1  # of what is worth so much of the best, the newest is worth so much more than the oldest
_REACH = 2  # how far what stands beside a message may be, in numbers of all messages
_ASKED = ("?", "\uff1f")
_CHILD = "child"
_LAST = ("cron", "schedule")  # origins that come after what people said


class Found:
    """A message that may be meant. ``said`` is its row, ``kept`` what its reader made of it."""

    def __init__(self, row: int, said: Any, mask: int) -> None:
        self.row, self.said, self.mask, self.wide = row, said, mask, mask
        self.score, self.near, self.asks, self.answers = 0.0, False, False, 0
        self.text = ""
        self.kept: Any = None
        self.tools, self.timely, self.in_a_row, self.snippet = False, False, False, ""
        self.spans: list[Span] = []

    @property
    def place(self) -> tuple[str, int]:
        """Return its session and its number among all messages."""
        return self.said["session_id"], self.row

    @property
    def same(self) -> tuple[int, bool, bool, bool, bool, bool]:
        """Return what is equal of messages that say as much of what is looked for: of these the newest is meant."""
        return self.mask, self.near, self.in_a_row, self.asks, self.tools, self.timely


class Among(NamedTuple):
    """Among what is looked, and how: ``sort`` is best, newest or oldest."""

    limit: int = 10
    sort: str = "best"
    children: bool = False
    session_id: str = ""


Reader = Callable[[str], tuple[str, bool, Any]]  # of a body: its text, whether tools said it, what is kept of it


def search(
    source: Source,
    words: str,
    reader: Reader,
    owner: int,
    among: Among,
    now: float,
    *,
    alone: bool,
) -> list[Found]:
    """Return the messages that are meant, the likeliest first, or by time; each with a part of it that shows why.

    By time there are only those that hold all of the words, or the most of them where none holds all.
    """
    wanted = asked(words, now)
    marks = Marks(wanted.terms)
    [span] = source.rows("search_span", session_id=among.session_id)
    if span["last"] is None or not (wanted.terms or wanted.time):
        return []
    mine, oldest = "" if alone else f"{OWNER}{owner}", among.sort == "oldest"
    look = Look(source, wanted.terms, mine, span["first"], span["last"], oldest)
    time = (wanted.time.since, wanted.time.until) if wanted.time else None
    many, look.met = max(_LIST, among.limit), max(3 * ROUND, 2 * among.limit)
    while True:
        look.gather(many)
        if time:
            look.within(*time, many)
        marks.forgive(slipped := look.slipped(many))
        past = _Past(source, look, marks, wanted.row, reader, owner, among)
        found = past.best(time)
        if (missed := past.missed(slipped)) and look.look_wider(missed, many):
            past = _Past(source, look, marks, wanted.row, reader, owner, among)
            found = past.best(time)
        if len(found) >= among.limit or not past.hidden or not look.cut or many > _LIST * 100:
            break
        many, look.met = many * 8, look.met * 8  # most of what was found is in sessions that no list shows
    for one in found[: among.limit]:
        one.snippet = marks.snippet(one.text, one.spans)
    return found[: among.limit]


class _Past:
    """Reads what was found, and judges it."""

    def __init__(
        self, source: Source, look: Look, marks: Marks, row: str, reader: Reader, owner: int, among: Among
    ) -> None:
        self._source, self._look, self._marks, self._row, self._reader = source, look, marks, row, reader
        self._owner, self._among = owner, among
        self._worth = cache(look.worth)  # many messages hold the same terms
        self.hidden = 0  # messages that were left out
        self._rows: dict[int, Found | None] = {}
        self._titles: dict[str, int] = {}

    def best(self, time: tuple[float, float] | None) -> list[Found]:
        """Return what is meant: read in rounds, until enough was said by somebody."""
        masks, worth = self._look.masks, self._worth
        known = {mask: worth(mask) for mask in set(masks.values())}
        limit, sort = self._among.limit, self._among.sort
        if sort != "best":
            most = max(known.values(), default=0.0)
            full = worth((1 << len(self._look.terms)) - 1)
            least = full if most >= full * 0.999 else most * 0.75
            masks = {row: mask for row, mask in masks.items() if known[mask] >= least * 0.999}
        judged: list[Found] = []
        size = max(ROUND, limit + limit // 2)
        left = _likeliest(masks, known, size * _ROUNDS, oldest=self._look.oldest)
        for at in range(0, len(left), size):
            self._read(left[at : at + size])
            judged = self._judged(time)
            if sum(not one.tools for one in judged) >= min(limit, 12) and self._has_row(left[at + size :], at // size):
                break
        if sort == "best":
            return _newest_of_same(judged)
        meant = [one for one in judged if one.row in masks]
        return sorted(meant, key=attrgetter("row"), reverse=sort != "oldest")

    def missed(self, slipped: Mapping[int, str]) -> dict[int, str]:
        """Return the words, by term, that stand in nothing that was read, not even with a slip."""
        seen = 0
        for one in self._rows.values():
            seen |= one.mask if one else 0
        return {number: word for number, word in slipped.items() if not seen >> number & 1}

    def _has_row(self, left: Sequence[int], rounds: int) -> bool:
        """Tell whether the words stand in a row in something that was read, or stand together in nothing more."""
        if not self._row or not left or rounds + 1 >= _ROW_ROUNDS:
            return True
        full = (1 << len(self._look.terms)) - 1
        return self._look.masks[left[0]] != full or any(one and one.in_a_row for one in self._rows.values())

    def _read(self, rows: Iterable[int]) -> None:
        """Read messages, and those beside them in which a term stands."""
        masks = self._look.masks
        wanted = dict.fromkeys(rows)
        for row in list(wanted)[: ROUND // 2]:
            wanted.update((row + off, None) for off in (-2, -1, 1, 2) if row + off in masks)
        self._fetch([row for row in wanted if row not in self._rows])
        if len(self._look.terms) > 1:  # who looks for one word wants what holds it
            self._read_answers([one for one in map(self._rows.get, list(wanted)[:30]) if one and one.asks])

    def _read_answers(self, asks: Iterable[Found]) -> None:
        """Read what was said after questions, past what tools were asked meanwhile: it may hold no word of them."""
        answers: dict[int, int] = {}
        for one in asks:
            after = {"session_id": one.said["session_id"], "start": one.row + 1, "limit": _ANSWERED}
            for row in () if one.tools else self._source.rows("messages_from", **after):
                text, tools, _ = self._reader(row["body"])
                if text and not tools:
                    answers[row["id"]] = answers.get(row["id"], 0) | one.mask
                    break
        self._fetch([row for row in answers if row not in self._rows])
        for row, mask in answers.items():
            if answer := self._rows.get(row):
                answer.answers |= mask

    def _fetch(self, rows: Sequence[int]) -> None:
        if not rows:
            return
        self._rows.update(dict.fromkeys(rows))
        for said in self._source.rows("search_said", rows=json.dumps(list(rows)), owner=self._owner):
            if not self._shows(said):
                self.hidden += 1
                continue
            one = Found(said["message_id"], said, self._look.masks.get(said["message_id"], 0))
            text, one.tools, one.kept = self._reader(said["body"])
            one.text = text
            one.spans = self._marks.spans(text[:_READ])
            if not one.spans and len(text) > _READ:
                one.spans = self._marks.spans(text[:_LONG])
            one.mask |= mask_of(one.spans)
            one.near = are_near(one.spans)
            one.in_a_row = bool(self._row) and self._row in text[:_READ].casefold()
            one.asks = one.text.rstrip()[-1:] in _ASKED
            self._rows[one.row] = one

    def _shows(self, said: Any) -> bool:
        if self._among.session_id:
            return bool(said["session_id"] == self._among.session_id)
        return self._among.children or not (said["origin"] == _CHILD or "/" in said["parent"])

    def _judged(self, time: tuple[float, float] | None) -> list[Found]:
        read = [one for one in self._rows.values() if one is not None]
        by_session: dict[str, list[Found]] = defaultdict(list)
        for one in sorted(read, key=attrgetter("row")):
            by_session[one.said["session_id"]].append(one)
        for said in by_session.values():
            self._beside(said)
        for one in read:
            one.score = self._score(one, by_session[one.said["session_id"]], time)
        read = [one for one in read if one.score > 0 and (one.mask or one.answers or one.timely)]
        least = _LIKELY * max((one.score for one in read), default=0.0)
        likely = sorted((one for one in read if one.near and one.score >= least), key=attrgetter("row"))
        for age, one in enumerate(likely):
            one.score *= 1.0 + _NEWER * age / len(likely)
        return sorted(read, key=lambda one: (-one.score, -one.row))

    def _beside(self, said: Sequence[Found]) -> None:
        """Give each message what stands in those beside it: they are about the same."""
        for one, other in pairwise(said):
            if other.row - one.row <= _REACH:
                one.wide |= other.mask
                other.wide |= one.mask

    def _score(self, one: Found, session: Sequence[Found], time: tuple[float, float] | None) -> float:
        worth = self._worth
        everywhere = self._title(one)
        for other in session:
            everywhere |= other.mask
        own = worth(one.mask)
        told = worth(one.mask | one.answers)
        wide = worth(one.mask | one.wide | one.answers)
        score = own + _ANSWERS * (told - own) + _BESIDE * (wide - told)
        score += _SESSION * (worth(everywhere | one.wide | one.mask | one.answers) - wide)
        if time is not None:
            one.timely = time[0] <= one.said["created"] < time[1]
            score = (score + self._look.any_words) * _IN_TIME if one.timely else score * _OUT_OF_TIME
        score *= 1.0 + _TOGETHER * one.near + _IN_A_ROW * one.in_a_row
        if one.tools:
            score *= _MACHINE
        elif one.asks:
            score *= _QUESTION
        if one.said["role"] == "tool":
            score *= _RESULT
        if len(one.text) > 1500:
            score /= 1 + 0.15 * math.log(len(one.text) / 1500)
        return score * (_SCHEDULE if one.said["origin"] in _LAST else 1.0)

    def _title(self, one: Found) -> int:
        session, title = one.said["session_id"], one.said["title"]
        if session not in self._titles:
            spans = self._marks.spans(title) if title else ()
            self._titles[session] = mask_of(spans)
        return self._titles[session]


def _likeliest(masks: Mapping[int, int], known: Mapping[int, float], many: int, *, oldest: bool) -> list[int]:
    """Return the messages whose terms say most, of those that say as much the newest."""
    held, there = Counter(masks.values()), 0
    places: dict[float, list[int]] = {}
    for mask in sorted(held, key=known.__getitem__, reverse=True):
        if there >= many and known[mask] not in places:
            break
        places.setdefault(known[mask], [])
        there += held[mask]
    for row, mask in masks.items():
        if (rows := places.get(known[mask])) is not None:
            rows.append(row)
    return [row for rows in places.values() for row in sorted(rows, reverse=not oldest)][:many]


def _newest_of_same(judged: Sequence[Found]) -> list[Found]:
    """Put the newest first of those that say the same words in the same way: what changed was said again."""
    places: Mapping[Any, list[int]] = defaultdict(list)
    for place, one in enumerate(judged):
        places[one.same].append(place)
    made = list(judged)
    for same in places.values():
        if len(same) > 1:
            newest = sorted((judged[place] for place in same), key=attrgetter("row"), reverse=True)
            for place, one in zip(same, newest, strict=True):
                made[place] = one
    return made
