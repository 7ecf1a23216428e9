"""What there is, who works on it, and what becomes of it."""

import asyncio
import time
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_tool_kanban.commands.making import door_of
from hermes_tool_kanban.values import STATUSES

if TYPE_CHECKING:
    import click

__all__ = ["make_assignees", "make_board", "make_list", "make_runs", "make_show", "make_stats", "make_tail"]

_LOOK = 1.0


def make_list(ctx: PluginContext) -> "click.Command":
    """``kanban list``."""
    import click

    from hermes_tables.tables import emit, json_option

    @click.command()
    @click.option("--board", default="", help="The board; else the usual one.")
    @click.option("-s", "--status", type=click.Choice(STATUSES), default=None, help="Only those.")
    @click.option("-a", "--assignee", default="", help="Only theirs.")
    @click.option("--tenant", default=None, help="Only those that are done for them.")
    @click.option("--all", "everything", is_flag=True, help="Also those that are archived.")
    @json_option
    async def command(
        board: str, status: str | None, assignee: str, tenant: str | None, everything: bool, as_json: bool
    ) -> None:
        """Print the tasks of a board, the most urgent first."""
        from hermes_tool_kanban.words import flat, plain

        door = door_of(ctx)
        where = await door.board(board)
        there = await door.rows.tasks.list(
            where.id, status=status or "", assignee=assignee, archived=everything, tenant=tenant
        )
        if as_json:
            emit([plain(one) for one in there], (), as_json=True, empty="")
            return
        rows = [
            {"id": one.id, "status": one.status, "worker": one.assignee, "title": flat(one.title, 500)}
            for one in there
        ]  # fmt: skip
        empty = f"The board {where.slug} is empty. {ctx.program} kanban create --help shows how."
        emit(rows, ("id", "status", "worker", "title"), as_json=False, empty=empty)

    return command


def make_show(ctx: PluginContext) -> "click.Command":
    """``kanban show``."""
    import click

    from hermes_tables.tables import json_option, visible

    @click.command()
    @click.argument("task_id", metavar="ID")
    @json_option
    async def command(task_id: str, as_json: bool) -> None:
        """Print all about the task ID, or the only one that begins so."""
        import json

        from attrs import asdict

        from hermes_tool_kanban.words import about, plain

        door = door_of(ctx)
        task, rows = await door.task(task_id), door.rows.tasks
        parents, children = await rows.family(task.id)
        runs, remarks, files = await rows.runs(task.id), await rows.comments(task.id), await rows.files(task.id)
        events = await rows.events(task=task.id, limit=30)
        if as_json:
            said = {"runs": [asdict(one) for one in runs], "comments": [asdict(one) for one in remarks]}
            said |= {"files": [asdict(one) for one in files], "events": [asdict(one) for one in events]}
            kin = {"parents": [one.id for one in parents], "children": [one.id for one in children]}
            click.echo(json.dumps({**plain(task), **kin, **said}, ensure_ascii=False))
        else:
            click.echo(visible(about(task, parents, children, runs, remarks, files, events)))

    return command


def make_runs(ctx: PluginContext) -> "click.Command":
    """``kanban runs``."""
    import click

    from hermes_tables.tables import emit, json_option

    @click.command()
    @click.argument("task_id", metavar="[ID]", default="")
    @click.option("--board", default="", help="The board; else the usual one.")
    @click.option("-n", "--limit", default=20, show_default=True, help="How many.")
    @json_option
    async def command(task_id: str, board: str, limit: int, as_json: bool) -> None:
        """Print what became of each claim, of one task or of all of a board, newest first.

        \b
        completed, approved, rejected   its worker, or its reviewer, said so
        blocked, handed_off             its worker said so
        failed, timed_out, stale        it went wrong, took too long, gave no sign
        crashed                         its process died again and again
        violation                       it ended without a word on its task, and was reminded
        stopped, withdrawn, reclaimed   a person stopped it, moved the task, took it away
        """
        from attrs import asdict

        from hermes_tool_kanban.words import flat, stamp

        door = door_of(ctx)
        task = await door.task(task_id) if task_id else None
        where = "" if task else (await door.board(board)).id
        found = await door.rows.tasks.runs(task.id if task else "", where, limit)
        if as_json:
            emit([asdict(one) for one in found], (), as_json=True, empty="")
            return
        rows = [
            {"when": stamp(one.created), "claim": one.id, "worker": one.worker, "outcome": one.outcome or one.role,
             "session": one.session, "what": flat(one.error or one.summary or one.note, 500)}
            for one in found
        ]  # fmt: skip
        emit(rows, ("when", "claim", "worker", "outcome", "session", "what"), as_json=False,
             empty="Nothing was claimed yet.")  # fmt: skip

    return command


def make_tail(ctx: PluginContext) -> "click.Command":
    """``kanban tail``."""
    import click

    from hermes_tables.tables import json_option, visible

    @click.command()
    @click.argument("task_id", metavar="[ID]", default="")
    @click.option("--board", default="", help="The board; else the usual one.")
    @click.option("-n", "--limit", default=20, show_default=True, help="How many of those that were.")
    @click.option("-f", "--follow", is_flag=True, help="Go on with what happens, until Ctrl-C.")
    @json_option
    async def command(task_id: str, board: str, limit: int, follow: bool, as_json: bool) -> None:
        """Print what happened on a board or to a task, oldest first; with -f also what happens from now on."""
        import json

        from attrs import asdict

        from hermes_tool_kanban.words import event_line

        door = door_of(ctx)
        which = {"task": (await door.task(task_id)).id} if task_id else {"board": (await door.board(board)).id}
        last, most = 0, limit
        while True:
            for one in await door.rows.tasks.events(**which, after=last, limit=most):
                last, said = one.id, asdict(one)
                click.echo(json.dumps(said, ensure_ascii=False) if as_json else visible(event_line(one)))
            if not follow:
                return
            most = 1000
            await asyncio.sleep(_LOOK)

    return command


def make_board(ctx: PluginContext) -> "click.Command":
    """``kanban board``."""
    import click

    @click.command()
    @click.argument("board", default="")
    @click.option("-w", "--watch", is_flag=True, help="Show it as it changes, and move tasks by keys.")
    @click.option("--all", "everything", is_flag=True, help="Also what is archived.")
    async def command(board: str, watch: bool, everything: bool) -> None:
        """Print a board in columns, the most urgent on top; as wide as the terminal is.

        With --watch it stays, and shows what happens. Arrows choose a task, Enter shows it; p promotes, b blocks, u
        unblocks, a approves, r rejects, c completes, t takes it from its worker, o reopens, x archives it, q ends.
        """
        import sys

        from hermes_tool_kanban.commands.watching import drawn, watched

        door = door_of(ctx)
        if watch and sys.stdout.isatty() and sys.stdin.isatty():
            await watched(door, board, everything=everything)
            return
        for text in await drawn(door, board, everything=everything):
            click.echo(text)

    return command


def make_stats(ctx: PluginContext) -> "click.Command":
    """``kanban stats``."""
    import click

    from hermes_tables.tables import json_option

    @click.command()
    @click.option("--board", default="", help="The board; else the usual one.")
    @json_option
    async def command(board: str, as_json: bool) -> int:
        """Say how many tasks are where, who works, and what stands still and why. The exit status is 1 where it does.

        Something stands still where tasks are ready and nobody works on tasks, or nobody is called as they say.
        """
        import json

        from hermes_tables.tables import ago
        from hermes_tool_kanban import actions
        from hermes_tool_kanban.words import flat

        door = door_of(ctx)
        where = await door.board(board)
        there = await door.rows.tasks.list(where.id, archived=True)
        counts = {status: sum(one.status == status for one in there) for status in STATUSES}
        hosts = await door.rows.claims.dispatchers()
        stands = await actions.standing(door, there)
        if as_json:
            said = {"board": where.slug, "counts": counts, "dispatchers": len(hosts), "stands": list(stands)}
            click.echo(json.dumps(said, ensure_ascii=False))
            return 1 if stands else 0
        click.echo(
            f"{where.slug}: " + (", ".join(f"{many} {name}" for name, many in counts.items() if many) or "empty")
        )
        for one in hosts:
            click.echo(f"Process {one.pid} works on tasks, and looked {ago(one.looked)}.")
        for run in await door.rows.tasks.runs("", where.id, 500):
            if run.state == "open":
                minutes = int((time.time() - run.created) // 60)
                click.echo(f"{run.worker or 'Somebody'} has {run.task} for {minutes} min. {flat(run.note)}".rstrip())
        for hint, task in stands.items():
            click.echo(f"{task} stands still: {hint}", err=True)
        return 1 if stands else 0

    return command


def make_assignees(ctx: PluginContext) -> "click.Command":
    """``kanban assignees``."""
    import click

    from hermes_tables.tables import emit, json_option

    @click.command()
    @json_option
    async def command(as_json: bool) -> None:
        """Print who tasks can be assigned to: this profile, the workers of the settings, and who works elsewhere."""
        from hermes_tool_kanban.actions import workers
        from hermes_tool_kanban.playing import config_of

        door, config = door_of(ctx), config_of(ctx)
        elsewhere = {name for one in await door.rows.claims.dispatchers() for name in one.workers.split(", ")}
        rows = []
        for name in sorted({*workers(ctx), *elsewhere} - {""}):
            one = config.workers.get(name)
            summary = one.summary if one else "this profile" if name == ctx.owner.profile else "works elsewhere"
            rows.append({"name": name, "model": one.model if one else "", "what": summary})
        emit(rows, ("name", "model", "what"), as_json=as_json, empty="")

    return command
