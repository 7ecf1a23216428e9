"""The files below a folder as git sees them, or as they lie there: quick, bounded, ignored ones left out."""

import os
import subprocess
import time
from collections import deque
from collections.abc import Sequence

from hermes_tool_references.git import COMMAND, environment

MOST = 100_000  # files
SECONDS = 2.0
_BYTES = 16_000_000  # of names
_SKIPPED = frozenset(
    ".git .hg .svn node_modules __pycache__ .venv venv .tox .nox .mypy_cache .pytest_cache .ruff_cache .next target".split()  # noqa: E501, SIM905
)


def names_below(folder: str) -> tuple[list[str], bool]:
    """Paths of files, relative to the folder, and whether these are all of them."""
    named = _by_git(folder)
    return named if named is not None else _by_walking(folder)


def _by_git(folder: str) -> tuple[list[str], bool] | None:
    """What git knows or would know of; None outside of a repository, and where git cannot say in time."""
    command = [*COMMAND, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate", "--", "."]
    try:
        with subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=environment(),
        ) as process:  # fmt: skip
            try:
                output, _ = process.communicate(timeout=SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                return None
    except OSError:
        return None
    if process.returncode:
        return None
    names = os.fsdecode(output[:_BYTES]).split("\0")[:-1]
    names = [name for name in names if not name.endswith("/")]
    return names[:MOST], len(names) <= MOST and len(output) <= _BYTES


def _by_walking(folder: str) -> tuple[list[str], bool]:
    until, names = time.monotonic() + SECONDS, list[str]()
    waiting = deque([""])
    while waiting:
        below = waiting.popleft()
        try:
            with os.scandir(os.path.join(folder, below)) as entries:  # noqa: PTH118
                for entry in entries:
                    path = f"{below}{entry.name}"
                    if entry.is_dir(follow_symlinks=False):
                        if entry.name not in _SKIPPED:
                            waiting.append(f"{path}/")
                    elif entry.is_file(follow_symlinks=False):
                        names.append(path)
                    if len(names) >= MOST or time.monotonic() > until:
                        return names, False
        except OSError:
            continue
    return names, True


def outline(names: Sequence[str], most: int) -> list[str]:
    """The names in so many lines: folders are opened from the top down as far as they fit, the others counted."""
    root = _Folder("")
    for name in names:
        root.add(name)
    shown: dict[str, str] = root.lines()
    waiting = deque(root.folders())
    while waiting:
        folder = waiting.popleft()
        inner = folder.lines()
        if len(shown) - 1 + len(inner) <= most:
            del shown[folder.path]
            shown |= inner
            waiting.extend(folder.folders())
    lines = [shown[path] for path in sorted(shown)]
    return lines if len(lines) <= most else [*lines[: most - 1], f"… and {len(lines) - most + 1:,} more"]


class _Folder:
    """A folder of the outline."""

    def __init__(self, path: str) -> None:
        self.path, self.count = path, 0
        self._files: list[str] = []
        self._below: dict[str, _Folder] = {}

    def add(self, name: str) -> None:
        """Take a file in, by its path below this folder."""
        at: _Folder = self
        *parts, last = name.split("/")
        at.count += 1
        for part in parts:
            at = at._below.setdefault(part, _Folder(f"{at.path}{part}/"))
            at.count += 1
        at._files.append(f"{at.path}{last}")

    def folders(self) -> list["_Folder"]:
        """The folders in it."""
        return list(self._below.values())

    def lines(self) -> dict[str, str]:
        """A line for each thing in it, by path."""
        inner = {f.path: f"{f.path} ({f.count:,} file{'' if f.count == 1 else 's'})" for f in self._below.values()}
        return {**{name: name for name in self._files}, **inner}
