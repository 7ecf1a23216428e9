"""What a wall stopped, seen in the output of a command: programs say "Permission denied", and not why."""

import os

from hermes_core.kinds import Workspace
from hermes_core.patterns import pattern
from hermes_core.types import ExecResult, Feature

__all__ = ["crossing"]

_LAST = 20_000  # characters of output that are looked at
_NAMED = pattern(r"['\"\u2018`]?(~?/[^\s:'\"\u2019`,;()]+)")
_REFUSED = pattern(r"Permission denied|Read-only file system|Operation not permitted|EACCES|EROFS|EPERM")
_MISSING = pattern(r"No such file or directory|ENOENT|cannot open")  # what bubblewrap does not show does not exist


def crossing(result: ExecResult, text: str, place: Workspace) -> str:
    """One line on what the wall kept a command from, and how it could be run without it; empty for nothing.

    A command that went well in spite of it gets a line for hosts only: ``curl -s`` says nothing of a refusal.
    """
    stopped = list(result.refused)
    if result.status and not stopped:
        stopped = [f"{path} is outside" for path in _outside(text[-_LAST:], place)]
    if not stopped:
        return ""
    return (
        f"[wall {place.wall.name}: {'; '.join(stopped[:3])}. If it must be, run it again with wall: false; that asks.]"
    )


def _outside(text: str, place: Workspace) -> list[str]:
    """Paths of this machine in lines that tell of a refusal, but those of the folder."""
    found: dict[str, None] = {}
    root = os.path.realpath(place.cwd)
    for line in text.splitlines():
        refused = _REFUSED.search(line)
        if not refused and not _MISSING.search(line):
            continue
        for name in _NAMED.findall(line):
            path = os.path.normpath(os.path.expanduser(name))  # noqa: PTH111 - a text
            inside = any(path == top or path.startswith(f"{top}/") for top in (root, place.cwd))
            if not inside and (refused or (Feature.LOCAL in place.features and os.path.exists(path))):  # noqa: PTH110
                found[name] = None
    return list(found)
