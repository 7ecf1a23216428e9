"""Patterns, compiled when they are first used, and tables of them in text files."""

import re
from functools import cache, lru_cache
from pathlib import Path

__all__ = ["compiled", "rule", "table", "text_of", "tree", "words"]


@lru_cache(512)
def compiled(pattern: str | re.Pattern[str]) -> re.Pattern[str]:
    """The pattern; a dictionary's look-up after its first use."""
    return re.compile(pattern)


@cache
def rule(name: str) -> re.Pattern[str]:
    """The pattern of a name in ``grammar.txt``."""
    return re.compile(text_of(name))


def text_of(name: str) -> str:
    """What is written under a name in ``grammar.txt``."""
    return re.sub(r"\{\{([a-z.]+)\}\}", lambda found: text_of(found[1]), _grammar()[name])


@cache
def _grammar() -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for (line,) in table("grammar", "\n"):
        if re.fullmatch(r"\[\w+\.\w+\]", line):
            lines = found[line[1:-1]] = []
        else:
            lines.append(line)
    return {name: ("\n" if lines[0].startswith(("(?x)", "(?ix)")) else "").join(lines) for name, lines in found.items()}


@cache
def words(kind: str) -> list[str]:
    """The words of a kind in ``words.txt``."""
    return [word.replace("\\s", " ") for first, *rest in table("words") if first == kind for word in rest]


@cache
def table(name: str, sign: str = " ") -> list[list[str]]:
    """The lines of a text file beside this one, without its comments, each in the parts that a sign divides."""
    lines = Path(__file__).with_name(f"{name}.txt").read_text("utf-8").splitlines()
    return [line.split(sign) for line in lines if line and not line.startswith("# ")]


def tree(words: list[str]) -> str:
    """A pattern that finds the shortest of some literals, without trying each."""
    if "" in words:
        return ""
    below: dict[str, list[str]] = {}
    for word in words:
        below.setdefault(word[0], []).append(word[1:])
    branches = [re.escape(letter) + tree(rest) for letter, rest in sorted(below.items())]
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"
