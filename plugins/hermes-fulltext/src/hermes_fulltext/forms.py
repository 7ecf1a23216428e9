"""The forms of an English word: what a person asks for in one of them was said in another.

They are made when somebody searches, so an index needs to know nothing of them: an older one finds them too. Whether
two forms are of one word is what the stemmer of Snowball says; what no ending makes stands in a list.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from hermes_fulltext.english import IRREGULAR

__all__ = ["forms_of"]

_SHORTEST, _LONGEST = 3, 24  # letters of a word that has forms
_MOST = 12
_DERIVED = ("er", "ers", "ion", "ions", "ation", "ly")
_HISSING = ("s", "x", "z", "ch", "sh", "o")
_VOWELS = "aeiou"
_DOUBLING = re.compile("[^aeiou]*[aeiou][^aeiouwxy]|.*(?:el|al|er|it|ur|im)")  # plan, travel, prefer, commit, occur


@lru_cache(maxsize=4096)
def forms_of(word: str) -> tuple[str, ...]:
    """Return the forms of a word, itself first. A word that is none of English has one."""
    word = word.casefold()
    if not (word.isascii() and word.isalpha() and _SHORTEST <= len(word) <= _LONGEST):
        return (word, *_irregular().get(word, ()))
    return tuple(dict.fromkeys((word, *_irregular().get(word, ()), *_regular(word))))


def _regular(word: str) -> list[str]:
    """Return what a word is with other endings; some are not said, and then nobody said them."""
    stem = _stemmed(word)
    bases = _bases(word, stem)
    made = [one for base in bases for one in _bent(base)]
    derived = [f"{base.removesuffix('e')}{ending}" for base in bases[:1] for ending in _DERIVED]
    return [one for one in dict.fromkeys((*made, *derived)) if one == word or _stemmed(one) == stem][:_MOST]


def _bases(word: str, stem: str) -> list[str]:
    """Return what a word may be without its ending: the stemmer cuts more than that, and says not whether an e was."""
    if word in (stem, f"{stem}e", f"{stem[:-1]}y"):
        return [word]
    return [f"{stem[:-1]}y"] if stem.endswith("i") else [stem, f"{stem}e"]


def _bent(base: str) -> list[str]:
    """Return a word as it stands for many, for the past and for what goes on."""
    if base.endswith("e"):
        return [base, f"{base}s", f"{base}d", f"{base[:-1]}ing"]
    if base.endswith("y") and base[-2:-1] not in tuple(_VOWELS):
        return [base, *(f"{base[:-1]}{ending}" for ending in ("ies", "ied", "ier", "ily", "iness")), f"{base}ing"]
    many = f"{base}es" if base.endswith(_HISSING) else f"{base}s"
    made = [base, many, f"{base}ed", f"{base}ing"]
    if _DOUBLING.fullmatch(base):
        made += [f"{base}{base[-1]}{ending}" for ending in ("ed", "ing", "er", "ers")]
    return made


@lru_cache(maxsize=1)
def _irregular() -> Mapping[str, tuple[str, ...]]:
    known: dict[str, dict[str, None]] = {}
    for group in IRREGULAR.split("|"):
        words = group.split()
        for word in words:
            known.setdefault(word, {}).update(dict.fromkeys(words))
    return {word: tuple(others) for word, others in known.items()}


@lru_cache(maxsize=8192)
def _stemmed(word: str) -> str:
    return str(_stemmer().stemWord(word))


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    from snowballstemmer import stemmer  # type: ignore[import-untyped]

    return stemmer("english")
