"""How much of what is asked for stands in a text: in any form, and without spaces in Korean, Japanese and Chinese."""

import time

from hermes_fulltext.asked import asked
from hermes_fulltext.words import OWNER, cut_words, index_words

__all__ = ["Wanted", "kept_words"]


def kept_words(text: str) -> str:
    """The words of a text as ``Wanted`` looks for them; kept beside it, they are not cut again at every search."""
    return cut_words(index_words(text, 0).removeprefix(f"{OWNER}0"))


class Wanted:
    """What somebody asks for, in words."""

    def __init__(self, query: str) -> None:
        self._plain = " ".join(query.casefold().split())
        terms = asked(query, time.time()).terms
        self._terms = [(tuple(cut_words(phrase) for phrase in term.phrases), term.weight) for term in terms]
        self._whole = sum(weight for _, weight in self._terms)

    def share(self, text: str, words: str) -> float:
        """The share of what is asked for that a text holds, from 0 to 1; ``words`` are its ``kept_words``."""
        if not self._plain:
            return 1.0
        if self._whole:
            there = sum(w for phrases, w in self._terms if any(p.strip() and p in words for p in phrases))
            if there:
                return there / self._whole
        return 1.0 if self._plain in " ".join(text.casefold().split()) else 0.0
