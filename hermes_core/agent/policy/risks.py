"""What a call may do that a person would want to be asked about."""

import os
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path

from hermes_autorun.autorun import runs_by_itself
from hermes_core.agent.policy.grants import Case
from hermes_core.types import Effect, Feature

__all__ = ["CROSSES", "OWN_CODE", "inside", "own_code", "risk_of", "writes_own_code"]

OWN_CODE = "changes code that Hermes itself runs"
CROSSES = "runs a command outside the wall"

_HARMLESS = frozenset(
    {Effect.READ_FILES, Effect.RECALL, Effect.REMEMBER, Effect.ASK, Effect.NETWORK, Effect.DELEGATE}
    # looking, its own notes, and children, whose calls are judged themselves
)
_RISKS = {
    Effect.EXECUTE: "runs a command on this machine",
    Effect.WRITE_FILES: "writes outside the session's folder",
    Effect.SEND: "sends something in your name",
    Effect.SCHEDULE: "plans work for later",
    Effect.CONFIGURE: "changes the settings of Hermes",
}


def risk_of(case: Case) -> str:
    """Say why a person should decide, in words that follow "it"; empty for what is harmless."""
    places, cwd = case.places, case.workspace.cwd
    if case.wall is not None:
        return "" if case.wall or case.effects <= {Effect.READ_FILES} else CROSSES
    for effect in sorted(case.effects - _HARMLESS, key=lambda e: e.value):
        if effect is Effect.EXECUTE and Feature.ISOLATED in case.workspace.features:
            continue
        if effect is Effect.WRITE_FILES and places and all(inside(p, cwd) for p in places):
            if writes_own_code(case):
                return OWN_CODE
            continue
        return _RISKS[effect]
    return ""


def inside(place: str, cwd: str) -> bool:
    """Tell whether a path lies in a folder, links followed."""
    if not cwd:
        return False
    root = Path(cwd).resolve()
    path = (root / Path(place).expanduser()).resolve()  # a link that leads out of the folder leads out of it here too
    return path == root or root in path.parents


def writes_own_code(case: Case) -> bool:
    """Tell whether a call that writes files writes such code."""
    return any(case.own(case.path(place, case.workspace.cwd)) for place in case.places)


def own_code(packages: Callable[[], Iterable[str]]) -> Callable[[str], bool]:
    """Make what tells of a real path whether it is code of these packages, or what their Python runs in every process.

    ``packages``, folders or single files, are asked for once, when first needed.
    """

    @lru_cache(maxsize=1)
    def known() -> tuple[list[str], list[str]]:
        import sysconfig

        sites = {os.path.realpath(sysconfig.get_path(name)) for name in ("purelib", "platlib")}
        return sorted({os.path.realpath(path) for path in packages()}), sorted(sites)

    def own(path: str) -> bool:
        folders, sites = known()
        if any(path == folder or path.startswith(f"{folder}/") for folder in folders):
            return True
        return os.path.dirname(path) in sites and bool(runs_by_itself(path))  # noqa: PTH120 - a text

    return own
