"""What the uses of a lesson say of it: a Beta posterior, from which it stays, or goes.

Before anything is known a lesson is as likely to help as not: Beta(1, 1). With ``w`` of ``n`` uses gone well the chance
that it helps more often than not is that of at most ``w`` heads in ``n + 1`` throws of a coin, exactly.
"""

from math import comb
from typing import Literal

__all__ = ["PATIENCE", "WINDOW", "helps", "mean", "verdict"]

WINDOW = 20  # the last uses count: what helped for a year and hurts since a week has to go
PATIENCE = 6  # turns that are told of a lesson which follows it in none, before it is let go of
_SURE, _DOUBT = 0.95, 0.05
_RUN = 7  # bad ends in a row that say as much of one that helped long


def helps(wins: int, uses: int) -> float:
    """Return the chance that a lesson helps more often than not."""
    return float(sum(comb(uses + 1, heads) for heads in range(wins + 1)) / 2 ** (uses + 1))


def mean(recent: str) -> float:
    """Return how often a lesson is expected to help, by its last uses: ``1`` went well, ``0`` did not."""
    return (recent.count("1") + 1) / (len(recent) + 2)


def verdict(recent: str, offered: int, uses: int) -> Literal["helps", "harms", "idle", ""]:
    """Say what is known of a lesson: it helps, it harms, nobody follows it, or nothing yet.

    Four uses that all went badly are the fewest that say that it harms, four that all went well that it helps.
    """
    chance = helps(recent.count("1"), len(recent))
    if chance < _DOUBT or recent.endswith("0" * _RUN):
        return "harms"
    if chance >= _SURE:
        return "helps"
    return "idle" if offered >= PATIENCE and not uses else ""
