"""Where a task is worked on: a folder of its own, one that is named, or a tree of its own of a repository."""

import asyncio
import os
import shutil
from pathlib import Path

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_tool_kanban import clones
from hermes_tool_kanban.values import Task

__all__ = ["here", "leave", "prepare", "scratch_of"]


def here() -> str:
    """Return the name of this machine, by which folders are told apart."""
    return os.uname().nodename


def scratch_of(ctx: PluginContext, task: Task) -> Path:
    """Return the folder of a task that needs no other."""
    return ctx.paths.home / "workspace" / "kanban" / task.id


async def prepare(ctx: PluginContext, task: Task, *, began: bool = False) -> str:
    """Make the place that a task is worked on in, or find it as an earlier attempt left it. Raises UserError.

    ``began``: somebody worked there before.
    """
    if task.options.workspace == "scratch":
        folder = scratch_of(ctx, task)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return str(folder)
    if task.options.workspace == "worktree":
        return await clones.make(ctx, task, began=began)
    if not Path(task.options.folder).is_dir():
        raise UserError(f"The folder {task.options.folder} is not there.", hint="Make it, or edit the task.")
    return task.options.folder


async def leave(ctx: PluginContext, task: Task) -> str:
    """Take the place of a task away where nothing is lost by that; what is to be said of it."""
    if task.options.workspace == "scratch":
        await asyncio.to_thread(shutil.rmtree, scratch_of(ctx, task), ignore_errors=True)
        return ""
    if task.options.workspace != "worktree" or task.options.place not in ("", here()):
        return ""
    return await clones.remove(ctx, task)
