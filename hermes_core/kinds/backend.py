"""Places where commands run."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from hermes_core.errors import ToolError
from hermes_core.types import ExecRequest, ExecResult, Feature, Folder, Wall

__all__ = ["Backend", "Process", "Workspace"]


class Process(ABC):
    """A command running in the background of a workspace."""

    id: str

    @abstractmethod
    async def read(self) -> bytes:
        """Return output since the last read."""

    @abstractmethod
    async def poll(self) -> int | None:
        """Return the exit status, or None while it runs."""

    @abstractmethod
    async def kill(self) -> None:
        """End it and everything it started."""

    async def write(self, data: bytes) -> None:
        """Send to its standard input."""
        raise ToolError("This process takes no input.")


class Workspace(ABC):
    """A place where commands run. ``cwd`` is the folder that relative paths start from, ``also`` are further ones."""

    features: frozenset[Feature] = frozenset()
    cwd: str = ""
    also: Sequence[Folder] = ()
    wall: Wall = Wall(name="none")

    @property
    def shell_cwd(self) -> str:
        """The folder the next shell command starts in: not ``cwd`` where an earlier ``cd`` lasts."""
        return self.cwd

    @property
    def busy(self) -> bool:
        """Whether something runs in it that ``close`` would end; then it is not closed for being idle."""
        return False

    @abstractmethod
    async def run(self, request: ExecRequest) -> ExecResult:
        """Run a command to its end. A time-out kills all it started and gives status 124.

        Raises ToolError when the command cannot be started or the place cannot be reached.
        """

    async def start(self, request: ExecRequest) -> Process:
        """Start a command in the background; only with Feature.BACKGROUND."""
        raise ToolError("This workspace runs nothing in the background.")

    async def read(self, path: str) -> bytes:
        """Return the bytes of a file. Raises ToolError when there is none."""
        script = '[ ! -e "$1" ] || [ -f "$1" ] || { echo "it is no regular file" >&2; exit 1; }; exec cat -- "$1"'
        result = await self.run(ExecRequest(argv=("sh", "-c", script, "sh", path), limit=100_000_000))
        if result.status:
            raise ToolError(f"Cannot read {path}: {result.output.decode(errors='replace').strip()}")
        return result.output

    async def write(self, path: str, data: bytes) -> None:
        """Replace a file as a whole, making its folders; never a half-written file. Raises ToolError."""
        script = (
            'set -e; p=$1; d=$(dirname -- "$p"); mkdir -p -- "$d"; t=$(mktemp "$d/.hermes.XXXXXX"); '
            'trap \'rm -f -- "$t"\' EXIT; cat >"$t"; m=644; [ ! -e "$p" ] || m=$(stat -c %a -- "$p"); '
            'chmod "$m" "$t"; mv -f -- "$t" "$p"'
        )
        result = await self.run(ExecRequest(argv=("sh", "-c", script, "sh", path), stdin=data))
        if result.status:
            raise ToolError(f"Cannot write {path}: {result.output.decode(errors='replace').strip()}")

    async def close(self) -> None:
        """End what still runs and let go of the place."""


class Backend(ABC):
    """Opens places where commands run. The same key gives the same place.

    ``features`` and ``wall`` are those its places will have, as far as that is known before one is opened.
    """

    name: str
    features: frozenset[Feature] = frozenset()
    wall: Wall | None = None

    @abstractmethod
    async def open(self, key: str, also: Sequence[Folder] = ()) -> Workspace:
        """Open a place; ``key`` is the session's folder. Raises UserError when it cannot be reached.

        With Feature.FOLDERS its commands reach ``also`` under the same paths, to read or to change, and nothing that a
        link in one leads to. Without it nothing is given.
        """

    async def ready(self) -> bool:
        """Tell whether it could open a place now, so that it may be offered. Never raises; opens nothing that stays."""
        return False
