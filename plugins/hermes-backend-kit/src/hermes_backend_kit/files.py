"""Files of a place that only commands reach: POSIX sh with cat, cp, mktemp and mv."""

from collections.abc import Awaitable, Callable, Sequence

from hermes_core.errors import ToolError
from hermes_core.types import ExecRequest, ExecResult

__all__ = ["PART", "READ_LIMIT", "read_by", "sh", "write_by"]

READ_LIMIT = 100_000_000  # bytes of the longest file that is read
PART = "Look at a part of it with a command such as head, tail, sed -n or grep."

Run = Callable[[ExecRequest], Awaitable[ExecResult]]

_READ = r"""
[ -e "$1" ] || { echo "no such file"; exit 44; }
[ ! -d "$1" ] || { echo "it is a folder"; exit 44; }
[ -f "$1" ] || { echo "it is a device, pipe or socket, not a file"; exit 44; }
exec cat -- "$1"
"""

# cp -p takes mode and owner along. The count guards against input that was cut off with the connection.
_WRITE = r"""
p=$1
[ ! -L "$p" ] || p=$(readlink -f -- "$p") || { echo "its link leads nowhere"; exit 1; }
[ ! -e "$p" ] || [ -f "$p" ] || { echo "it is not a regular file"; exit 1; }
d=$(dirname -- "$p"); mkdir -p -- "$d" || exit 1
t=$(mktemp "$d/.hermes.XXXXXX") || exit 1
trap 'rm -f -- "$t"' EXIT
if [ -e "$p" ]; then cp -p -- "$p" "$t"; else chmod "$(printf %o $((0666 & ~0$(umask))))" "$t"; fi || exit 1
cat >"$t" || exit 1
[ "$(wc -c <"$t")" -eq "$2" ] || { echo "the connection was cut"; exit 1; }
mv -f -- "$t" "$p"
"""


def sh(script: str, *words: str) -> Sequence[str]:
    """A script with its arguments as a command."""
    return ("sh", "-c", script, "sh", *words)


async def read_by(run: Run, place: str, path: str, where: str = "") -> bytes:
    """The bytes of the file at ``place``; a link leads to what it means there.

    Raises ToolError, which calls the file ``path`` as the model did, with ``where`` behind it (`` on build1``).
    """
    result = await run(ExecRequest(argv=sh(_READ, place), limit=READ_LIMIT))
    if result.status:
        raise ToolError(f"Cannot read {path}{where}: {_why(result)}.")
    if result.truncated:
        raise ToolError(f"Cannot read {path}{where}: it has more than {READ_LIMIT:,} bytes.", hint=PART)
    return result.output


async def write_by(run: Run, place: str, path: str, data: bytes, where: str = "") -> None:
    """Replace the file at ``place`` as a whole; a lost connection leaves the old one. Raises as ``read_by``."""
    result = await run(ExecRequest(argv=sh(_WRITE, place, str(len(data))), stdin=data))
    if result.status:
        raise ToolError(f"Cannot write {path}{where}: {_why(result)}.")


def _why(result: ExecResult) -> str:
    return result.output.decode(errors="replace").strip()[-300:].rstrip(".") or f"exit {result.status}"
