"""Which folder is meant: of this machine, and of a place with a home of its own."""

import posixpath
from pathlib import Path

from hermes_core.errors import UserError

__all__ = ["NO_SKILLS", "absolute", "folder_here"]

NO_SKILLS = "scripts of skills, which lie on this machine, are not there"  # for the ``missing`` of a Wall


def folder_here(key: str) -> Path:
    """The folder of this machine that a key names; an empty key means the current one. Raises UserError."""
    try:
        folder = Path(key).expanduser().absolute() if key else Path.cwd()
    except (OSError, RuntimeError) as error:
        raise UserError(f"The folder {key or 'Hermes was started in'} cannot be found: {error}.") from error
    if not folder.is_dir():
        what = "is not a folder" if folder.exists() else "does not exist"
        raise UserError(f"The folder {folder} {what}.", hint="Name another one, or make it first.")
    return folder


def absolute(path: str, start: str, home: str) -> str:
    """A path of a place, from ``start`` where it is relative and from ``home`` behind a tilde; no path is ``start``."""
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    return posixpath.normpath(posixpath.join(start, path)) if path else start
