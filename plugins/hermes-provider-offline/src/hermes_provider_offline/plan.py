"""The plan: steps from the last task, replayed over what is done already, up to the next call or the answer.

Nothing is kept between requests. Each step is a generator that yields calls and is fed their outcomes; the calls that
the history holds are answered from it, so the first call that it does not hold is the next one to make.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from attrs import evolve

from hermes_provider_offline import acts_files as files
from hermes_provider_offline import acts_memory as memory
from hermes_provider_offline import acts_work as work
from hermes_provider_offline.clause import Clause, keep_body, mask, split
from hermes_provider_offline.history import History, Outcome, key_of
from hermes_provider_offline.plan_state import Act, PlanState
from hermes_provider_offline.rules import kind_of, understand
from hermes_provider_offline.speech import not_understood, part_not_understood, too_long
from hermes_provider_offline.step import Step
from hermes_provider_offline.toolbox import Call, CannotDo, Toolbox

CALLS = 24  # tool calls for one task
STEPS = 20  # requests of one task
_LONGEST = 16_000  # characters of a task that are looked at
_UNQUOTED = 2_000  # of them outside of quotes; the rules' patterns are for sentences, not for pages
_ANSWER = 24_000  # characters of an answer

_ACTS: Mapping[str, Callable[[Step, PlanState], Act]] = {
    "list": files.act_list,
    "find": files.act_find,
    "count_files": files.act_count_files,
    "read": files.act_read,
    "headings": files.act_headings,
    "head": files.act_head,
    "tail": files.act_tail,
    "count": files.act_count,
    "which": files.act_which,
    "write_unclear": work.act_write_unclear,
    "statement": memory.act_statement,
    "known": memory.act_known,
    "outline": files.act_outline,
    "search": work.act_search,
    "per_file": work.act_per_file,
    "run": work.act_run,
    "run_unclear": work.act_run_unclear,
    "write": work.act_write,
    "append": work.act_append,
    "edit": work.act_edit,
    "tool": work.act_tool,
    "remember": memory.act_remember,
    "forget": memory.act_forget,
    "question": memory.act_question,
    "sessions": memory.act_sessions,
    **dict.fromkeys(("help", "identity", "connect", "greet", "thanks", "bye", "time"), memory.act_talk),
    "unknown": memory.act_unknown,
}
_CHANGING = frozenset({"write", "append", "edit", "run", "tool"})


class _Spent(Exception):
    """The calls allowed for one task are used up."""


class _Record:
    """What was done for this task. Gives each outcome once; asked again, the same, unless something"
    " changed since."""

    def __init__(self, history: History) -> None:
        self._left: defaultdict[str, deque[Outcome]] = defaultdict(deque)
        for name, arguments, outcome in history.done:
            self._left[key_of(name, arguments)].append(outcome)
        self._known: dict[str, Outcome] = {}
        self._made = len(history.done)

    def outcome(self, call: Call) -> Outcome | None:
        """What the call came to, or None when it has yet to be made. Raises _Spent when it may not be."""
        key = key_of(call.name, call.arguments)
        if key in self._known:
            return self._known[key]
        if self._left[key]:
            found = self._left[key].popleft()
            if call.changes and not found.failed:
                self._known.clear()
            self._known[key] = found
            return found
        if self._made >= CALLS:
            raise _Spent
        return None


def next_move(history: History, toolbox: Toolbox, clock: Callable[[], datetime]) -> Call | str:
    """The next call to make, or the answer when nothing is left to do."""
    if len(history.task) > _LONGEST or len(mask(keep_body(history.task))[0]) > _UNQUOTED:
        return too_long(len(history.task))
    steps = plan_of(history.task)
    if not any(step.kind != "unknown" for step in steps):
        return not_understood(toolbox)
    state, record = PlanState(history, toolbox, clock), _Record(history)
    said: list[str] = []
    for step in steps[:STEPS]:
        try:
            done = _walk(step, state, record)
        except _Spent:
            said.append(f"I stop here: {CALLS} tool calls are the most I make for one request.")
            break
        if isinstance(done, Call):
            return done
        said.append(done)
    if len(steps) > STEPS:
        said.append(f"I did the first {STEPS} requests and left out {len(steps) - STEPS}.")
    answer = "\n\n".join(said)
    return (
        answer if len(answer) <= _ANSWER else f"{answer[:_ANSWER]}\n… (cut: the answer was {len(answer):,} characters)"
    )


def _walk(step: Step, state: PlanState, record: _Record) -> Call | str:
    """Go through a step as far as the record reaches."""
    if state.troubled and step.kind in _CHANGING:
        return "Because something before it failed, I did not do this: " + _told(step)
    act = _ACTS[step.kind](step, state)
    try:
        call = next(act)
        while (outcome := record.outcome(call)) is not None:
            call = act.send(outcome)
        return call
    except StopIteration as end:
        return str(end.value)
    except CannotDo as reason:
        state.troubled = True
        return str(reason)


def _told(step: Step) -> str:
    return " ".join(filter(None, (step.kind, step.text, step.path)))[:200]


def plan_of(task: str) -> Sequence[Step]:
    """The steps of a task, in order; what no rule knows is a step too, so that it is not passed over in silence."""
    steps = [understand(clause) or _unknown(clause) for clause in split(task.strip(), kind_of)]
    return [
        evolve(step, quiet=step.kind in ("read", "search") and following is not None and _goes_on(step, following))
        for step, following in zip(steps, [*steps[1:], None], strict=False)
    ]


def _unknown(clause: Clause) -> Step:
    return Step(kind="unknown", text=part_not_understood(clause))


def _goes_on(step: Step, following: Step) -> bool:
    wanted = ("per_file",) if step.kind == "search" else ("headings", "head", "tail", "count", "outline")
    return following.kind in wanted and following.here
