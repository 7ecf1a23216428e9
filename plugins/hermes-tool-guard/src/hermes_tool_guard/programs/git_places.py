"""Where git takes its settings and hooks from without being told so, and what writes them."""

import os

from hermes_core.types import Effect
from hermes_tool_guard.judgement import UNKNOWN, Class
from hermes_tool_guard.programs.editing import patched
from hermes_tool_guard.run import Run

__all__ = ["apply", "init", "looks_bare", "maintenance", "within"]

_PARTS = ("HEAD", "objects", "refs")
_LONGEST = 4096  # characters of a path that can be there


def looks_bare(run: Run, folder: str) -> bool:
    """Whether a folder is laid out as a repository is inside; asks if so.

    Whoever wrote it chose what its ``config`` runs. The disk is looked at every time.
    """
    run.scene.fillings += 1  # so that nothing of it is remembered
    written = run.scene.written
    if any(c in folder for c in UNKNOWN):
        return False
    if not all(os.path.exists(f"{folder}/{part}") or f"{folder}/{part}" in written for part in _PARTS):  # noqa: PTH110
        return False
    run.ask(Class.CODE, f"works in {os.path.basename(folder)[:60]}, a repository that may run what it likes")  # noqa: PTH119
    return True


def within(run: Run) -> None:
    """git is started in a folder: it looks for a repository there, and upwards."""
    root = run.scene.places.root
    for start in run.folders:
        folder = os.path.normpath(start)
        while folder.startswith(f"{root}/") and len(folder) < _LONGEST:
            if looks_bare(run, folder) or os.path.exists(f"{folder}/.git"):  # noqa: PTH110 - git looks no further
                break
            folder = os.path.dirname(folder)  # noqa: PTH120


def init(run: Run) -> None:
    """``git init``."""
    options = run.options({"--template", "--separate-git-dir", "--object-format", "-b", "--initial-branch"})
    if options.has("--template"):
        run.ask(Class.CODE, "takes git hooks from a template")
    for word in (*options.values("--separate-git-dir"), *options.rest[:1]):
        run.write(word)


def apply(run: Run) -> None:
    """``git apply``."""
    options = run.options(
        {"-p", "-C", "--directory", "--exclude", "--include", "--whitespace", "--build-fake-ancestor"}
    )
    if options.has("--unsafe-paths"):
        run.ask(Class.WRITE_OUTSIDE, "lets a patch change files outside of the folder")
    if not options.has("--check", "--stat", "--numstat", "--summary"):
        run.note(Class.GIT, Effect.WRITE_FILES, Effect.EXECUTE)
        folder = options.value("--directory")
        if folder:
            run.write(folder)
        patched(run, folder or ".", "".join(options.rest[:1]))


def maintenance(run: Run) -> None:
    """``git maintenance``."""
    if run.args[:1] in (["start"], ["register"]):
        run.ask(Class.PERSISTENCE, "has git run by itself from now on")
