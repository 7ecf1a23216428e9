"""The guard itself: a command and a place in, a verdict out."""

import os
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

from hermes_core.types import Protected
from hermes_tool_guard.judgement import OPEN, Class, Decided, Judgement, Setting
from hermes_tool_guard.losses import Losses
from hermes_tool_guard.memory import memory_of
from hermes_tool_guard.places import Places
from hermes_tool_guard.scene import Scene
from hermes_tool_guard.shell import judge_code

__all__ = ["check", "guarded_paths"]

NOTHING = Protected()


def check(
    command: str,
    *,
    root: str,
    folder: str = "",
    guarded: Sequence[str] = (),
    home: str = "",
    protected: Protected = NOTHING,
    setting: Setting = OPEN,
    record: Callable[[Sequence[str]], None] | None = None,
    losses: Losses | None = None,
) -> Judgement:
    """Judge a shell command that would start in ``folder``, which is ``root`` unless given.

    ``root`` is the working folder, ``guarded`` what belongs to Hermes itself; ``protected`` says what its program is
    called, and which words behind that are a person's. ``record`` is told of every program with
    its arguments. ``setting`` says what is bounded without it, and ``losses`` what no snapshot has.
    Nothing is run; of the disk only names and links are looked at, and for ``losses`` what git ignores. Raises nothing.
    """
    places = Places(root, home or os.path.expanduser("~"), guarded)  # noqa: PTH111
    start = folder or root or "/"
    scene = Scene(places, start)
    scene.setting, scene.protected = setting, protected
    scene.record, scene.losses = record, losses
    if record is None:
        scene.memory = memory_of(places.root, places.home, places.guarded, setting, losses is not None)
    try:
        judge_code(scene, command, (start,))
    except Decided:
        pass
    except RecursionError:
        scene.ask(Class.UNCLEAR, "is nested too deeply to follow")
    except Exception as error:  # noqa: BLE001 - what the guard does not see coming, a person decides on
        scene.ask(Class.UNCLEAR, f"could not be looked at ({type(error).__name__})")
    return scene.result()


def guarded_paths(home: str) -> tuple[str, ...]:
    """What no command may touch in a home of Hermes: settings, keys, plugins, the store, other profiles."""
    own, (parent, is_one) = _own(home), _among(home)
    if not is_one:
        return (*own, os.path.join(home, "profiles"))  # noqa: PTH118 - each command asks
    try:
        others = sorted(entry.path for entry in os.scandir(parent) if entry.name != Path(home).name)
    except OSError:
        others = []
    return (*own, *_own(str(parent.parent)), *others)


@lru_cache(maxsize=8)
def _among(home: str) -> tuple[Path, bool]:
    """The folder that a home lies in, and whether that is the one of profiles."""
    parent = Path(home).parent
    return parent, parent.name == "profiles"


@lru_cache(maxsize=8)
def _own(home: str) -> tuple[str, ...]:
    names = (
        "config.yaml",
        ".env",
        "plugins.lock",
        "plugins",
        "state.db",
        "state.db-wal",
        "state.db-shm",
        "active_profile",
    )
    return tuple(str(Path(home, name)) for name in names)
