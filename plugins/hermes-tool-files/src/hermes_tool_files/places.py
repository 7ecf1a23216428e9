"""Where paths lead in a workspace, and what a session has seen there."""

import os
import posixpath
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from pathlib import Path
from weakref import WeakKeyDictionary

from hermes_closed.closed import guarded_by
from hermes_core.errors import ToolError
from hermes_core.kinds import Workspace
from hermes_core.types import ExecRequest, Feature
from hermes_paths.places import PathRules, check_path, spell

QUICK = 30.0


def key_of(path: str) -> str:
    """The resource key of a path: absolute where that can be known without the workspace."""
    return f"file:{posixpath.normpath(os.path.expanduser(path))}"  # noqa: PTH111 - a key, not a file of ours


def is_notebook(path: str) -> bool:
    """Whether a name is that of a notebook."""
    return path.lower().endswith(".ipynb")


class Places:
    """Resolves paths; knows each workspace's home and programs, asking once."""

    def __init__(self, guarded: Iterable[Path] = (), home: Path | None = None) -> None:
        self._guarded, self._kept = tuple(guarded), home
        self._homes: WeakKeyDictionary[Workspace, str] = WeakKeyDictionary()
        self._ripgrep: WeakKeyDictionary[Workspace, bool] = WeakKeyDictionary()

    async def resolve(self, workspace: Workspace, path: str) -> str:
        """The absolute path in the workspace. Raises OutOfReach for what is no path, devices and guarded files."""
        home = await self._home(workspace) if path.startswith("~") else ""
        full = spell(path, workspace.cwd, home)
        if Feature.LOCAL in workspace.features:
            check_path(full, PathRules(cwd=workspace.cwd, guarded=self._guarded, spelled=True))
        return full

    def opener(self, workspace: Workspace, root: str, *, names: bool) -> Callable[[str], bool]:
        """What tells whether something found below a folder may be shown: its content, or only its name.

        From above Hermes' own folder nothing in that folder is shown.
        """
        if Feature.LOCAL not in workspace.features:
            return lambda path: True
        real, closed = os.path.realpath(root), self._guarded
        if self._kept and not _below(real, os.path.realpath(self._kept)):
            closed = (self._kept, *closed)
        if not names:
            return lambda path: not guarded_by(path, closed)
        # What searches follows no links below the folder, so that the spelling tells; there may be many names.
        near = [one for one in map(os.path.realpath, closed) if _below(one, real)]
        return lambda path: not any(_below(real + path.removeprefix(root), one) for one in near)

    async def _home(self, workspace: Workspace) -> str:
        if workspace not in self._homes:
            asked = await workspace.run(ExecRequest(argv=("sh", "-c", 'printf %s "$HOME"'), seconds=QUICK))
            self._homes[workspace] = asked.output.decode(errors="replace")
        return self._homes[workspace]

    async def has_ripgrep(self, workspace: Workspace) -> bool:
        """Whether ``rg`` is there."""
        if workspace not in self._ripgrep:
            asked = await workspace.run(ExecRequest(argv=("sh", "-c", "command -v rg"), seconds=QUICK))
            self._ripgrep[workspace] = asked.status == 0
        return self._ripgrep[workspace]

    async def read(self, workspace: Workspace, path: str) -> bytes:
        """The bytes of a file; a missing one is answered with names like it. Raises ToolError."""
        full = await self.resolve(workspace, path)
        try:
            return await workspace.read(full)
        except ToolError as error:
            folder, name = posixpath.split(full)
            listing = await workspace.run(ExecRequest(argv=("ls", "-1A", "--", folder), seconds=QUICK))
            names = [] if listing.status else listing.output.decode(errors="replace").splitlines()
            if name in names:
                raise
            folded = {n.casefold(): n for n in names}
            close = [folded[n] for n in get_close_matches(name.casefold(), folded, n=5, cutoff=0.5)]
            hint = f"Similar: {', '.join(posixpath.join(posixpath.dirname(path), n) for n in close)}" if close else ""
            raise ToolError(error.text, hint=hint or error.hint) from error


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
