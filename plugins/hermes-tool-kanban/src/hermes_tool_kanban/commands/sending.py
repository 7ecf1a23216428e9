"""Tasks are sent over the board."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_tool_kanban.commands.making import door_of, say
from hermes_tool_kanban.values import Task

if TYPE_CHECKING:
    import click

    from hermes_tool_kanban.actions import Door

__all__ = [
    "make_approve", "make_archive", "make_assign", "make_block", "make_claim", "make_complete", "make_link",
    "make_promote", "make_reclaim", "make_reject", "make_release", "make_reopen", "make_schedule", "make_unblock",
    "make_unlink",
]  # fmt: skip

Way = Callable[["Door", Task, str], Awaitable[Task]]


def _command(ctx: PluginContext, doc: str, way: Way, *, text: str = "", needed: bool = False) -> "click.Command":
    """Make a command that sends a task one way; ``text`` is what may be said beside it, and whether it must be."""
    import click

    from hermes_tables.tables import json_option

    async def command(task_id: str, as_json: bool, said: str = "") -> None:
        door = door_of(ctx)
        await say(door, await way(door, await door.task(task_id), said), as_json=as_json)

    if text:
        command = click.argument("said", metavar=text, default=... if needed else "")(command)
    return click.command(help=doc)(click.argument("task_id", metavar="ID")(json_option(command)))


async def _remarked(door: "Door", task: Task, text: str) -> None:
    from hermes_tool_kanban import actions

    if text:
        await actions.comment(door, task, text)


def make_promote(ctx: PluginContext) -> "click.Command":
    """``kanban promote``."""
    doc = "Let the task ID be taken up now, from triage, before its time, or before it rested. Its parents come first."
    return _command(ctx, doc, lambda door, task, _: door.rows.moves.promote(task))


def make_claim(ctx: PluginContext) -> "click.Command":
    """``kanban claim``."""
    doc = (
        "Work on the task ID yourself. No worker takes it up until you complete it, or give it back with release; "
        "it is yours however long that takes."
    )
    return _command(ctx, doc, lambda door, task, _: door.rows.claims.take(task, door.owner.person))


def make_release(ctx: PluginContext) -> "click.Command":
    """``kanban release``."""
    doc = "Give the task ID back, which you claimed: a worker may take it up."
    return _command(ctx, doc, lambda door, task, _: door.rows.claims.release(task))


def make_block(ctx: PluginContext) -> "click.Command":
    """``kanban block``."""
    doc = "Let the task ID rest until you unblock it. Who works on it is stopped."
    return _command(ctx, doc, lambda door, task, why: door.rows.moves.block(task, why or "a person said so"),
                    text="WHY")  # fmt: skip


def make_unblock(ctx: PluginContext) -> "click.Command":
    """``kanban unblock``."""

    async def way(door: "Door", task: Task, text: str) -> Task:
        await _remarked(door, task, text)
        return await door.rows.moves.unblock(task)

    doc = "Let the blocked task ID go on. ANSWER is a remark for who goes on with it."
    return _command(ctx, doc, way, text="ANSWER")


def make_complete(ctx: PluginContext) -> "click.Command":
    """``kanban complete``."""
    doc = "Call the task ID done; RESULT is what those learn that wait for it. Who works on it is stopped."
    return _command(ctx, doc, lambda door, task, said: door.rows.moves.complete(task, said), text="RESULT")


def make_approve(ctx: PluginContext) -> "click.Command":
    """``kanban approve``."""
    doc = "Say yes to the task ID, which is in review: it is done."
    return _command(ctx, doc, lambda door, task, _: door.rows.moves.approve(task))


def make_reject(ctx: PluginContext) -> "click.Command":
    """``kanban reject``."""

    async def way(door: "Door", task: Task, why: str) -> Task:
        task = await door.rows.moves.reject(task, why)
        await _remarked(door, task, why)
        return task

    doc = "Say no to the task ID, which is in review: it is done again, by somebody who is told WHY."
    return _command(ctx, doc, way, text="WHY", needed=True)


def make_reclaim(ctx: PluginContext) -> "click.Command":
    """``kanban reclaim``."""
    doc = "Take the task ID from whoever works on it. It can be taken up again at once; nothing counts as failed."
    return _command(ctx, doc, lambda door, task, _: door.rows.moves.reclaim(task))


def make_reopen(ctx: PluginContext) -> "click.Command":
    """``kanban reopen``."""
    doc = "Have the task ID done again, which is done or archived. What waits for it and has not begun waits again."
    return _command(ctx, doc, lambda door, task, _: door.rows.moves.reopen(task))


def make_assign(ctx: PluginContext) -> "click.Command":
    """``kanban assign``."""
    doc = "Give the task ID to WORKER; without one whoever is free takes it."
    return _command(ctx, doc, lambda door, task, who: door.rows.moves.assign(task, who), text="WORKER")


def make_archive(ctx: PluginContext) -> "click.Command":
    """``kanban archive``."""
    import click

    @click.command()
    @click.argument("tasks", metavar="ID", nargs=-1, required=True)
    async def command(tasks: tuple[str, ...]) -> None:
        """Take tasks off their board. Who works on one is stopped; what waits for one that was not done is blocked.

        Its folder goes, unless it is yours; a tree of a repository stays while anything in it is not committed.
        """
        from hermes_tool_kanban import actions
        from hermes_tool_kanban.words import line

        door = door_of(ctx)
        for name in tasks:
            gone, stays = await actions.archive(door, await door.task(name))
            click.echo(line(gone))
            if stays:
                click.echo(stays, err=True)

    return command


def make_schedule(ctx: PluginContext) -> "click.Command":
    """``kanban schedule``."""
    import click

    @click.command()
    @click.argument("task_id", metavar="ID")
    @click.argument("when")
    async def command(task_id: str, when: str) -> None:
        """Let the task ID wait until WHEN: 90m, 12h, 3d, or an instant as 2026-12-24T18:00."""
        door = door_of(ctx)
        await say(door, await door.rows.moves.schedule(await door.task(task_id), instant(when)))

    return command


def instant(text: str) -> float:
    """Return the instant that a text means, from now on or as it is. Raises UserError."""
    import re
    import time
    from datetime import datetime

    from hermes_core.errors import UserError

    if found := re.fullmatch(r"(\d{1,6})([mhd])", text.strip()):
        return time.time() + int(found[1]) * {"m": 60, "h": 3600, "d": 86_400}[found[2]]
    try:
        return datetime.fromisoformat(text.strip()).astimezone().timestamp()
    except (ValueError, OverflowError):
        raise UserError(f"{text!r} is no instant.", hint="Write 90m, 12h, 3d or 2026-12-24T18:00.") from None


def make_link(ctx: PluginContext) -> "click.Command":
    """``kanban link``."""
    return _pair(ctx, "Have the task CHILD wait until PARENT is done.", undo=False)


def make_unlink(ctx: PluginContext) -> "click.Command":
    """``kanban unlink``."""
    return _pair(ctx, "Have the task CHILD wait for PARENT no longer.", undo=True)


def _pair(ctx: PluginContext, doc: str, *, undo: bool) -> "click.Command":
    import click

    @click.command(help=doc)
    @click.argument("parent")
    @click.argument("child")
    async def command(parent: str, child: str) -> None:
        door = door_of(ctx)
        way = door.rows.tasks.unlink if undo else door.rows.tasks.link
        await say(door, await way(parent, child, door.owner.person))

    return command
