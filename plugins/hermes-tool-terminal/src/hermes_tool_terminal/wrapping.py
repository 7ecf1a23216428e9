"""The command that a process is begun with: on a terminal of its own, and so that it outlives Hermes.

It stays one line for one shell, so that a backend begins it in the folder and with the variables of that shell.
"""

import sys
from functools import cache
from pathlib import Path
from shlex import quote

from hermes_core.environment import MARK
from hermes_core.kinds import Workspace
from hermes_core.types import ExecRequest, Feature
from hermes_core.values import frozen

__all__ = ["Fate", "end_left", "folder_of", "look_at", "wrapped"]

_BLOCKS = 16_384  # of 512 or 1,024 bytes: the most output that is kept of one that nobody listens to
_LATE = 20.0

# The output goes to a file as well, and the status into one beside it: both are there when Hermes is not. What writes
# to a pipe that nobody reads goes on, as SIGPIPE is ignored there, and only there. The last one takes the folder away,
# so it is made anew until the file is in it.
_OUTLIVES = """f={folder}; m="$f/${mark}"; trap '' PIPE
for i in 1 2 3 4 5; do mkdir -p -m 700 "$f" && : 2>/dev/null >>"$m.out" && break; done
{{ (trap - PIPE; {command}); echo $? >"$m.status"; }} 2>&1 |
(trap '' XFSZ; ulimit -f {blocks}; exec tee -a "$m.out" 2>/dev/null)
read -r s <"$m.status" && exit "$s"; exit 137"""

_ON_A_TERMINAL = """for p in {pythons}; do command -v "$p" >/dev/null 2>&1 && exec "$p" -I -c {bridge} {argv}; done
command -v script >/dev/null 2>&1 || {{ echo 'No python3 or script here to make a terminal.'; exit 127; }}
export TERM=xterm HISTFILE=/dev/null PYTHON_HISTORY=/dev/null SHELL="$(command -v {program})"
exec script -qefc {sized} /dev/null"""

_THERE = r"""
[ -r /proc/self/environ ] || { echo unknown; exit 0; }
there() { grep -lsazx "HERMES_RUN=$mark" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3; }
"""
_LOOK = (
    r"""mark=$1 f=$2"""
    + _THERE
    + r"""
if [ -n "$(there)" ]; then echo running; else echo ended "$(cat "$f/$mark.status" 2>/dev/null)"; fi
{ tail -c +"$3" "$f/$mark.out" | tail -c 200000; } 2>/dev/null
exit 0
"""
)
_END = (
    r"""mark=$1 f=$2"""
    + _THERE
    + r"""
pids=$(there); [ -z "$pids" ] || kill -TERM $pids 2>/dev/null
tries=0
while pids=$(there); [ -n "$pids" ] && [ $tries -lt 20 ]; do tries=$((tries + 1)); sleep 0.1; done
[ -z "$pids" ] || kill -KILL $pids 2>/dev/null
rm -f "$f/$mark.out" "$f/$mark.status"
rmdir "$f" 2>/dev/null
exit 0
"""
)


@frozen
class Fate:
    """What became of a process that outlived its Hermes. ``state`` is ``running``, ``ended`` or ``unknown``."""

    state: str
    status: int | None
    output: bytes


def folder_of(workspace: Workspace, data: Path) -> str:
    """Where a place keeps the output of what outlives Hermes, as a word of a shell."""
    here = Feature.LOCAL in workspace.features
    return quote(str(data / "outlived")) if here else '"${XDG_CACHE_HOME:-$HOME/.cache}/hermes-processes"'


@cache
def _bridge() -> str:
    return Path(__file__).with_name("inside").joinpath("tty.py").read_text(encoding="utf-8")


def wrapped(program: str, command: str, *, tty: bool, outlives: str, workspace: Workspace) -> tuple[str, str, str]:
    """The shell's own command. ``outlives`` is the folder for its output, as ``folder_of`` gives it, or empty."""
    if tty:
        mine = [sys.executable] if Feature.LOCAL in workspace.features and sys.executable else []
        command = _ON_A_TERMINAL.format(
            pythons=" ".join(map(quote, ("python3", "python", *mine))),
            bridge=quote(_bridge()),
            argv=f"{program} -c {quote(command)}",
            program=program,
            sized=quote(f"stty rows 24 cols 80 2>/dev/null; {command}"),
        )
    if outlives:
        run = command if tty else f"exec {program} -c {quote(command)}"
        command = _OUTLIVES.format(folder=outlives, mark=MARK, command=run, blocks=_BLOCKS)
    return program, "-c", command


async def look_at(workspace: Workspace, mark: str, folder: str, known: int = 0) -> Fate:
    """Look what became of one and what it printed beyond the bytes that are ``known``. Raises ToolError.

    It is looked at from beyond the wall: what is behind one cannot see it.
    """
    result = await _run(workspace, _LOOK, mark, folder, str(known + 1))
    first, _, output = result.partition(b"\n")
    state, _, said = first.decode(errors="replace").partition(" ")
    became = state if state in ("running", "ended") else "unknown"
    return Fate(became, int(said) if said.isdigit() else None, output)


async def end_left(workspace: Workspace, mark: str, folder: str) -> None:
    """End all that bears a mark, and forget its output. Raises ToolError."""
    await _run(workspace, _END, mark, folder)


async def _run(workspace: Workspace, script: str, mark: str, folder: str, more: str = "") -> bytes:
    line = f"set -- {quote(mark)} {folder} {more}\n{script}"
    request = ExecRequest(argv=("sh", "-c", line), seconds=_LATE, limit=500_000, wall=False)
    return (await workspace.run(request)).output
