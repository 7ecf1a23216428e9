"""The files that guard the agent, hold its secrets or its memory of what was done: closed to every tool."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from hermes_closed.closed import NO_NAME, closed, closed_but, expanded, guarded_by, opened
from hermes_core.config.paths import Home
from hermes_core.config.settings import Settings
from hermes_core.types import Session

__all__ = ["guarded_paths", "guarded_place", "read_only", "readable"]


def guarded_paths(settings: Settings) -> list[Path]:
    """Return those of this home that nobody but the house reads or writes, and all of the other profiles beside it."""
    home = settings.home
    caches = [
        home.cache / name for name in ("config.json", "plugins.json", "keys.json", "faults.json", "crash_markers")
    ]
    own = [*_kept(home), *caches, home.base / "active_profile"]
    if home.root == home.base:
        return [*own, home.base / "profiles"]
    others = [p for p in sorted((home.base / "profiles").glob("*")) if p != home.root]
    main = Home(home.base, brand=home.brand)
    return [*own, *others, *_kept(main), *read_only(main)]


def _kept(home: Home) -> list[Path]:
    database = [home.database.with_name(home.database.name + end) for end in ("", "-wal", "-shm")]
    named = [home.root / name for name in ("SOUL.md", "memories", "sessions", "skills.lock")]
    data = home.root / "data"  # what plugins keep for themselves, such as which code a person said yes to
    files = [home.managed, home.config_file, home.env_file, home.lock_file]
    return [*files, *database, home.plugins, home.logs, data, *named]


def read_only(home: Home) -> list[Path]:
    """Return what no tool may write either, and of which a call may read what is ``readable``."""
    return [home.cache, home.root / "skills"]


def readable(home: Home, session: Session) -> tuple[str, ...]:
    """Return what a session's calls may read of it: skills, and long outputs of its own and of the one it works for."""
    mine = [name for name in (session.id, session.parent) if name and "/" not in name]  # that is a plugin's
    return (f"{home.root}/skills", *(f"{home.outputs}/{name}" for name in mine))


def guarded_place(place: str, cwd: str, guarded: Sequence[Path], readable: Sequence[str] = ()) -> str:
    """Say why a tool may not be let at a file or folder, or nothing: what reads a folder reads what is in it.

    ``readable`` are folders among the guarded ones that the call may read.
    """
    if re.search(NO_NAME, place):
        return "no file can have such a name"
    full = os.path.join(cwd or "/", expanded(place))  # noqa: PTH118 - in any file system's spelling
    shut, free = tuple(guarded), tuple(readable)
    if free and opened(free).holds(full):
        shut = closed_but(shut, free)
    if reason := closed(shut).why(place or ".", cwd, folders=True):
        return reason
    guard = guarded_by(full, shut)
    return f"{Path(guard).name} belongs to Hermes itself and is closed to tools" if guard else ""
