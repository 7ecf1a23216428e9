"""Go back to the store as an older release had it: to the copy that was made before its tables changed.

The kernel's tables and those of each plugin are copied before each change, so that there may be several copies: one
goes back step by step, the newest first, as least is lost by it.
"""

import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from hermes_core.errors import UserError
from hermes_tool_upkeep.look import look, opened, users_of
from hermes_tool_upkeep.salvage import put

__all__ = ["back", "copies", "version_of"]


_DRAFT = re.compile(r"~\d+$")  # of a copy that was not made to its end


def copies(path: Path) -> list[Path]:
    """Return the copies that were made before a migration, newest first: those older than what the store is now.

    A store that was brought back has the tables of its copy, so the next one is before that.
    """
    found = [one for one in path.parent.glob(f"{path.name}.before-*") if not _DRAFT.search(one.name)]
    found.sort(key=lambda one: one.stat().st_mtime, reverse=True)
    here = _versions(path)
    same = [at for at, one in enumerate(found) if _versions(one) == here]
    return found[same[-1] + 1 :] if same else found


def version_of(path: Path) -> str:
    """Return which release's tables a store has; empty where that cannot be read."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            return str(connection.execute("SELECT version_num FROM alembic_version").fetchone()[0])
    except (sqlite3.Error, UnicodeDecodeError, TypeError):
        return ""


def _versions(path: Path) -> dict[str, str]:
    """Return at which revision the kernel's tables are, and those of each plugin; nothing where none can be read."""
    try:
        with opened(path, writes=True) as connection:  # who only reads leaves files beside it
            names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            return {
                name: str(connection.execute(f'SELECT version_num FROM "{name}"').fetchone()[0])  # noqa: S608 - ours
                for name in names
                if name == "alembic_version" or name.endswith("__version")
            }
    except (UserError, TypeError):
        return {}


def back(path: Path) -> tuple[Path, Path]:
    """Put the newest copy in the place of the store: which it was, and where the store is that was there.

    Raises UserError when there is none, it is not sound, or somebody works with the store.
    """
    found = copies(path)
    if not found:
        raise UserError(f"There is no copy from before a migration beside {path}.", hint="See: hermes backup list")
    if (there := look(found[0])).level not in ("ok", "derived"):
        raise UserError(f"{found[0]} is damaged: {there.lines[0]}.", hint="See: hermes backup list")
    if busy := users_of(path):
        raise UserError(f"Somebody works in {path}: {', '.join(busy)}.", hint="End it; hermes gateway stop.")
    draft = path.with_name(f".{path.name}.back")
    shutil.copyfile(found[0], draft)
    return found[0], put(draft, path, "newer")
