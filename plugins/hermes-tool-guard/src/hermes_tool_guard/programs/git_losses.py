"""What git commands take away that only the repository has: no snapshot of the folder brings it back."""

import os
from collections.abc import Iterator, Sequence

from hermes_tool_guard.judgement import Class
from hermes_tool_guard.places import normal
from hermes_tool_guard.run import Run

__all__ = ["ignored_deleted", "loses"]


def loses(run: Run, why: str) -> None:
    """It takes commits, branches or stashes away, or changes that are not committed.

    Not where the repository was made in this session: nobody's work is in it but the session's own.
    """
    losses = run.scene.lost()
    run.ask(Class.GIT_HISTORY, why, lost=not (losses and all(map(losses.is_own, _repositories(run)))))


def _repositories(run: Run) -> Iterator[str]:
    root = run.scene.places.root
    for start in run.folders:
        folder = normal(start)
        while folder.startswith(f"{root}/") and not os.path.lexists(f"{folder}/.git"):
            folder = os.path.dirname(folder)  # noqa: PTH120
        yield f"{folder}/.git"


def ignored_deleted(run: Run, words: Sequence[str]) -> None:
    """``git clean -x``: what is ignored goes as well. What a build makes again is no loss."""
    losses = run.scene.lost()
    for path in (path for word in words for path in run.scene.places.absolute(word, run.folders)):
        if not losses:
            run.ask(Class.GIT_HISTORY, "deletes files that git ignores, which no snapshot has", lost=True)
        elif lost := losses.below(normal(path), lambda *_: True, ignored=True):
            run.ask(Class.GIT_HISTORY, f"deletes {lost}, which git ignores and no snapshot has", lost=True)
