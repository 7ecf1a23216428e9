"""Scripts whose Hermes died: written down while they run, so that what still lives of them is found and ended."""

import contextlib
import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hermes_core.kinds import Workspace
from hermes_core.types import ExecRequest, Session
from hermes_core.values import frozen

__all__ = ["Known", "Note", "ended", "forget_old"]

_FOLDER = "running"
_OLD = 7 * 86_400.0  # seconds after which nobody comes back to a turn that was cut
_SHOWN = 200  # characters of the arguments of a call
_LATE = 15.0  # seconds that looking may take

# Ends all that bears the mark. No program is needed that a small image lacks.
_END = r"""
[ -r /proc/self/environ ] || exit 3
there() { grep -lsazx "HERMES_RUN=$1" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3; }
tries=0
while pids=$(there "$1"); [ -n "$pids" ] && [ $tries -lt 50 ]; do kill -KILL $pids 2>/dev/null; tries=$((tries + 1)); sleep 0.1; done
[ -z "$pids" ]
"""  # noqa: E501 - a line of shell


@frozen
class Known:
    """What a note says: the mark of the process, the calls of tools that were begun, each with how it ended.

    ``over``: the script had come to its end, and only what it gave was lost.
    """

    mark: str
    calls: Sequence[tuple[str, str]]
    over: bool


class Note:
    """The note of one running script. What cannot be written down is not: the script runs all the same.

    Its lines are added one by one, as the kernel's own rows say for sure which calls there were.
    """

    def __init__(self, data: Path, session: Session, call_id: str) -> None:
        self._folder, self._whose = data / _FOLDER, _digest(session.id)
        which = _digest(f"{session.turn}\0{call_id}")
        self._path = self._folder / f"{self._whose}-{which}.jsonl"
        self._file: Any = None

    @contextlib.contextmanager
    def kept(self, mark: str) -> Iterator[None]:
        """Have it while the script runs, and until the next one of the session: what it gave may be lost till then."""
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            for earlier in self._folder.glob(f"{self._whose}-*"):
                earlier.unlink(missing_ok=True)
            self._file = self._path.open("w", buffering=1)
        try:
            self._add({"mark": mark})
            yield
            self._add({"end": ""})
        finally:
            with contextlib.suppress(OSError):
                if self._file:
                    self._file.close()
            self._file = None

    def begun(self, name: str, arguments: Mapping[str, Any]) -> None:
        """Say that a call begins."""
        if self._file:
            words = ", ".join(f"{key}={value!r}" for key, value in list(arguments.items())[:20])
            self._add({"call": f"{name}({words})"[:_SHOWN]})

    def over(self, how: str) -> None:
        """Say how it ended."""
        self._add({"over": how})

    def _add(self, line: Mapping[str, str]) -> None:
        with contextlib.suppress(OSError, ValueError):
            if self._file:
                self._file.write(json.dumps(line) + "\n")

    def read(self) -> Known | None:
        """What it says; None where there is none."""
        mark, calls, over = "", list[tuple[str, str]](), False
        try:
            for line in self._path.read_text().splitlines():
                said = json.loads(line)
                if "mark" in said:
                    mark = str(said["mark"])
                elif "end" in said:
                    over = True
                elif "call" in said:
                    calls.append((str(said["call"]), ""))
                elif calls:
                    calls[-1] = (calls[-1][0], str(said["over"]))
        except (OSError, ValueError, KeyError, TypeError):
            if not mark:
                return None
        return Known(mark, calls, over) if mark else None

    def remove(self) -> None:
        """Forget it: what came of the script is told."""
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


async def ended(workspace: Workspace, mark: str) -> bool:
    """End what still lives of a script; whether nothing does. Raises ToolError."""
    # It looks from beyond the wall: what is behind one cannot see what was behind another.
    request = ExecRequest(argv=("sh", "-c", _END, "sh", mark), seconds=_LATE, wall=False)
    return (await workspace.run(request)).status == 0


def forget_old(data: Path) -> None:
    """Forget what nobody came back to."""
    with contextlib.suppress(OSError):
        for path in (data / _FOLDER).iterdir():
            if time.time() - path.stat().st_mtime > _OLD:
                path.unlink(missing_ok=True)
