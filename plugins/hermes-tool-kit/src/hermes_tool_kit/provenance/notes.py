"""Which files of a project tell agents what to do: the one rule by which they are found, followed and told of."""

import os
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from hermes_core.types import Principal

__all__ = ["BELOW", "FOLDERS", "below", "chosen", "root_of", "skill_folders", "up_to"]

UPWARDS = ((".hermes.md", "HERMES.md"), ("AGENTS.md",), ("CLAUDE.md",))
BELOW = ("AGENTS.md", "CLAUDE.md", ".cursorrules")  # of each folder that is worked in; the first that is there
FOLDERS = 3_000  # that are looked through
T = TypeVar("T")


def root_of(folder: Path, owner: Principal) -> Path:
    """The root of the git repository a folder is in; the folder itself outside of one.

    It is all the same for somebody else than the owner of this Hermes: what lies above their folder is not theirs.
    """
    if owner.person != Principal().person:
        return folder
    for above in (folder, *folder.parents):
        if (above / ".git").exists():
            return above
    return folder


def up_to(folder: Path, root: Path) -> list[Path]:
    """The folder and those above it, up to the root."""
    chain = [folder, *folder.parents]
    return chain[: chain.index(root) + 1] if root in chain else [folder]


def chosen(folder: Path, root: Path, read: Callable[[Path], T | None]) -> list[T]:
    """What ``read`` gives of a prompt's notes in one of a project's folders: one file, or all rules of one editor."""
    for names in UPWARDS:
        for place in up_to(folder, root):
            for name in names:
                if found := read(place / name):
                    return [found]
    rules = [folder / ".cursorrules", *sorted((folder / ".cursor" / "rules").glob("*.mdc"))]
    return [found for path in rules if (found := read(path))]


def skill_folders(folder: Path, root: Path) -> list[Path]:
    """The folders of skills that a project brings, as seen from one of its folders; none that leads out of it."""
    found = [place / ".agents" / "skills" for place in up_to(folder, root)]
    return [path for path in found if path.is_dir() and path.resolve().is_relative_to(root.resolve())]


def below(root: Path, most: int = FOLDERS) -> Iterator[Path]:
    """The notes of the folders below a root, the nearest first; of a very large project of ``most`` folders."""
    looked, folders = 0, deque([str(root)])
    while folders and looked < most:
        folder = folders.popleft()
        names, inner = _entries(folder)
        looked += 1
        folders += inner
        if looked > 1 and (name := next((one for one in BELOW if one in names), "")):
            yield Path(folder, name)


def _entries(folder: str) -> tuple[set[str], list[str]]:
    """The names of what is no folder, and the paths of the folders, in order."""
    names, inner = set[str](), list[str]()
    try:
        with os.scandir(folder) as found:
            for entry in found:
                if not entry.is_dir(follow_symlinks=False):
                    names.add(entry.name)
                elif entry.name != ".git":
                    inner.append(entry.path)
    except OSError:
        return set(), []
    return names, sorted(inner)
