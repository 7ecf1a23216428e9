"""What a call may do that a person would want to be asked about."""

from collections.abc import Sequence
from pathlib import Path

from hermes_core.kinds import Workspace
from hermes_core.types import Effect, Feature

__all__ = ["inside", "risk_of"]

_HARMLESS = frozenset(
    {Effect.READ_FILES, Effect.RECALL, Effect.REMEMBER, Effect.ASK, Effect.NETWORK, Effect.DELEGATE}
    # looking, its own notes, and children, whose calls are judged themselves
)
_RISKS = {
    Effect.EXECUTE: "runs a command on {place}",
    Effect.WRITE_FILES: "writes outside the session's folder",
    Effect.SEND: "sends something in your name",
    Effect.SCHEDULE: "plans work for later",
    Effect.CONFIGURE: "changes the settings of Hermes",
}


def risk_of(effects: frozenset[Effect], places: Sequence[str], workspace: Workspace) -> str:
    """Why a person should decide, in words that follow "it"; empty for what is harmless."""
    for effect in sorted(effects - _HARMLESS, key=lambda e: e.value):
        if effect is Effect.EXECUTE and Feature.ISOLATED in workspace.features:
            continue
        if effect is Effect.WRITE_FILES and places and all(inside(p, workspace.cwd) for p in places):
            continue
        return _RISKS[effect].format(place="this machine")
    return ""


def inside(place: str, cwd: str) -> bool:
    """Whether a path lies in a folder, links followed."""
    if not cwd:
        return False
    root = Path(cwd).resolve()
    path = (root / Path(place).expanduser()).resolve()  # a link that leads out of the folder leads out of it here too
    return path == root or root in path.parents
