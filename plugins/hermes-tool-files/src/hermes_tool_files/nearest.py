"""Showing where a text almost is, and what differs."""

from collections import Counter
from collections.abc import Sequence
from difflib import unified_diff

from hermes_tool_files.tokens import spelled

SHOWN = 30  # lines of difference
WORK = 400_000  # comparisons of lines before the search for the nearest place is given up
ENOUGH = 0.4


def describe_nearest(lines: Sequence[str], old: str) -> str:
    """The place with the most tokens in common and how it differs, or that there is none."""
    wanted = old.strip("\n").split("\n")
    if len(lines) * len(wanted) > WORK:
        wanted = wanted[: max(1, WORK // max(1, len(lines)))]
    keys = [Counter(spelled(line)) for line in wanted]
    real = [Counter(spelled(line)) for line in lines]
    best, score = 0, 0.0
    for first in range(max(1, len(lines) - len(keys) + 1)):
        here = _alike(keys, real[first : first + len(keys)])
        if here > score:
            best, score = first, here
    if score < ENOUGH:
        return "Nothing in it is like it."
    place = lines[best : best + len(wanted)]
    diff = list(unified_diff(wanted, place, "old", "file", n=1, lineterm=""))[2:]
    more = [f"… {len(diff) - SHOWN} more lines"] if len(diff) > SHOWN else []
    shown = "\n".join([line[:300] for line in diff[:SHOWN]] + more)
    return f"The nearest place is lines {best + 1}-{best + len(place)}; - is old, + is the file:\n{shown}"


def _alike(keys: Sequence[Counter[str]], real: Sequence[Counter[str]]) -> float:
    common = sum((key & have).total() for key, have in zip(keys, real, strict=False))
    return 2 * common / max(1, sum(key.total() for key in keys) + sum(have.total() for have in real))
