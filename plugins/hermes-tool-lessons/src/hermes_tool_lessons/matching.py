"""Which lessons a message calls for: those whose trigger stands in it, in any form of its words.

The words of triggers are kept in memory, by what changed since the last look, so that a message costs the few lessons
that its rarest words name and not all there are.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from math import log
from typing import Any

from hermes_core.values import define, frozen
from hermes_fulltext.english import FUNCTION_WORDS, IRREGULAR
from hermes_fulltext.words import CJK, folded, pairs

__all__ = ["Called", "Index", "alike", "words_of"]

_WORD = re.compile(rf"[{CJK}]+|[^\W_]+")
_CJK = re.compile(rf"[{CJK}]+")
_LONGEST = 4000  # characters of a message that are looked at
_ENOUGH = 0.6  # of what the words of a trigger are worth, for it to be called for
_POSTINGS, _CANDIDATES = 12_000, 64


@frozen
class Called:
    """A lesson that a message calls for, and how much of its trigger stands there, up to 1."""

    id: str
    share: float
    words: frozenset[str]


@define
class _Known:
    words: frozenset[str]
    scope: str
    place: str


class Index:
    """The triggers that hold for one person. ``rev`` is the last change that it knows, ``at`` when it was."""

    def __init__(self) -> None:
        self.rev, self.at = 0, 0.0
        self._known: dict[str, _Known] = {}
        self._by_word: dict[str, dict[str, None]] = {}
        self._always: dict[str, None] = {}

    def __len__(self) -> int:
        return len(self._known)

    @property
    def has_chats(self) -> bool:
        """Whether a lesson holds in one chat only."""
        return any(one.scope == "chat" for one in self._known.values())

    def put(self, lesson: str, trigger: str, scope: str, place: str) -> None:
        """Know a lesson as it is now."""
        self.drop(lesson)
        words = words_of(trigger)
        self._known[lesson] = _Known(words, scope, place)
        for word in words:
            self._by_word.setdefault(word, {})[lesson] = None
        if not words:
            self._always[lesson] = None

    def drop(self, lesson: str) -> None:
        """Know it no more."""
        known = self._known.pop(lesson, None)
        self._always.pop(lesson, None)
        for word in known.words if known else ():
            named = self._by_word[word]
            named.pop(lesson, None)
            if not named:
                del self._by_word[word]

    def called(self, text: str, places: Collection[tuple[str, str]] = ()) -> Sequence[Called]:
        """Return the lessons that a text calls for, best first; of those of a place where it is among ``places``."""
        found = dict.fromkeys(self._always, 0.0)
        there = self._there(text)
        worths: dict[str, float] = {}  # of words, each reckoned once
        left = _POSTINGS
        for word in sorted(there, key=lambda one: len(self._by_word[one])):
            named = self._by_word[word]
            left -= len(named)
            if left < 0 and found:
                break
            worth = self._worth(word)
            for lesson in named:
                found[lesson] = found.get(lesson, 0.0) + worth
        many = len(found) > _CANDIDATES
        best = sorted(found, key=found.__getitem__, reverse=True)[:_CANDIDATES] if many else list(found)
        made = (
            self._called(one, there, worths)
            for one in dict.fromkeys((*best, *self._always))
            if self._holds(one, places)
        )
        return sorted((one for one in made if one.share >= _ENOUGH), key=lambda one: (-one.share, one.id))

    def _there(self, text: str) -> frozenset[str]:
        return frozenset(word for word in _words(text[:_LONGEST]) if word in self._by_word)

    def _called(self, lesson: str, there: Collection[str], worths: dict[str, float]) -> Called:
        words = self._known[lesson].words
        stand = [word for word in words if word in there]
        if len(stand) * 3 < len(words) * 2:  # the name of a service alone does not call for all that is known of it
            return Called(lesson, 0.0, words)
        for word in words:
            if word not in worths:
                worths[word] = self._worth(word)
        whole = sum(worths[word] for word in words)
        share = sum(worths[word] for word in stand) / whole if whole else _ENOUGH
        return Called(lesson, share, words)

    def _worth(self, word: str) -> float:
        return log(1.0 + (len(self._known) + 1) / (len(self._by_word.get(word, ())) + 0.5))

    def _holds(self, lesson: str, places: Collection[tuple[str, str]]) -> bool:
        known = self._known[lesson]
        if known.scope == "project":
            return any(kind == "project" and _inside(place, known.place) for kind, place in places)
        return known.scope != "chat" or ("chat", known.place) in places


def alike(one: Collection[str], other: Collection[str]) -> bool:
    """Tell whether two triggers are called for by the same messages, for the most part."""
    both = len(set(one) & set(other))
    return both > 0 and both * 2 >= len(set(one) | set(other))


@lru_cache(maxsize=4096)
def words_of(text: str) -> frozenset[str]:
    """Return the words that a trigger is found by: those that say something, else all."""
    words = list(_words(text))
    return frozenset([one for one in words if one not in FUNCTION_WORDS] or words)


def _words(text: str) -> Iterable[str]:
    for found in _WORD.findall(text):
        if _CJK.match(found):
            yield from pairs(found).split()
        else:
            yield _base(folded(found))


@lru_cache(maxsize=32_768)
def _base(word: str) -> str:
    """Return what all forms of a word share: one of a list where no ending makes them, else its stem."""
    if word in FUNCTION_WORDS or not (word.isascii() and word.isalpha()):
        return word
    return _irregular().get(word) or str(_stemmer().stemWord(word))


@lru_cache(maxsize=1)
def _irregular() -> Mapping[str, str]:
    groups = [group.split() for group in IRREGULAR.split("|")]
    return {word: words[0] for words in reversed(groups) for word in words}


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    from snowballstemmer import stemmer  # type: ignore[import-untyped]

    return stemmer("english")


def _inside(folder: str, project: str) -> bool:
    return bool(project) and (folder == project or folder.startswith(f"{project.rstrip('/')}/"))
