"""Words of a query and of tools: split as names are, without endings, with others that mean the same."""

from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path

from hermes_core.patterns import pattern

__all__ = ["joined", "lists", "meant", "stems", "terms", "words"]

_SPLIT = pattern(r"([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])")
_WORD = pattern(r"(?<!['\u2019])[^\W_]+")  # not the s of a genitive
_NOTHING = frozenset(
    word
    for line in (
        "a about an and any are as at be by can could do does for from has have her his i if in into is it its let may",
        "me my need of off on or our please should so some somebody something than that the their them there these",
        "they this to under up us want was we were when will with without would you your",
    )
    for word in line.split()
)
_ASKING = frozenset(["which", "what", "who", "all", "my", "any", "show", "list"])


def words(text: str) -> list[str]:
    """The words of a text, those of names one by one: ``listPullRequests`` and ``list_pull_requests`` have three."""
    return [word.casefold() for word in _WORD.findall(_SPLIT.sub(r"\1\3 \2\4", text))]


@cache
def _stemmer() -> "object":
    from snowballstemmer.english_stemmer import EnglishStemmer  # type: ignore[import-untyped]

    return EnglishStemmer()


@lru_cache(maxsize=20_000)
def _stem(word: str) -> str:
    return str(_stemmer().stemWord(word))  # type: ignore[attr-defined]


def stems(text: str) -> list[str]:
    """What is left of the words that say something."""
    return [_stem(word) for word in words(text) if word not in _NOTHING]


@cache
def _lexicon() -> tuple[Mapping[str, frozenset[str]], int]:
    """What each term leads to, and how many words the longest has. A term is of stems, joined by a blank."""
    found: dict[str, set[str]] = {}
    for line in _lines().splitlines():
        if not line or line.startswith("#"):
            continue
        start, arrow, rest = line.partition(">")
        terms = [_term(word) for word in (rest if arrow else line).split()]
        for term in [_term(start.strip())] if arrow else terms:
            found.setdefault(term, set()).update(other for other in terms if other != term)
    return {term: frozenset(others) for term, others in found.items()}, max(term.count(" ") + 1 for term in found)


def _term(word: str) -> str:
    return " ".join(_stem(one) for one in words(word))


def terms(text: str) -> list[str]:
    """The stems of a text, and what of it is said in several words, such as ``turn on``."""
    return [*stems(text), *(" ".join(said) for _, _, said in _phrases(text))]


def meant(text: str) -> list[tuple[list[str], frozenset[str]]]:
    """What a text is about, one after another: a word or several, and what means the same as them."""
    known, taken, found = _lexicon()[0], set[int](), list[tuple[list[str], frozenset[str]]]()
    for start, end, said in _phrases(text):
        if not taken & {*range(start, end)}:
            taken |= {*range(start, end)}
            found.append(([" ".join(said), *(one for one in said)], known[" ".join(said)]))
    said = words(text)
    for number, word in enumerate(said):
        if number not in taken and (word not in _NOTHING or word in known):
            stem = _stem(word)
            found.append(([stem] if word not in _NOTHING else [], known.get(stem, frozenset())))
    return found


def joined(text: str) -> list[str]:
    """Two words as one, each with the next: data sources, where a name has datasources."""
    return [_stem(f"{one}{other}") for one, other in pairwise(words(text))]


def lists(text: str) -> bool:
    """Whether it asks for several of something, and for nothing to be done with them: which bugs, open tickets."""
    said = words(text)
    several = any(len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) for word in said)
    return bool(said) and (said[0] in _ASKING or (several and said[0] not in _actions()))


@cache
def _actions() -> frozenset[str]:
    """Words for what can be done: those of the first part of the lexicon."""
    done = _lines().partition("# --- what it is done with")[0]
    return frozenset(word for line in done.splitlines() if not line.startswith("#") for word in line.split())


@cache
def _lines() -> str:
    return Path(__file__).with_name("lexicon.txt").read_text(encoding="utf-8")


def _phrases(text: str) -> Iterable[tuple[int, int, list[str]]]:
    """What the lexicon knows in several words, the longest first: from where to where, and its stems."""
    known, longest = _lexicon()
    said = [_stem(word) for word in words(text)]
    for size in range(longest, 1, -1):
        for start in range(len(said) - size + 1):
            if " ".join(part := said[start : start + size]) in known:
                yield start, start + size, part
