"""Where a task is worked on: a folder of its own, one that is named, or a worktree of git. Nothing of a person's goes.

A worktree goes again where nothing is lost by that: nothing in it is uncommitted. Its branch stays while it has commits
that were made for the task.
"""

import asyncio
import os
import shutil
from pathlib import Path

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_tool_kanban.values import Task

__all__ = ["here", "leave", "prepare", "scratch_of"]

# Nothing that a repository configures is run, but for the filters of a checkout, which are the person's own.
_GIT = ("git", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
_SECONDS = 120.0
_WORKTREES = ".worktrees"  # in the repository, as `hermes -w` has them


def here() -> str:
    """Return the name of this machine, by which folders are told apart."""
    return os.uname().nodename


def scratch_of(ctx: PluginContext, task: Task) -> Path:
    """Return the folder of a task that needs no other."""
    return ctx.paths.home / "workspace" / "kanban" / task.id


def branch_of(task: Task) -> str:
    """Return the branch that a task is worked on."""
    return f"kanban/{task.id}"


async def prepare(ctx: PluginContext, task: Task, *, began: bool = False) -> str:
    """Make the place that a task is worked on in, or find it as an earlier attempt left it. Raises UserError.

    ``began``: somebody worked there before. What else is there of a worktree was cut off while it was made.
    """
    if task.options.workspace == "scratch":
        folder = scratch_of(ctx, task)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return str(folder)
    named = Path(task.options.folder)
    if not named.is_dir():
        raise UserError(f"The folder {named} is not there.", hint="Make it, or edit the task.")
    if task.options.workspace == "folder":
        return str(named)
    top = Path(await _git(named, "rev-parse", "--show-toplevel"))
    place = top / _WORKTREES / task.id
    if not began and place.exists():
        await asyncio.to_thread(shutil.rmtree, place)
    if not (place / ".git").exists():
        await _add(top, place, branch_of(task))
    inner = place / named.resolve().relative_to(top.resolve())
    return str(inner if inner.is_dir() else place)


async def _add(top: Path, place: Path, branch: str) -> None:
    await _git(top, "worktree", "prune")  # of one that was cut off while it was made
    await _hide(top)
    start = await _git(top, "rev-parse", "--verify", "HEAD")
    there = await _git(top, "branch", "--list", branch)
    words = (str(place), branch) if there else ("-b", branch, str(place), start)
    await _git(top, "worktree", "add", "--quiet", *words)


async def leave(ctx: PluginContext, task: Task) -> str:
    """Take the place of a task away where nothing is lost by that; else say what stays."""
    if task.options.workspace == "scratch":
        await asyncio.to_thread(shutil.rmtree, scratch_of(ctx, task), ignore_errors=True)
        return ""
    if task.options.workspace != "worktree" or task.options.place not in ("", here()):
        return ""
    try:
        top = Path(await _git(Path(task.options.folder), "rev-parse", "--show-toplevel"))
        place, branch = top / _WORKTREES / task.id, branch_of(task)
        if not place.exists():
            return ""
        if await _git(place, "status", "--porcelain"):
            return f"The worktree {place} stays: something in it is not committed."
        await _git(top, "worktree", "remove", str(place))
        if not await _git(top, "rev-list", "--max-count=1", branch, "--not", f"--exclude={branch}", "--branches"):
            await _git(top, "branch", "--quiet", "-D", branch)  # it has no commit that another branch has not
            return ""
        return f"The work is on the branch {branch}."
    except UserError as error:
        return error.text


async def _hide(top: Path) -> None:
    """Keep the folder of worktrees out of what git says of this clone."""
    file = Path(await _git(top, "rev-parse", "--git-path", "info/exclude"))
    file = file if file.is_absolute() else top / file
    text = file.read_text("utf-8") if file.is_file() else ""
    if f"/{_WORKTREES}/" not in text.splitlines():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text.rstrip()}\n/{_WORKTREES}/\n".lstrip(), "utf-8")


async def _git(folder: Path, *words: str) -> str:
    """Return what git says. Raises UserError where it fails."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    pipe = asyncio.subprocess.PIPE
    try:
        process = await asyncio.create_subprocess_exec(
            *_GIT, "-C", str(folder), *words, stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=pipe,
            env=environment,
        )  # fmt: skip
    except OSError as error:
        raise UserError(f"git cannot be started: {error.strerror}.", hint="Install git.") from None
    try:
        async with asyncio.timeout(_SECONDS):
            output, errors = await process.communicate()
    except TimeoutError:
        raise UserError(f"git {words[0]} in {folder} takes too long.") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        said = errors.decode("utf-8", "replace").strip().splitlines() or ["it failed"]
        raise UserError(f"There is no worktree of {folder}: {said[-1]}", hint="It must be a repository with a commit.")
    return output.decode("utf-8", "replace").strip()
