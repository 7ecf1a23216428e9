"""A worktree of git for one conversation, so that several agents work in one repository without meeting."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path

import click

from hermes_core.errors import UserError

__all__ = ["worktree"]

_FOLDER = ".worktrees"  # in the repository, and ignored there without a word in its own files
_WANTED = ".worktreeinclude"  # globs of ignored files that a worktree needs, such as .env


@contextmanager
def worktree() -> Iterator[Path]:
    """Work in a new worktree, on a branch of its own, until the block ends; it goes again where nothing was done in it.

    Raises UserError outside of a repository, and in one without a commit.
    """
    here = Path.cwd()
    top = Path(_git(here, "rev-parse", "--show-toplevel"))
    start = _git(top, "rev-parse", "--verify", "HEAD")
    name = os.urandom(3).hex()
    place, branch = top / _FOLDER / name, f"hermes/{name}"
    _hide(top)
    _git(top, "worktree", "add", "--quiet", "-b", branch, str(place), start)
    _bring(top, place)
    inner = place / here.resolve().relative_to(top.resolve())
    os.chdir(inner if inner.is_dir() else place)
    click.echo(f"Working in {place}, on the branch {branch}.", err=True)
    try:
        yield place
    finally:
        os.chdir(here)
        _leave(top, place, branch, start)


def _git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=False)
    if done.returncode:
        text = f"There can be no worktree of {folder}: {done.stderr.strip().splitlines()[-1]}"
        raise UserError(text, hint="Go into a repository of git with a commit, or leave -w out.")
    return done.stdout.strip()


def _hide(top: Path) -> None:
    """Keep the folder of worktrees out of what git says of this clone."""
    file = Path(_git(top, "rev-parse", "--git-path", "info/exclude"))
    file = file if file.is_absolute() else top / file
    text = file.read_text("utf-8") if file.is_file() else ""
    if f"/{_FOLDER}/" not in text.splitlines():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text.rstrip()}\n/{_FOLDER}/\n".lstrip(), "utf-8")


def _bring(top: Path, place: Path) -> None:
    """Copy the ignored files that the repository says a worktree needs; links are not followed."""
    try:
        lines = (top / _WANTED).read_text("utf-8").splitlines()
    except OSError:
        return
    globs = [line.strip().removeprefix("/") for line in lines if line.strip() and not line.startswith("#")]
    ignored = _git(top, "ls-files", "-z", "--others", "--ignored", "--exclude-standard").split("\0")
    for name in ignored:
        wanted = any(fnmatch(name, one) or name.startswith(f"{one.rstrip('/')}/") for one in globs)
        source = top / name
        if not wanted or name.startswith(f"{_FOLDER}/") or source.is_symlink() or not source.is_file():
            continue
        target = place / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)


def _leave(top: Path, place: Path, branch: str, start: str) -> None:
    """Take the worktree away where it is as it began; else say where it is."""
    try:
        if not _git(place, "status", "--porcelain") and _git(place, "rev-parse", "HEAD") == start:
            _git(top, "worktree", "remove", "--force", str(place))
            _git(top, "branch", "--quiet", "-D", branch)
            return
    except UserError as error:
        click.echo(error.text, err=True)
    click.echo(f"The work is in {place}, on the branch {branch}. Done with it: git worktree remove {place}", err=True)
