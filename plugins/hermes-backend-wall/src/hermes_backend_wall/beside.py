"""What the commands of others mean for a look of ours, where both run in one folder or one folder lies in the other.

They put back what theirs changed. So who begins meanwhile must not take it for the person's.
"""

import os
from collections.abc import Iterable

from hermes_backend_wall.beneath import State
from hermes_backend_wall.remembered import Baseline
from hermes_backend_wall.system import inside

__all__ = ["as_before", "changed_at", "is_theirs"]


def as_before(others: Iterable[Baseline], folder: str, found: dict[str, State]) -> dict[str, State]:
    """A look at a folder as it would have been before the commands of others began."""
    for one in others:
        theirs = {inner: state for path, state in one.files.items() if (inner := _moved(path, one.folder, folder))}
        for path in [path for path in found if path not in theirs and _came_with(one, folder, path, found[path])]:
            del found[path]
        for path, state in theirs.items():
            if path not in found or not found[path].same(state):
                found[path] = state
    return found


def is_theirs(others: Iterable[Baseline], folder: str, path: str, state: State) -> bool:
    """Whether another, whose commands run too, found that what stands at a path is no change of a command."""
    for one in others:
        inner = _moved(path, folder, one.folder)
        if (known := one.files.get(inner)) and known.same(state):
            return True
    return False


def changed_at(state: State) -> int:
    """When, in nanoseconds; no command sets this."""
    return state.mark[2] if len(state.mark) > 2 else 0


def _moved(path: str, folder: str, other: str) -> str:
    """A path of one folder as a path of another; empty where it lies outside."""
    full = f"{folder}/{path}"
    return full[len(other.rstrip("/")) + 1 :] if inside(full, other) else ""


def _came_with(one: Baseline, folder: str, path: str, state: State) -> bool:
    """Whether what another did not have before the commands that it runs came with them."""
    inner = _moved(path, folder, one.folder)
    if not inner or one.known.get("capped") or changed_at(state) >= one.began:
        return bool(inner) and changed_at(state) >= one.began
    place = os.path.dirname(inner)  # noqa: PTH120
    return not place or bool(one.known.get("whole") and place not in one.known.get("places", ()))
