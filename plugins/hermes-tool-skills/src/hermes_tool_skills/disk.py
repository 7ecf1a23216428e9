"""Files written so that nothing is ever half there, and one process at a time."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from hermes_core.errors import UserError
from hermes_core.types import JSON
from hermes_tool_skills.tree import BadTree, Tree, apart, read_file

_PATIENCE = 30.0  # seconds to wait for another process; a change takes milliseconds


def write_file(path: Path, data: bytes) -> None:
    """Replace a file as a whole. Raises OSError; the old file is then untouched."""
    from hermes_atomic import whole  # to read needs it not

    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    whole.replace(path, data)


def write_json(path: Path, value: JSON) -> None:
    """Replace a JSON file as a whole. Raises OSError."""
    write_file(path, json.dumps(value, indent=1, ensure_ascii=True, sort_keys=True).encode() + b"\n")


def add_line(path: Path, value: Mapping[str, JSON]) -> None:
    """Add one JSON object to a file that only ever grows. Raises OSError."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        os.write(handle, json.dumps(value, ensure_ascii=True).encode() + b"\n")
        os.fsync(handle)
    finally:
        os.close(handle)


def put_tree(folder: Path, tree: Tree) -> None:
    """Make a folder hold exactly these files, each replaced as a whole. Done again, it goes on where it was cut off.

    A link in the folder's place or inside of it is taken away, never followed. Raises OSError.
    """
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        folder.unlink()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _unlink_strange(folder)
    for path, data in tree.items():
        try:
            same = read_file(folder, path) == data
        except (OSError, BadTree):
            same = False
        if not same:
            place = folder / path
            if place.is_dir():
                drop_folder(place)
            write_file(place, data)
    for below, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not apart(name)]
        for name in files:
            place, draft = Path(below, name), name.startswith(".") and name.endswith(".new")
            if place.relative_to(folder).as_posix() not in tree and (draft or not apart(name)):
                place.unlink()
    for below, folders, _ in os.walk(folder, topdown=False):
        for name in folders:
            with suppress(OSError):  # not empty: it holds something that is no part of a skill, such as .git
                Path(below, name).rmdir()


def _unlink_strange(folder: Path) -> None:
    """Take away what is neither a plain file nor a folder, and files that stand where a folder must be."""
    for below, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not apart(name)]
        for name in (*folders, *files):
            path = Path(below, name)
            if path.is_symlink() or not (path.is_dir() or path.is_file()):
                path.unlink()


def drop_folder(folder: Path) -> None:
    """Delete a folder and all in it, quietly; links in it are not followed."""
    import shutil

    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Keep other processes, and other threads of this one, out until the block ends. Raises UserError when busy."""
    from hermes_atomic import whole

    try:
        with whole.held(path, seconds=_PATIENCE):
            yield
    except whole.Busy:
        hint = "Try again later; nothing was changed."
        raise UserError(f"Another process has changed skills for {_PATIENCE:.0f} s.", hint=hint) from None
