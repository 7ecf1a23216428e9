"""One call of a tool's code, out of process, in the session's workspace; and what came of it."""

import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from attrs import evolve

from hermes_core.errors import ToolError
from hermes_core.kinds import Workspace
from hermes_core.types import JSON, ExecRequest, Feature
from hermes_core.values import frozen
from hermes_tool_workshop.config import Config
from hermes_tool_workshop.permissions import Permissions
from hermes_tool_workshop.walls import Walls, seal

_RESULT = 1_000_000  # bytes of one result
_OUTPUT = 4_000_000  # bytes that may be printed before it is a flood
_SHOWN = 2_000  # bytes of it that are shown
_FILE = 100_000_000  # bytes of one file that it writes
_MARGIN = 15.0  # seconds for the end of everything it started
_OLDEST = (3, 8)
_PROBE = "import sys; print('python', *sys.version_info[:2])"


@frozen(kw_only=True)
class Work:
    """Code to run, and what it may do."""

    name: str
    entry: str
    code: str
    permissions: Permissions
    seconds: int


@frozen(kw_only=True)
class Outcome:
    """What a call came to: a value, an orderly ``error``, a ``crash`` in words. ``refused``: what it tried besides.

    ``wants`` is the call of another tool that it goes on with, as a name and arguments; None where it ended.
    """

    value: JSON = None
    error: str = ""
    crash: str = ""
    printed: str = ""
    refused: Sequence[str] = ()
    wants: tuple[str, Mapping[str, JSON]] | None = None


class Interpreters:
    """Which Python a workspace has; asked once for each."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[Workspace, str] = WeakKeyDictionary()

    async def of(self, workspace: Workspace) -> str:
        """The program to start. Raises ToolError where there is none."""
        if workspace not in self._known:
            here = [sys.executable] if Feature.LOCAL in workspace.features and sys.executable else []
            for program in (*here, "python3", "python"):
                if await _has(workspace, program):
                    self._known[workspace] = program
                    break
            else:
                raise ToolError(
                    f"Tools that were written here need Python {_OLDEST[0]}.{_OLDEST[1]} or newer where commands run; "
                    "there is none.", retry=False, hint="Tell the person: install python3 in that place.",
                )  # fmt: skip
        return self._known[workspace]


async def _has(workspace: Workspace, program: str) -> bool:
    try:
        request = ExecRequest(argv=(program, "-I", "-S", "-c", _PROBE), seconds=30.0)
        words = (await workspace.run(request)).output.split()
        return words[:1] == [b"python"] and (int(words[1]), int(words[2])) >= _OLDEST
    except (ToolError, ValueError, IndexError):
        return False


@cache
def _script(name: str) -> str:
    return Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8")


async def call(
    workspace: Workspace,
    python: str,
    work: Work,
    arguments: Mapping[str, JSON],
    config: Config,
    known: Sequence[Mapping[str, JSON]] = (),
    walls: Walls | None = None,
) -> Outcome:
    """Run it once. Raises ToolError only when the place itself fails; whatever the code does is an outcome.

    ``known`` are the calls of other tools that it made so far, with their results. ``walls`` puts a wall of its own
    around it; without, it runs as a command of the workspace does.
    """
    may = work.permissions
    word = os.urandom(16).hex()
    limits = {
        "seconds": work.seconds, "memory": config.memory_mb * 1_000_000, "file": _FILE, "output": _OUTPUT,
        "shown": _SHOWN, "result": _RESULT,
    }  # fmt: skip
    job: dict[str, Any] = {
        "word": word, "inside": _script("inside"), "limits": limits, "site": bool(may.packages), "name": work.name,
        "code": work.code, "entry": work.entry, "arguments": dict(arguments), "hosts": list(may.hosts),
        "programs": list(may.programs), "reads": list(may.reads), "writes": list(may.writes),
        "calls": list(may.calls), "known": list(known), "seal": seal(may) if walls else "",
    }  # fmt: skip
    try:
        data = json.dumps(job).encode()
    except (ValueError, RecursionError):
        return Outcome(error="its arguments are nested too deeply")
    argv = (python, "-I", "-S", "-B", "-c", _script("supervisor"))
    request = ExecRequest(argv=argv, stdin=data, cwd=workspace.cwd, seconds=work.seconds + _MARGIN, limit=16_000_000)
    if walls:
        result, closed = await walls.run(workspace, may, request)
    else:
        result, closed = await workspace.run(request), []
    mark = f"\n{word} ".encode()
    said = result.output.rpartition(mark)[2].partition(b"\n")[0] if mark in result.output else b""
    try:
        outcome = _outcome(json.loads(said), work)
        return evolve(outcome, refused=[*outcome.refused, *closed]) if closed else outcome
    except (ValueError, KeyError, TypeError, RecursionError):
        tail = result.output[-300:].decode(errors="replace").strip()
        ended = "it was ended from outside" if result.status else "it gave no answer"
        return Outcome(crash=f"{ended} (exit status {result.status}){f': {tail}' if tail else ''}")


_HOW = {
    "late": "it did not end within {seconds} s and was ended with all it had started",
    "flood": "it printed more than 4 MB and was ended",
    "large": "its result is larger than 1 MB; return less, or write a file",
}


def _outcome(answer: Mapping[str, JSON], work: Work) -> Outcome:
    """What a supervisor's answer says. Raises ValueError, KeyError or TypeError when it says nothing."""
    printed = str(answer["printed"]).strip()
    if how := _HOW.get(answer["how"]):
        return Outcome(crash=how.format(seconds=work.seconds), printed=printed)
    try:
        frame = json.loads(answer["said"])
        refused = [str(one) for one in frame["refused"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        return Outcome(crash=_ending(answer), printed=printed)
    line = f" (line {frame['line']})" if frame.get("line") else ""
    if "wants" in frame:
        name, given = frame["wants"]
        return Outcome(wants=(str(name), dict(given)), printed=printed, refused=refused)
    if "error" in frame:
        return Outcome(error=str(frame["error"]), printed=printed, refused=refused)
    if "crash" in frame:
        return Outcome(crash=f"{frame['crash']}{line}", printed=printed, refused=refused)
    return Outcome(value=frame["result"], printed=printed, refused=refused)


def _ending(answer: Mapping[str, JSON]) -> str:
    status = int(answer["status"])
    if answer["how"] == "signal":
        name = signal.Signals(status).name if status in signal.valid_signals() else str(status)
        more = {"SIGXCPU": "; it used up its processor time", "SIGKILL": "; perhaps it used up its memory"}
        return f"its process was ended by {name}{more.get(name, '')}"
    if answer["said"]:
        return "its process said something that is no result"
    return f"its process ended with status {status}, without a result"
