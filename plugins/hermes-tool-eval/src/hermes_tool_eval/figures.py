"""What the runs of an eval say of each variant, and of two compared."""

import math
from collections.abc import Sequence
from statistics import median

from attrs import frozen

from hermes_tool_eval.playing import Row

__all__ = ["Figures", "cells", "compared", "figures_of"]

_Z = 1.96  # of a normal distribution, for an interval that is right 19 times of 20


@frozen(kw_only=True)
class Figures:
    """What came of one variant: how many runs passed, the interval in which its true share lies 19 times of 20
    (Wilson's score interval), its mean score, what it cost in US dollars and took in seconds."""

    variant: str
    passed: int
    runs: int
    low: float
    high: float
    score: float
    cost: float
    priced: bool
    seconds: float

    @property
    def share(self) -> float:
        """The part of its runs that passed."""
        return self.passed / self.runs


def figures_of(rows: Sequence[Row]) -> list[Figures]:
    """Give the figures of each variant, in the order in which they come."""
    found = []
    for label in dict.fromkeys(row.variant for row in rows):
        mine = [row for row in rows if row.variant == label]
        passed = sum(row.ok for row in mine)
        low, high = _interval(passed, len(mine))
        found.append(
            Figures(
                variant=label, passed=passed, runs=len(mine), low=low, high=high,
                score=sum(row.score for row in mine) / len(mine), cost=sum(row.cost for row in mine),
                priced=all(row.priced for row in mine if row.calls), seconds=median(row.seconds for row in mine),
            )
        )  # fmt: skip
    return found


def cells(rows: Sequence[Row]) -> list[dict[str, object]]:
    """Give a row for each case: how many of its runs passed, by variant, and the first thing that was missing."""
    table = []
    for case in dict.fromkeys(row.case for row in rows):
        line: dict[str, object] = {"case": case}
        for label in dict.fromkeys(row.variant for row in rows):
            mine = [row for row in rows if (row.case, row.variant) == (case, label)]
            line[label] = f"{sum(row.ok for row in mine)}/{len(mine)}"
        line["why"] = next((row.error or row.why for row in rows if row.case == case and not row.ok), "")
        table.append(line)
    return table


def compared(rows: Sequence[Row], one: str, other: str) -> str:
    """Say in a sentence in how many cases the ``other`` is better, and how often chance alone would do as much.

    Cases are compared by the share of runs that passed; the probability is that of the exact sign test, two-sided.
    """
    shares: dict[str, dict[str, list[bool]]] = {}
    for row in rows:
        shares.setdefault(row.case, {}).setdefault(row.variant, []).append(row.ok)
    differences = [_mean(found[other]) - _mean(found[one]) for found in shares.values()]
    better, worse = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    counted = better + worse
    chance = min(1.0, 2 * sum(math.comb(counted, k) for k in range(max(better, worse), counted + 1)) / 2**counted)
    same = len(differences) - counted
    told = f"{other} is better than {one} in {better} cases, worse in {worse}, alike in {same}"
    return f"{told} (chance alone: {chance:.2f})" if counted else told


def _mean(values: Sequence[bool]) -> float:
    return sum(values) / len(values)


def _interval(passed: int, runs: int) -> tuple[float, float]:
    share, square = passed / runs, _Z * _Z
    middle = (share + square / (2 * runs)) / (1 + square / runs)
    half = _Z / (1 + square / runs) * math.sqrt(share * (1 - share) / runs + square / (4 * runs * runs))
    return max(0.0, middle - half), min(1.0, middle + half)
