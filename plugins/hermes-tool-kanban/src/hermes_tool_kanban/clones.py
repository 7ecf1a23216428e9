"""A tree of its own for a task: a clone in the repository's folder, whose commits come back as a branch.

It is a clone and no worktree of git's, since a worker behind the wall reaches nothing but its own folder: a worktree
keeps its index, and all that git writes, in the repository. So the person's repository changes only here, by a fetch
that goes forward. What a worker may have written is not believed: the settings of the clone are put back before git is
asked anything in it, and it is asked nothing in one that points elsewhere. Nothing that a worker started runs by then.
"""

import asyncio
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_tool_kanban.git import git
from hermes_tool_kanban.values import Task

__all__ = ["branch_of", "bring", "make", "remove"]

_FOLDER = ".worktrees"  # in the repository, as `hermes -w` has them
# What has git read, or run what is named, elsewhere. A link in its folder does so, too: git makes none there.
_POINTERS = ("commondir", "gitdir", "config.worktree", "objects/info/alternates", "objects/info/http-alternates")


def branch_of(task: Task) -> str:
    """Return the branch that a task is worked on."""
    return f"kanban/{task.id}"


async def make(ctx: PluginContext, task: Task, *, began: bool) -> str:
    """Make the clone of a task, or find it. ``began``: somebody worked in it; else it was cut off while it was made.

    Raises UserError outside of a repository, and in one without a commit.
    """
    named = Path(task.options.folder)
    top, place = await _places(task)
    if place.parent.is_symlink() or place.is_symlink():  # as a repository from elsewhere may hold one
        raise UserError(f"{place.parent} is a link, so no tree is made there.", hint="Take it away.")
    if place.exists() and not began:
        await asyncio.to_thread(shutil.rmtree, place)
    if not place.exists():
        await _hide(top)
        await _clone(ctx, task, top, place)
    inner = place / named.resolve().relative_to(top.resolve())
    # An earlier worker may have made it a link to anywhere.
    return str(inner if inner.is_dir() and inner.resolve().is_relative_to(place.resolve()) else place)


async def _clone(ctx: PluginContext, task: Task, top: Path, place: Path) -> None:
    branch = branch_of(task)
    start = await git(top, "rev-parse", "--verify", f"refs/heads/{branch}" if await _has(top, branch) else "HEAD")
    # Its objects are copies: a link to those of the repository could be written through.
    words = ("clone", "--quiet", "--no-hardlinks", "--no-tags", "--template=", "--no-checkout")
    await git(top, *words, str(top), str(place))
    await git(place, "checkout", "--quiet", "--no-track", "-B", branch, start)
    await git(place, "remote", "remove", "origin")
    for name in ("user.name", "user.email"):
        if said := await _said(top, "config", name):
            await git(place, "config", name, said)
    kept = _kept(ctx, task)
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_bytes((place / ".git" / "config").read_bytes())


async def bring(ctx: PluginContext, task: Task) -> str:
    """Bring the commits of a task into the person's repository, as its branch; what is to be said of that.

    Raises UserError where they cannot be brought.
    """
    top, place = await _places(task)
    if not place.exists():
        return ""
    await asyncio.to_thread(_put_back, ctx, task, place)
    branch = branch_of(task)
    head = await git(place, "rev-parse", "--verify", f"refs/heads/{branch}")
    there = await _said(top, "rev-parse", "--verify", f"refs/heads/{branch}")
    if head == there or (not there and await _said(top, "branch", "--list", "--contains", head)):
        return f"The work is on the branch {branch}." if there else ""
    await git(top, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", str(place), f"{branch}:{branch}")
    return f"The work is on the branch {branch}."


async def remove(ctx: PluginContext, task: Task) -> str:
    """Take the clone away where nothing is lost by that; what is to be said of it."""
    try:
        said, (_, place) = await bring(ctx, task), await _places(task)
        if not place.exists():
            return said
        if inner := await asyncio.to_thread(_repository_in, place):
            return f"{said} {place} stays: there is a repository of its own in it, {inner}.".strip()
        # Git would look into such a repository by its own settings, which are whoever's made it.
        if await git(place, "status", "--porcelain", "--ignore-submodules=all"):
            return f"{said} {place} stays: something in it is not committed.".strip()
    except UserError as error:
        return f"The clone of {task.id} stays: {error.text}"
    await asyncio.to_thread(shutil.rmtree, place)
    _kept(ctx, task).unlink(missing_ok=True)
    return said


def _put_back(ctx: PluginContext, task: Task, place: Path) -> None:
    """Put the settings of a clone back to what they were when it was made. Raises UserError where that cannot be."""
    folder = place / ".git"
    strange = UserError(f"{folder} is not what it was made as.", hint="Look at it yourself, and take it away.")
    try:
        if not stat.S_ISDIR(os.lstat(folder).st_mode) or any(os.path.lexists(folder / name) for name in _POINTERS):
            raise strange
        if not all(_is_plain(one) for one in _entries(folder)):
            raise strange
        draft = folder / f"config.{os.getpid()}.kanban"
        draft.write_bytes(_kept(ctx, task).read_bytes())
        draft.replace(folder / "config")
    except OSError:
        raise strange from None


def _is_plain(entry: "os.DirEntry[str]") -> bool:
    return entry.is_dir(follow_symlinks=False) or entry.is_file(follow_symlinks=False)


def _entries(folder: Path | str) -> Iterator["os.DirEntry[str]"]:
    """Yield all that lies in a folder and below it; no link is followed. Raises OSError."""
    left = [os.fspath(folder)]
    while left:
        with os.scandir(left.pop()) as found:
            for one in found:
                yield one
                if one.is_dir(follow_symlinks=False):
                    left.append(one.path)


def _repository_in(place: Path) -> str:
    """Return where in a clone another repository lies; empty where none does."""
    own = str(place / ".git")
    found = (one.path for one in _entries(place) if one.name.lower() == ".git" and one.path != own)
    try:
        return next(found, "")
    except OSError as error:
        return str(error.filename or place)


def _kept(ctx: PluginContext, task: Task) -> Path:
    return ctx.paths.data / "clones" / f"{task.id}.config"  # where no tool reaches


async def _places(task: Task) -> tuple[Path, Path]:
    named = Path(task.options.folder)
    if not named.is_dir():
        raise UserError(f"The folder {named} is not there.", hint="Make it, or edit the task.")
    top = Path(await git(named, "rev-parse", "--show-toplevel"))
    return top, top / _FOLDER / task.id


async def _has(top: Path, branch: str) -> bool:
    return bool(await _said(top, "rev-parse", "--verify", f"refs/heads/{branch}"))


async def _said(folder: Path, *words: str) -> str:
    """Return what git says; nothing where it fails."""
    try:
        return await git(folder, *words)
    except UserError:
        return ""


async def _hide(top: Path) -> None:
    """Keep the folder of clones out of what git says of this repository."""
    file = Path(await git(top, "rev-parse", "--git-path", "info/exclude"))
    file = file if file.is_absolute() else top / file
    text = file.read_text("utf-8") if file.is_file() else ""
    if f"/{_FOLDER}/" not in text.splitlines():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text.rstrip()}\n/{_FOLDER}/\n".lstrip(), "utf-8")
