"""How a goal goes on after a round: pure, so that it can be tried with any story."""

import re
from collections.abc import Sequence

from attrs import evolve

from hermes_tool_goals.judge import Opinion
from hermes_tool_goals.values import Evidence, Goal, Round, digest

__all__ = ["decide", "proof_of", "spent", "stuck"]

_UNJUDGED = "a judge has to look at it: auxiliary.goal_judge names another model"
_GARBAGE, _FAILURES = 3, 3  # in a row, after which a person is needed
_BACKOFF = (10.0, 60.0)  # seconds after the first and the second turn that failed
# What differs from run to run, and says nothing: how long it took, what the clock said, where it was put, who ran.
_NOISE = re.compile(
    r"\b\d+(?:\.\d+)?\s?(?:ms|s|secs?|seconds?|m|min|minutes?)\b|\b\d{1,2}:\d{2}(?::\d{2})?(?:\.\d+)?\b"
    r"|\b0x[0-9a-f]+\b|/tmp/\S+|\bpid \d+\b",
    re.IGNORECASE,
)


def proof_of(found: Sequence[Evidence]) -> str:
    """Return a name for what failed, and how: the same for the same words. Empty where nothing failed."""
    failed = [f"{one.number}\0{one.status}\0{_NOISE.sub('#', one.output)}" for one in found if not one.passed]
    return digest("\0".join(failed))


def spent(goal: Goal) -> str:
    """Say which part of the budget is used up; empty while something is left of each."""
    if goal.turns and goal.used_turns >= goal.turns:
        return f"its {goal.turns} turns are used up" if goal.turns > 1 else "its turn is used up"
    if goal.money and goal.used_money >= goal.money:
        return f"its ${goal.money:g} are used up (${goal.used_money:.4f})"
    if goal.seconds and goal.used_seconds >= goal.seconds:
        return f"its {goal.seconds:.0f} seconds are used up ({goal.used_seconds:.0f})"
    return ""


def stuck(done: Round, before: Sequence[Round], most: int) -> str:
    """Say why it does not get on: ``most`` rounds in a row came to the same. ``before`` are those before, in order."""
    rows = [*before, done]
    last = rows[-most:]
    if len(last) < most:
        return ""
    proofs, files, acts = ({getattr(one, name) for one in last} for name in ("proof", "files", "acts"))
    if len(proofs) == 1 and done.proof and len(files) == 1:
        return f"the same check failed {most} times with the same words, and no file was changed"
    if len(acts) == 1:
        return f"{most} turns did {'the same' if done.acts else 'nothing but talk'}"
    longer = rows[-2 * most :]
    if len(longer) == 2 * most and done.proof and len({one.proof for one in longer}) == 1:
        return f"the same check failed {2 * most} times with the same words, whatever was changed"
    return ""


def decide(
    goal: Goal, done: Round, before: Sequence[Round], opinion: Opinion | None, *, state: str, error: str, now: float,
    most: int, goes_on: bool = False,
) -> tuple[Goal, Round]:  # fmt: skip
    """Return the goal and its round as they are after it. ``state`` is how the turn ended, ``error`` why it failed.

    ``opinion`` is the judge's, where one is asked; None where it was not asked, or said nothing that can be used.
    A turn that was stopped pauses it, unless its person said since that it ``goes_on``, or says something else.
    """
    failing = [one for one in done.evidence if not one.passed]
    if state == "interrupted":
        if goes_on:
            return _goes_on(goal, evolve(done, verdict="stopped", why="its turn was stopped"), (), now, most)
        return _paused(goal, done, "stopped", "its turn was stopped", goal.left)
    if state == "failed":
        return _failed(goal, done, error, now)
    goal = evolve(goal, failures=0)
    if failing:
        why = "; ".join(f"{_name(one)} → {one.status}" for one in failing)
        return _goes_on(goal, evolve(done, verdict="not_done", why=why, left=_left(failing)), before, now, most)
    if not goal.asks:
        if not goal.ends:  # a loop without a condition
            return _goes_on(goal, evolve(done, verdict="not_done"), before, now, most)
        return _ended(goal, evolve(done, verdict="done", why="every check passed"))
    if opinion is None:
        goal = evolve(goal, garbage=goal.garbage + 1)
        why = "the judge gave no answer that can be used"
        if goal.garbage >= _GARBAGE:
            return _paused(goal, done, "no judge", f"{why}, {goal.garbage} times in a row", _UNJUDGED)
        done = evolve(done, verdict="not_done", why=f"{why}, so it counts as not done", left=_UNJUDGED)
        return _goes_on(goal, done, before, now, most)
    goal, done = evolve(goal, garbage=0), evolve(done, why=opinion.why, left=opinion.left)
    if opinion.verdict == "done":
        return _ended(goal, evolve(done, verdict="done"))
    if opinion.verdict == "blocked" and not goal.is_loop:
        return _paused(goal, done, "blocked", f"it needs you: {opinion.why}", opinion.left)
    return _goes_on(goal, evolve(done, verdict="not_done"), before, now, most)


def _goes_on(goal: Goal, done: Round, before: Sequence[Round], now: float, most: int) -> tuple[Goal, Round]:
    if why := spent(goal):
        if goal.is_loop:
            return _told(evolve(goal, state="ended", why=why, left="")), done
        return _paused(goal, done, done.verdict, why, done.left or done.why)
    if not goal.is_loop and (why := stuck(done, before, most)):
        return _paused(goal, done, "stuck", f"it is stuck: {why}", done.left or done.why)
    at = now + goal.interval if goal.is_loop else 0.0
    return evolve(goal, phase="turn", round=goal.round + 1, why=done.why, left=done.left, at=at), done


def _failed(goal: Goal, done: Round, error: str, now: float) -> tuple[Goal, Round]:
    goal = evolve(goal, failures=goal.failures + 1)
    done = evolve(done, verdict="failed", why=f"its turn failed: {error}")
    if goal.failures >= _FAILURES or spent(goal):
        why = f"{goal.failures} turns in a row failed: {error}" if goal.failures >= _FAILURES else spent(goal)
        return _paused(goal, done, "failed", why, goal.left)
    at = now + max(_BACKOFF[goal.failures - 1], goal.interval)
    return evolve(goal, phase="turn", round=goal.round + 1, why=done.why, at=at), done


def _paused(goal: Goal, done: Round, verdict: str, why: str, left: str) -> tuple[Goal, Round]:
    """Let it rest, ready to go on with another round."""
    after = evolve(goal, state="paused", phase="turn", round=goal.round + 1, why=why, left=left, failures=0, garbage=0)
    return _told(after), evolve(done, verdict=verdict, why=done.why or why, left=left)


def _ended(goal: Goal, done: Round) -> tuple[Goal, Round]:
    return _told(evolve(goal, state="done", why=done.why, left="")), done


def _told(goal: Goal) -> Goal:
    return evolve(goal, owed=goal.reports + 1, reports=goal.reports + 1)


def _name(one: Evidence) -> str:
    return f"{one.what}" if one.kind == "file" else f"`{' '.join(one.what.split())[:120]}`"


def _left(failing: Sequence[Evidence]) -> str:
    return "; ".join(f"{_name(one)} must {'be there' if one.kind == 'file' else 'end with 0'}" for one in failing)
