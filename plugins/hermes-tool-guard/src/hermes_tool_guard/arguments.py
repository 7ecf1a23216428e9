"""A program's arguments: options with their values, and the rest."""

from collections.abc import Iterable, Iterator, Sequence

__all__ = ["Options", "taken_apart"]


class Options:
    """A program's arguments taken apart: options with their values, and the rest."""

    def __init__(self, given: list[tuple[str, str]], rest: list[str]) -> None:
        self.given = given
        self.rest = rest

    def has(self, *names: str) -> bool:
        """Whether one of the options was given; long ones may be cut short, as GNU programs allow."""
        return any(_means(one, name) for one, _ in self.given for name in names)

    def value(self, *names: str) -> str:
        """The last value of an option, or an empty text."""
        return next((v for one, v in reversed(self.given) if any(_means(one, name) for name in names)), "")

    def values(self, *names: str) -> list[str]:
        """All values of an option."""
        return [v for one, v in self.given if any(_means(one, name) for name in names)]


def _means(given: str, name: str) -> bool:
    return given == name or (len(given) > 3 and given.startswith("--") and name.startswith(given))


def taken_apart(args: Sequence[str], valued: Iterable[str], *, single: bool) -> Options:
    """Take arguments apart. ``valued`` options take one; ``single``: long options have one dash."""
    takes = valued if isinstance(valued, frozenset) else frozenset(valued)
    given: list[tuple[str, str]] = []
    rest: list[str] = []
    words = iter(args)
    for word in words:
        if word == "--":
            rest += words
        elif word[:1] != "-" or len(word) == 1:
            rest.append(word)
        elif word[1] == "-" or single:
            name, eq, value = word.partition("=")
            given.append((name, next(words, "") if not eq and name in takes else value))
        else:
            _cluster(word, takes, words, given)
    return Options(given, rest)


def _cluster(word: str, takes: frozenset[str], words: Iterator[str], given: list[tuple[str, str]]) -> None:
    for i, letter in enumerate(word[1:], 1):
        if f"-{letter}" in takes:
            given.append((f"-{letter}", word[i + 1 :] or next(words, "")))
            return
        given.append((f"-{letter}", ""))
