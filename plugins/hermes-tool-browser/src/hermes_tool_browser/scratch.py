"""Folders that live as long as the Hermes that made them; what a dead one left is taken away by the next.

A browser dies with its Hermes by itself. Should one not, it is found by its mark, which lies in its folder.
"""

import contextlib
import os
import re
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

from hermes_atomic.processes import is_running
from hermes_core.environment import MARK

__all__ = ["end_marked", "made", "removed", "sweep"]

_PREFIX = "hermes-browser-"
_LONG = 25  # characters: Chromium makes a socket below, whose path has room for a hundred


def _root() -> str:
    """Where the folders lie: the temporary folder, or ``/tmp`` where its name is long."""
    root = tempfile.gettempdir()
    return root if len(root) <= _LONG else "/tmp"  # noqa: S108 - a folder of our own is made in it


def made(mark: str) -> Path:
    """A new folder for what bears this mark."""
    folder = Path(os.path.realpath(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=_root())))
    (folder / "mark").write_text(mark)
    return folder


def removed(folder: Path) -> None:
    """Take one away with all that is in it; what goes meanwhile is gone, too. No link in it is followed."""
    for place, folders, files in os.walk(folder, topdown=False):
        for name in (*files, *folders):
            path = Path(place, name)
            with contextlib.suppress(OSError):
                path.rmdir() if name in folders and not path.is_symlink() else path.unlink()
    with contextlib.suppress(OSError):
        folder.rmdir()


def sweep() -> None:
    """Take away what a Hermes left here that is dead, and end what still bears its marks."""
    for folder in Path(_root()).glob(f"{_PREFIX}*"):
        owner = re.fullmatch(rf"{_PREFIX}(\d+)-\w+", folder.name)
        if owner is None or not _is_mine(folder) or is_running(int(owner[1])):
            continue
        with contextlib.suppress(OSError):
            end_marked((folder / "mark").read_text())
        removed(folder)


def _is_mine(folder: Path) -> bool:
    try:
        return folder.lstat().st_uid == os.getuid()
    except OSError:
        return False


def end_marked(mark: str) -> None:
    """End all processes that bear a mark."""
    if len(mark) < 32:
        return
    for pid in _marked(f"{MARK}={mark}".encode()):
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def _marked(mark: bytes) -> Iterator[int]:
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (place / "environ").read_bytes().split(b"\0") and int(place.name) != os.getpid():
                yield int(place.name)
        except OSError:
            continue
