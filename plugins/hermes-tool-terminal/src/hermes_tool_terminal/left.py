"""Commands whose Hermes died: written down while they run, and found again by their mark."""

# ruff: noqa: PTH108, PTH123 - pathlib costs more than the rest, and each command has a note

import asyncio
import contextlib
import hashlib
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

from hermes_core.environment import MARK
from hermes_core.errors import ToolError
from hermes_core.kinds import Workspace
from hermes_core.types import ExecRequest, Session
from hermes_core.values import frozen

__all__ = ["Known", "Note", "fate", "forget_old", "running", "unknown"]

_FOLDER = "running"
_MOST = 200_000  # bytes of output that a note may hold
_OLD = 7 * 86_400.0  # seconds after which nobody comes back to a turn that was cut
_LATE = 15.0  # seconds that looking and ending may take beside waiting

# Prints what became of all that bears the mark: gone before we looked, ended while we waited, or stopped, as its time
# was over. No program is needed that a small image lacks.
_SEE = r"""
[ -r /proc/self/environ ] || exit 3
mark=$1 end=$(($(date +%s) + $2))
there() { grep -lsazx "HERMES_RUN=$mark" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3; }
[ -n "$(there)" ] || { echo gone; exit 0; }
while pids=$(there); [ -n "$pids" ] && [ "$(date +%s)" -lt "$end" ]; do sleep 0.2; done
[ -n "$pids" ] || { echo ended; exit 0; }
kill -TERM $pids 2>/dev/null
tries=0
while pids=$(there); [ -n "$pids" ] && [ $tries -lt 20 ]; do tries=$((tries + 1)); sleep 0.1; done
[ -z "$pids" ] || kill -KILL $pids 2>/dev/null
echo stopped
"""


@frozen
class Known:
    """What a note says: the mark of the command, the instant its time is over, whether Hermes ended it, its output."""

    mark: str
    until: float
    ended: bool
    output: bytes


class Note:
    """The note of one running command. What cannot be written down is not: the command runs all the same."""

    def __init__(self, data: Path, session: Session, call_id: str) -> None:
        name = hashlib.sha256(f"{session.id}\0{session.turn}\0{call_id}".encode("utf-8", "replace")).hexdigest()[:32]
        self._note, self._output = f"{data}/{_FOLDER}/{name}.json", f"{data}/{_FOLDER}/{name}.out"
        self._size = 0
        self._has_output = True  # as far as is known

    def write(self, request: ExecRequest, *, ended: bool = False) -> None:
        """Say that a command runs, or that Hermes ended it, since it ended itself."""
        said = {"mark": request.env[MARK], "until": time.time() + request.seconds, "ended": ended}
        self._has_output = self._size > 0
        with contextlib.suppress(OSError):
            try:
                _write(self._note, json.dumps(said))
            except FileNotFoundError:
                Path(self._note).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                _write(self._note, json.dumps(said))

    def heard(self, data: bytes) -> None:
        """Keep a piece of its output. Of very much the last part stays."""
        with contextlib.suppress(OSError):
            whole, self._has_output = self._size + len(data) > _MOST, True
            with open(self._output, "wb" if whole else "ab") as file:
                file.write(data[-_MOST:])
            self._size = min(len(data), _MOST) if whole else self._size + len(data)

    def read(self) -> Known | None:
        """What it says; None where there is none."""
        try:
            note, kept = Path(self._note), Path(self._output)
            said = json.loads(note.read_text())
            output = kept.read_bytes() if kept.exists() else b""
            return Known(str(said["mark"]), float(said["until"]), bool(said["ended"]), output)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def remove(self) -> None:
        """Forget it: what came of the command is known."""
        for path in (self._note, self._output)[: 1 + self._has_output]:
            with contextlib.suppress(OSError):
                os.unlink(path)


def _write(path: str, text: str) -> None:
    to = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
    try:
        os.write(to, text.encode())
    finally:
        os.close(to)


@contextlib.contextmanager
def running(note: Note, request: ExecRequest) -> Iterator[None]:
    """Have a note for as long as a command runs, and longer where nobody may come to know what came of it."""
    note.write(request)
    try:
        yield
    except asyncio.CancelledError:  # the turn may be left to whoever comes next
        note.write(request, ended=True)
        raise
    except BaseException:
        note.remove()
        raise
    note.remove()


async def fate(workspace: Workspace, known: Known) -> str:
    """Wait for a command that outlived Hermes, as long as it may take; then end it. ``gone``, ``ended``, ``stopped``.

    ``cut`` where Hermes ended it as it ended itself, empty where nobody can look. Who does not want to wait any more
    ends it. Raises ToolError.
    """
    if known.ended:
        return "cut"
    left = max(0, round(known.until - time.time()))
    try:
        return await _see(workspace, known.mark, left)
    except asyncio.CancelledError:
        await asyncio.shield(_see(workspace, known.mark, 0))
        raise


async def _see(workspace: Workspace, mark: str, seconds: int) -> str:
    # It looks from beyond the wall: what is behind one cannot see what was behind another.
    request = ExecRequest(argv=("sh", "-c", _SEE, "sh", mark, str(seconds)), seconds=seconds + _LATE, wall=False)
    result = await workspace.run(request)
    said = result.output.decode(errors="replace").split()
    return said[-1] if said and not result.status else ""


def forget_old(data: Path) -> None:
    """Forget what nobody came back to."""
    with contextlib.suppress(OSError):
        for path in (data / _FOLDER).iterdir():
            if time.time() - path.stat().st_mtime > _OLD:
                path.unlink(missing_ok=True)


def unknown() -> ToolError:
    """Nobody knows what came of it."""
    return ToolError(
        "The outcome of this command is unknown: it was cut off while it ran, and nothing was written down of it. "
        "It is not repeated on its own; check first."
    )
