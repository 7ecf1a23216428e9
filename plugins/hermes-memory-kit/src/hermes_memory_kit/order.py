"""The order of what was found: the likeliest first, and of what says something of the same thing the newest first."""

from collections.abc import Callable, Sequence
from typing import TypeVar

__all__ = ["newest_first"]

T = TypeVar("T")


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
