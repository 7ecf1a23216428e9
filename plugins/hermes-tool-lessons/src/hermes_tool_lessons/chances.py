"""What the uses of a lesson say of it, by how turns go without one.

A lesson is of one of two kinds: turns go with it as they go without, or the odds of a good end are larger by a factor.
How turns go without is known by those that called for a lesson on trial and were told none (a control arm, drawn by
chance), of the same trigger as far as there are any, else of all of that person's. The factor, and how many lessons
are of the better kind, are estimated from all that is known of that person's lessons (a mixture of two binomials, by
expectation and maximisation, from a cautious beginning). Where ends have nothing to do with lessons, the share of the
better kind falls towards 0, and nothing is let in; and as nothing proves that any lesson helps, ever less is tried.

A lesson stays once it is of the better kind by 98 in 100. It goes once its last uses are ``exp(7)`` times as likely if
it were none of them: the bounds of a sequential test (Wald, 1945), which may be looked at after each use.
"""

from collections.abc import Sequence
from math import exp, log
from typing import Literal

from hermes_core.values import frozen
from hermes_tool_lessons.values import Lesson

__all__ = ["PATIENCE", "WINDOW", "Rates", "estimate", "helps", "mean", "tried_share", "verdict"]

WINDOW = 40  # the last uses count: what helped for a year and hurts since a week has to go
PATIENCE = 6  # turns that are told of a lesson which follows it in none, before it is let go of
_SURE, _GONE = 0.98, -6.9  # of being of the better kind; the log of how much likelier the worse one is
_HELD, _FIRST = 0.1, 20  # share of turns that are told none to compare; until there are so many, half of them
_HOPE, _LEAST = 0.04, 0.03  # chance that any that is tried helps, below which less is tried; and never less than this
_PROOF, _PATIENT = 10.0, 200  # that some lesson helps at all, and the ends after which less is tried without it
_CLASS = 12.0  # turns of a person that weigh as much as those of one trigger
_EFFECT, _SMALLEST, _LARGEST = 3.0, 1.4, 7.0  # log odds: at the beginning, and the bounds
_PRIOR, _WEIGHT = 0.1, 10.0  # lessons of the better kind at the beginning, and how many lessons that counts for


@frozen(kw_only=True)
class Rates:
    """What is known of one person's turns. ``held`` turns were told none to compare, ``won`` of them went well.

    ``once`` and ``often`` are the shares of lessons that help, of those taught by one event and by several; ``effect``
    is the factor on the odds, as a logarithm; ``seen`` how many ends they were estimated from; ``proof`` how much
    likelier those are than if no lesson helped, as a logarithm.
    """

    held: int = 0
    won: int = 0
    once: float = _PRIOR
    often: float = _PRIOR
    effect: float = _EFFECT
    seen: int = 0
    proof: float = 0.0


def helps(lesson: Lesson, rates: Rates) -> float:
    """Return the chance that turns go better with a lesson than without, 0 to 1."""
    prior = rates.often if len(lesson.sources) > 1 else rates.once
    idle = 0 if lesson.uses else lesson.offered  # what is told and not followed hardly helps
    return _share(_logit(prior) - idle + _weight(lesson.recent, *_ends(lesson, rates)))


def mean(recent: str) -> float:
    """Return how often a lesson is expected to help, by its last uses: ``1`` went well, ``0`` did not."""
    return (recent.count("1") + 1) / (len(recent) + 2)


def verdict(lesson: Lesson, rates: Rates) -> Literal["helps", "harms", "idle", ""]:
    """Say what is known of a lesson: it helps, it does not, nobody follows it, or nothing yet."""
    if lesson.uses and _weight(lesson.recent, *_ends(lesson, rates)) < _GONE:
        return "harms"
    if len(lesson.recent) > 2 and helps(lesson, rates) >= _SURE:
        return "helps"
    return "idle" if lesson.offered >= PATIENCE and not lesson.uses else ""


def tried_share(hopes: Sequence[float], rates: Rates) -> float:
    """Return in which share of the turns that call for them one of these lessons is tried; the others compare."""
    none = 1.0
    for hope in hopes:
        none *= 1.0 - hope
    share = (1.0 - _HELD) * min(1.0, (1.0 - none) / _HOPE)
    if rates.proof < _PROOF and rates.seen > _PATIENT:  # so many ends, and nothing says that any lesson helps
        share *= _PATIENT / rates.seen
    return max(_LEAST, min(share, 0.5) if rates.held < _FIRST else share)


def estimate(lessons: Sequence[Lesson], rates: Rates, seen: int) -> Rates:
    """Return the rates anew, from what is known of all lessons of a person."""
    once, often, effect = rates.once, rates.often, rates.effect
    known = [(one.wins, one.uses, _ends(one, rates)[0], len(one.sources) > 1) for one in lessons if one.uses]
    for _ in range(3):
        better = [
            _share(_logit(often if again else once) + _likelier(wins, uses, low, _share(_logit(low) + effect)))
            for wins, uses, low, again in known
        ]
        first = [one for one, (*_, again) in zip(better, known, strict=True) if not again]
        again = [one for one, (*_, again) in zip(better, known, strict=True) if again]
        once = max(0.001, (_PRIOR * _WEIGHT + sum(first)) / (_WEIGHT + len(first)))
        often = max(0.001, (once * _WEIGHT + sum(again)) / (_WEIGHT + len(again)))
        effect = _fitted(effect, [(b, w, n, low) for b, (w, n, low, _) in zip(better, known, strict=True)])
    proof = 0.0
    for wins, uses, low, several in known:
        share, more = often if several else once, _likelier(wins, uses, low, _share(_logit(low) + effect))
        proof += log(1.0 - share + share * exp(min(more, 50.0)))
    return Rates(held=rates.held, won=rates.won, once=once, often=often, effect=effect, seen=seen, proof=proof)


def _fitted(effect: float, known: Sequence[tuple[float, int, int, float]]) -> float:
    """Return the effect that explains the ends of the better kind best (Newton), with some of the first guess."""
    known = [(1.0, 4, 5, 0.2), *(one for one in known if one[0] > 0.01)]
    for _ in range(3):
        slope = curve = 0.0
        for weight, wins, uses, low in known:
            share = _share(_logit(low) + effect)
            slope += weight * (wins - uses * share)
            curve += weight * uses * share * (1.0 - share)
        effect += max(-1.0, min(1.0, slope / max(curve, 1e-6)))
        effect = max(_SMALLEST, min(_LARGEST, effect))
    return effect


def _ends(lesson: Lesson, rates: Rates) -> tuple[float, float]:
    everywhere = (rates.won + 1.0) / (rates.held + 4.0)
    low = (lesson.held_won + _CLASS * everywhere) / (lesson.held + _CLASS)
    low = max(0.01, min(0.97, low))
    return low, min(0.99, _share(_logit(low) + rates.effect))


def _weight(recent: str, low: float, high: float) -> float:
    return _likelier(recent.count("1"), len(recent), low, high)


def _likelier(wins: int, uses: int, low: float, high: float) -> float:
    high = min(0.99, high)
    return wins * log(high / low) + (uses - wins) * log((1.0 - high) / (1.0 - low))


def _logit(share: float) -> float:
    return log(share / (1.0 - share))


def _share(logit: float) -> float:
    return 1.0 / (1.0 + exp(-max(-40.0, min(40.0, logit))))
