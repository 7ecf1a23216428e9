"""Who answers for a goal where no model is needed: it runs the command of a check, or says a report.

So a check is a turn like any other, whose command is a call of the tool ``terminal``: judged by the guard and the
rules, run in the backend behind its wall, written down before and after. And a report is an answer in its session,
which reaches its person by whatever way they are in it, once.
"""

import json
import re
import shlex
from collections.abc import AsyncIterator, Callable, Sequence

from hermes_core.errors import Refused
from hermes_core.kinds import Provider
from hermes_core.types import CallDelta, Delta, Done, Endpoint, Message, Model, Request, Text, TextDelta, ToolResult
from hermes_tool_goals.values import Check, Goal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_tool_goals.rows import Goals

__all__ = ["CHECK", "NOTHING", "REPORT", "Playing", "command_of", "order_of", "report_of", "status_of", "unfenced"]

CHECK, REPORT = "goals:check", "goals:report"
NOTHING = "(no output)"
_FENCE = re.compile(r"\A<untrusted from=[^\n>]*>\n(.*)\n</untrusted>(?:\n[^\n]*)?\Z", re.DOTALL)
_STATUS = re.compile(r"^exit (\d+)(?: \(.*\))?$")
_RUN, _SAY = "Run this check:\n", "(No person wrote this.) Say how the goal stands: "


def command_of(check: Check) -> str:
    """Return the command that looks whether a check holds; empty where none does."""
    if check.kind == "file":
        return f"ls -ld -- {shlex.quote(check.what)}"
    return check.what if check.kind == "command" else ""


def order_of(command: str, seconds: int) -> str:
    """Return what is said to it to run a command."""
    return f"{_RUN}{json.dumps({'command': command, 'timeout': seconds})}"


def report_of(goal: Goal) -> str:
    """Return what is said to it to say the report that stands with a goal."""
    return f"{_SAY}{goal.id} {goal.owed}"


def status_of(answer: str) -> tuple[bool, str, str]:
    """Say of what a check answered whether it ended well, its status, and what it printed."""
    text = answer.rstrip()
    rest, _, last = text.rpartition("\n")
    found = _STATUS.fullmatch(last)
    if found:
        return False, last, rest.rstrip()
    return True, "exit 0", "" if text == NOTHING else text


def unfenced(text: str) -> str:
    """Return what a tool said without the fence around what comes from outside."""
    found = _FENCE.match(text)
    return found[1] if found else text


class Playing(Provider):
    """Runs the check, or says the report, that it is told. No person chooses it by itself."""

    name = "goals"
    priority = 99
    default_model = "report"

    def __init__(self, goals: "Callable[[], Goals]") -> None:
        self._goals = goals

    async def models(self) -> Sequence[Model]:
        return [Model(name=name, context=1_000_000) for name in ("check", "report")]

    def window(self, model: str) -> int:
        return 1_000_000

    def at(self, endpoint: Endpoint) -> Provider:
        return self

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Say the report; or call the terminal, then repeat what it said. Raises Refused where none of both is told."""
        told, results = _last(request.messages)
        if told.startswith(_SAY):
            name, _, number = told.removeprefix(_SAY).strip().partition(" ")
            goal = await self._goals().get(name)
            is_last = goal is not None and str(goal.reports) == number
            yield TextDelta(text=goal.report if goal and is_last else "The goal has gone on since.")
            yield Done(reason="stop")
            return
        if not results:
            yield CallDelta(index=0, id="check", name="terminal", arguments=told.removeprefix(_RUN))
            yield Done(reason="tools")
            return
        # The first part is what the tool said; plugins may say something of it in others.
        text = next((part.text for part in results[-1].parts if isinstance(part, Text)), "")
        text = unfenced(text)
        if results[-1].failed:
            raise Refused(f"The check did not run: {text.strip()[:2000]}")
        yield TextDelta(text=text if text.strip() else NOTHING)
        yield Done(reason="stop")


def _last(messages: Sequence[Message]) -> tuple[str, Sequence[ToolResult]]:
    """Return what it was told last, and the results since then. Raises Refused where that was nothing of ours."""
    results: list[ToolResult] = []
    for message in reversed(messages):
        for part in message.parts:
            if isinstance(part, ToolResult):
                results.insert(0, part)
            elif isinstance(part, Text) and message.role == "user" and part.text.startswith((_RUN, _SAY)):
                return part.text, results
    raise Refused("The provider goals says reports of goals and runs their checks, and answers nothing else.")
