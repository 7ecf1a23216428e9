"""Remarks and files of tasks, and what is forgotten."""

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName, UserError
from hermes_tool_kanban.commands.making import door_of

if TYPE_CHECKING:
    import click

__all__ = ["make_attach", "make_attachments", "make_comment", "make_gc"]


def make_comment(ctx: PluginContext) -> "click.Command":
    """``kanban comment``."""
    import click

    @click.command()
    @click.argument("task_id", metavar="ID")
    @click.argument("text")
    async def command(task_id: str, text: str) -> None:
        """Remark TEXT about the task ID. The next attempt is told of it."""
        from hermes_tool_kanban import actions

        door = door_of(ctx)
        await actions.comment(door, await door.task(task_id), text)
        click.echo("Kept.", err=True)

    return command


def make_attach(ctx: PluginContext) -> "click.Command":
    """``kanban attach``."""
    import click

    @click.command()
    @click.argument("task_id", metavar="ID")
    @click.argument("path", type=click.Path(exists=True, dir_okay=False, path_type=Path))
    async def command(task_id: str, path: Path) -> None:
        """Keep a copy of the file PATH with the task ID, for who works on it."""
        from hermes_tool_kanban import actions
        from hermes_tool_kanban.playing import config_of

        if not path.is_file():  # a pipe would be waited for, and a device never ends
            raise UserError(f"{path} is no file.")
        door, most = door_of(ctx), config_of(ctx).megabytes * 1_000_000
        with path.open("rb") as file:
            data = file.read(most + 1)
        kept = await actions.attach(door, await door.task(task_id), path.name, data)
        click.echo(f"{kept.id} {kept.name}")

    return command


def make_attachments(ctx: PluginContext) -> "click.Command":
    """``kanban attachments``."""
    import click

    from hermes_tables.tables import emit, json_option

    @click.command()
    @click.argument("task_id", metavar="ID")
    @click.argument("file", default="")
    @click.option("-o", "--output", type=click.Path(path_type=Path), help="Write FILE there; - is standard output.")
    @json_option
    async def command(task_id: str, file: str, output: Path | None, as_json: bool) -> None:
        """Print the files of the task ID; or write one of them, by its id or its name."""
        from attrs import asdict

        door = door_of(ctx)
        task = await door.task(task_id)
        there = await door.rows.tasks.files(task.id)
        if not file:
            emit([asdict(one) for one in there], ("id", "name", "size", "author"), as_json=as_json,
                 empty="It has no file.")  # fmt: skip
            return
        found = next((one for one in there if file in (one.id, one.name)), None)
        if found is None:
            raise UnknownName("file", file, [one.name for one in there])
        data = await door.rows.tasks.data(found.id)
        if output is None:
            output = Path(found.name)
        if str(output) == "-":
            sys.stdout.buffer.write(data)
            return
        if output.exists():
            raise UserError(f"{output} is there by now.", hint="Say another --output.")
        output.write_bytes(data)
        click.echo(f"It is in {output}.", err=True)

    return command


def make_gc(ctx: PluginContext) -> "click.Command":
    """``kanban gc``."""
    import click

    from hermes_tables.tables import confirm

    @click.command()
    @click.option("--days", default=30, show_default=True, type=click.IntRange(0), help="Archived longer ago.")
    @click.option("-y", "--yes", is_flag=True, help="Do not ask.")
    async def command(days: int, yes: bool) -> None:
        """Forget tasks that were archived long ago: their claims, remarks, files, folders. Sessions stay."""
        from hermes_tool_kanban.workspaces import leave

        door = door_of(ctx)
        confirm(f"Forget tasks that were archived {days} days ago or longer?", yes=yes)
        gone = await door.rows.tasks.sweep(door.owner.person, time.time() - days * 86_400)
        for task in gone:
            if stays := await leave(ctx, task):
                click.echo(stays, err=True)
        click.echo(f"{len(gone)} tasks are forgotten.", err=True)

    return command
