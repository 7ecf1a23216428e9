"""The order of what was found: the likeliest first, and of what says something of the same thing the newest first."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from attrs import evolve

from hermes_core.types import Memo
from hermes_core.values import frozen
from hermes_memory_kit.words import Wanted

__all__ = ["Candidate", "best_first", "newest_first", "shares_words"]

T = TypeVar("T")
_HALF = 0.5  # of what is asked for, in words, for a memo to be found by them
_CLOSE = 0.1  # two memos about the same thing fit a question about as well
_SHARED = 0.6  # and have so much of their words in common
_DEPTH = 60  # the first so many are put in order among themselves


@frozen(kw_only=True)
class Candidate:
    """A memo that may be what is asked for. ``near`` is its nearness in meaning, None where nobody can say."""

    memo: Memo
    words: str
    time: float
    near: float | None = None


def best_first(
    query: str, candidates: Sequence[Candidate], floor: float, alike: Callable[[Memo, Memo], bool] | None = None
) -> list[Memo]:
    """Return the memos that fit, by their words or as near as ``floor``; of one thing the newest first.

    ``alike`` says of two whether they mean about the same, where their words do not.
    """
    asked, found = Wanted(query), list[Candidate]()
    for one in candidates:
        share, near = asked.share(one.memo.text, one.words), one.near
        if share >= _HALF or (near is not None and near >= floor):
            score = share if near is None else (share + max(near, 0.0)) / 2
            found.append(evolve(one, memo=evolve(one.memo, score=score)))
    found.sort(key=lambda one: (-one.memo.score, -one.time))

    def same(one: Candidate, other: Candidate) -> bool:
        if abs(one.memo.score - other.memo.score) > _CLOSE:
            return False
        return shares_words(one.words, other.words) or bool(alike and alike(one.memo, other.memo))

    first = newest_first(found[:_DEPTH], same, lambda one: one.time)
    return [one.memo for one in (*first, *found[_DEPTH:])]


def shares_words(one: str, other: str) -> bool:
    """Tell whether most words of two texts, as ``kept_words`` gives them, are the same."""
    mine, theirs = set(one.split()), set(other.split())
    return len(mine & theirs) >= _SHARED * max(len(mine), len(theirs), 1)


def newest_first(found: Sequence[T], alike: Callable[[T, T], bool], when: Callable[[T], float]) -> list[T]:
    """The same, where each is followed by those that are about the same thing, which begin with the newest.

    A fact that changed stands before what it was, however well the older one fits the question.
    """
    left, ordered = list(found), list[T]()
    while left:
        first = left[0]
        same = [first, *(one for one in left[1:] if alike(first, one))]
        left = [one for one in left[1:] if not any(one is other for other in same)]
        ordered += sorted(same, key=when, reverse=True)
    return ordered
