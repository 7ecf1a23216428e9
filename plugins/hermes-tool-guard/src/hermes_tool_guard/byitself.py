"""Files that run by themselves, or that an agent obeys: whoever writes one decides what happens later."""

import os
from functools import lru_cache
from typing import TYPE_CHECKING

from hermes_autorun.autorun import runs_by_itself

if TYPE_CHECKING:
    from hermes_tool_guard.places import Places

__all__ = ["is_usual", "why_later"]

_HOLDERS = (".git", ".github", ".gitea", ".forgejo", ".config", ".cursor")
_USUAL = ("a build server runs it", "an agent obeys it")


@lru_cache(maxsize=4096)
def _why(path: str) -> str:
    found = runs_by_itself(path)
    if not found and os.path.basename(path) in _HOLDERS:  # noqa: PTH119 - a folder lands here, with all that is in it
        return "a build server runs it" if path.endswith((".github", ".gitea", ".forgejo")) else "what is in it may run"
    return found


def why_later(places: "Places", path: str) -> str:
    """Why what is written to a path runs later without a further decision, as a sentence; else an empty text."""
    return _why(places.real(path))


def is_usual(why: str) -> bool:
    """Whether it is part of everyday work to write such files inside of the project."""
    return why in _USUAL
