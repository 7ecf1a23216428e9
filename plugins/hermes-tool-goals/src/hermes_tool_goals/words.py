"""Goals in words: what a model is told of one, and what its person is."""

import time
from collections.abc import Sequence

from hermes_tool_goals.deciding import spent
from hermes_tool_goals.grammar import shown_period
from hermes_tool_goals.values import Evidence, Goal, Round, tag
from hermes_tool_kit.telling import Happened

__all__ = [
    "about",
    "began",
    "continuation",
    "evidence_lines",
    "first",
    "happening",
    "line",
    "reminder",
    "report",
    "short",
]

_TOLD, _SHOWN = 3_000, 6  # characters of output that a model is told; lines of it that a person is shown
_NAMES = {"command": "check", "file": "file", "ask": "question"}


def first(goal: Goal) -> str:
    """Say to the model, behind the words of the person, what their goal is measured by."""
    if goal.is_loop:
        return f"\n\n{tag(goal)} ({_loop(goal)})"
    return (
        f"\n\n{tag(goal)} (This is a standing goal. After each of your turns it is looked at, and you are told to go on"
        f" until it is done. {_contract(goal)} Say where you need the person.)"
    )


def continuation(goal: Goal, done: Round | None) -> str:
    """Say to the model that it goes on, and what the last look found."""
    if goal.is_loop:
        return f"{goal.text}\n\n{tag(goal)} ({_loop(goal)})"
    failing = [one for one in (done.evidence if done else ()) if not one.passed]
    found = "".join(f"\nIt is not done. `{one.what}` → {one.status}\n{_last(one.output)}".rstrip() for one in failing)
    if done and done.why and not failing:
        found = f"\nIt is not done: {done.why}" + (f"\nLeft: {done.left}" if done.left else "")
    return (
        f"{tag(goal)} (No person wrote this: you go on with the standing goal, turn {goal.used_turns + 1} of"
        f" {goal.turns}.)\nThe goal: {goal.text}\n{_contract(goal)}{found}"
    ).rstrip()


def reminder(goal: Goal) -> str:
    """Say the goal again to a model that was told of it so long ago that it does not know it any more."""
    what = _loop(goal) if goal.is_loop else _contract(goal)
    return f"{tag(goal)} (No person wrote this: the standing goal of this conversation.)\nThe goal: {goal.text}\n{what}"


def report(goal: Goal, rounds: Sequence[Round], program: str) -> str:
    """Say how a goal ended, or why it rests, with the evidence of its last round."""
    what = "loop" if goal.is_loop else "goal"
    head = {"done": f"The {what} is done", "ended": f"The {what} is over"}.get(goal.state, f"The {what} is paused")
    last = next((one for one in reversed(rounds) if one.verdict), None)
    used = f"{goal.used_turns} {'turn' if goal.used_turns == 1 else 'turns'}"
    money = f", ${goal.used_money:.4f}" if goal.used_money else ""
    lines = [f"{head} after {used}{money}: {short(goal.text)}", f"Why: {goal.why.rstrip('.')}."]
    if last:
        lines += evidence_lines(last.evidence)
        if goal.asks and last.verdict in ("done", "not_done", "blocked") and last.why and last.why != goal.why:
            lines.append(f"- last look: {last.why}")
    if goal.state == "done" and goal.asks and not goal.is_loop and not goal.checks:
        lines.append("No check ran: it has no contract, and the judge alone decided.")
    lines.append("")
    if goal.state == "paused":
        if goal.left:
            lines.append(f"Left to do: {goal.left}")
        lines.append(f"`/{what} resume` goes on, `/{what} clear` ends it; say what you want instead at any time.")
    else:
        lines.append(f"`{program} goal show {goal.id}` has every round.")
    return "\n".join(lines)


def evidence_lines(found: Sequence[Evidence]) -> list[str]:
    """Return what checks found, each with its last lines."""
    lines: list[str] = []
    for one in found:
        when = time.strftime("%H:%M:%S", time.localtime(one.at))
        mark = "ok" if one.passed else "not yet"
        lines.append(f"- {_NAMES[one.kind]} `{' '.join(one.what.split())}` → {one.status} ({mark}, {when})")
        lines += [f"    {line}" for line in one.output.rstrip().splitlines()[-_SHOWN:]]
    return lines


def began(goal: Goal, number: int) -> str:
    """Say in a line that a turn of it begins."""
    what = "Loop" if goal.is_loop else "Goal"
    why = f": {goal.why.rstrip('.')}" if goal.why and number > 1 and not goal.is_loop else ""
    return f"{what}, turn {goal.used_turns + 1} of {goal.turns}{why}."


def happening(goal: Goal) -> Happened:
    """Return what other plugins may be told of a goal that is over, or rests; a loop has names of its own."""
    what = "loop" if goal.is_loop else "goal"
    title = {"done": f"A {what} is done", "ended": f"A {what} is over"}.get(goal.state, f"A {what} needs you")
    return Happened(
        name=f"{what}.{goal.state}",
        about=f"{goal.id}/{goal.reports}",
        when=goal.changed,
        title=title,
        person=goal.person,
        data={"goal": goal.id, "session": goal.session, "state": goal.state, "turns": goal.used_turns},
        text=f"{short(goal.text)}\n{goal.why}".strip(),
    )


def line(goal: Goal) -> str:
    """A goal in a line."""
    every = f"every {shown_period(goal.interval)} · " if goal.is_loop else ""
    turns = f"{goal.used_turns} of {goal.turns} turns"
    return f"{goal.id} · {goal.state} · {every}{turns} · {short(goal.text)}"


def about(goal: Goal, rounds: Sequence[Round]) -> str:
    """All about a goal: the contract, how far it is, what each round came to."""
    rows = [("loop" if goal.is_loop else "goal", f"{goal.text} [{goal.id}]"), ("state", _state(goal))]
    rows += [("every", shown_period(goal.interval))] if goal.is_loop else []
    rows += [("until", goal.until)] if goal.until else []
    rows += [(_NAMES[one.kind], one.what) for one in goal.checks]
    if not goal.checks and not goal.is_loop:
        rows.append(("contract", "none: the judge alone decides"))
    rows.append(("turns", f"{goal.used_turns} of {goal.turns}"))
    if goal.used_money or goal.money:
        rows.append(("money", f"${goal.used_money:.4f}{f' of ${goal.money:g}' if goal.money else ''}"))
    most = f" of {shown_period(goal.seconds)}" if goal.seconds else ""
    rows.append(("work", f"{goal.used_seconds:.1f} s{most}"))
    if goal.left:
        rows.append(("left", goal.left))
    text = [f"{name:<9} {value}" for name, value in rows]
    for one in rounds:
        if not one.verdict:
            continue
        text += ["", f"Round {one.number}: {one.verdict}{f', {one.why}' if one.why else ''}"]
        text += evidence_lines(one.evidence)
    return "\n".join(text)


def _state(goal: Goal) -> str:
    over = spent(goal) if goal.state == "active" else ""
    return f"{goal.state}{f': {goal.why}' if goal.why else ''}{f' ({over})' if over else ''}"


def _contract(goal: Goal) -> str:
    if not goal.checks:
        return "A judge decides by what you did and found, not by what you say."
    told = [
        {
            "command": f"`{one.what}` must end with 0",
            "file": f"{one.what} must be there",
            "ask": f"a judge says yes to: {one.what}",
        }[one.kind]
        for one in goal.checks
    ]
    return f"It is done when these hold, whatever you say: {'; '.join(told)}."


def _loop(goal: Goal) -> str:
    until = f" It ends when this holds: {goal.until}." if goal.until else ""
    return f"Said again every {shown_period(goal.interval)}, time {goal.used_turns + 1} of {goal.turns}.{until}"


def short(text: str) -> str:
    """A text on one line, which ends with … where it goes on."""
    one = " ".join(text.split())
    return f"{one[:160]}…" if len(one) > 160 else one


def _last(output: str) -> str:
    return output if len(output) <= _TOLD else f"…{output[-_TOLD:]}"
