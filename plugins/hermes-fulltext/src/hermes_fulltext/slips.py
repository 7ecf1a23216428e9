"""Words that one slip of a finger makes of each other: a letter too many, too few, a wrong one, or two turned round."""

from collections.abc import Sequence
from string import ascii_lowercase

__all__ = ["LEAST", "added", "may_be_slip", "one_slip", "shorter"]

LEAST, _MOST = 5, 14  # letters of a word in which slips are looked for: of short ones one slip makes another word


def may_be_slip(word: str) -> bool:
    """Tell whether a word that nobody ever said may be a slip of another one."""
    return LEAST <= len(word) <= _MOST and word.isascii() and word.isalpha()


def shorter(word: str) -> tuple[str, ...]:
    """Return what a word is with a letter less, or with two of them turned round: few words, quickly looked up."""
    less = (word[:at] + word[at + 1 :] for at in range(len(word)))
    turned = (word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in range(len(word) - 1))
    return tuple(one for one in dict.fromkeys((*less, *turned)) if one != word)


def added(word: str) -> tuple[str, ...]:
    """Return what a word is with a letter more, or with another letter: some hundred words."""
    more = (f"{word[:at]}{letter}{word[at:]}" for at in range(len(word) + 1) for letter in ascii_lowercase)
    other = (f"{word[:at]}{letter}{word[at + 1 :]}" for at in range(len(word)) for letter in ascii_lowercase)
    return tuple(one for one in dict.fromkeys((*more, *other)) if one != word)


def one_slip(word: str, others: Sequence[str]) -> int:
    """Return the place of the first of the others that is one slip away from a word; -1 where none is."""
    for place, other in enumerate(others):
        if -2 < len(word) - len(other) < 2 and _apart(word, other):
            return place
    return -1


def _apart(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    at = next((at for at, (mine, theirs) in enumerate(zip(short, long, strict=False)) if mine != theirs), len(short))
    if len(short) < len(long):
        return short[at:] == long[at + 1 :]
    turned = short[at : at + 2] == long[at : at + 2][::-1] and short[at + 2 :] == long[at + 2 :]
    return short[at + 1 :] == long[at + 1 :] or turned
