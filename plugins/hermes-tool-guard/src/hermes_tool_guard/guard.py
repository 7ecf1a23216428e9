"""The guard itself: a command and a place in, a verdict out."""

import os
from collections.abc import Callable, Sequence
from functools import lru_cache

from hermes_tool_guard.judgement import Class, Decided, Judgement
from hermes_tool_guard.places import Places
from hermes_tool_guard.scene import Scene
from hermes_tool_guard.shell import judge_code

__all__ = ["check", "guarded_paths"]


def check(
    command: str,
    *,
    root: str,
    folder: str = "",
    guarded: Sequence[str] = (),
    home: str = "",
    record: Callable[[Sequence[str]], None] | None = None,
) -> Judgement:
    """Judge a shell command that would start in ``folder``, which is ``root`` unless given.

    ``root`` is the working folder, ``guarded`` what belongs to Hermes itself. ``record`` is told of every program with
    its arguments. Nothing is run; of the disk only links are looked at. Raises nothing.
    """
    places = Places(root, home or os.path.expanduser("~"), guarded)  # noqa: PTH111
    start = folder or root or "/"
    scene = Scene(places, start)
    scene.record = record
    try:
        judge_code(scene, command, (start,))
    except Decided:
        pass
    except RecursionError:
        scene.ask(Class.UNCLEAR, "is nested too deeply to follow")
    return scene.result()


@lru_cache(maxsize=4)
def guarded_paths(home: str) -> tuple[str, ...]:
    """What no command may touch in a home of Hermes: settings, keys, plugins, the store, other profiles."""
    names = ("config.yaml", ".env", "plugins.lock", "plugins", "state.db", "state.db-wal", "state.db-shm", "active_profile")
    own = [os.path.join(home, name) for name in names]  # noqa: PTH118
    parent = os.path.dirname(home)  # noqa: PTH120
    if os.path.basename(parent) != "profiles":  # noqa: PTH119
        return (*own, os.path.join(home, "profiles"))  # noqa: PTH118
    base = os.path.dirname(parent)  # noqa: PTH120
    return (*own, *(os.path.join(base, name) for name in names))  # noqa: PTH118
