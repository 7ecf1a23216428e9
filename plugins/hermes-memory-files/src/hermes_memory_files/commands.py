"""``hermes memory``: what is kept of a person, given out and erased."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from attrs import asdict, evolve

from hermes_core.context import PluginContext
from hermes_core.types import Command, Principal
from hermes_memory_files.memory import FilesMemory

if TYPE_CHECKING:
    import click


def commands(ctx: PluginContext) -> Sequence[Command]:
    """Both commands; each is put together when it is used."""
    made = (("export", _export), ("erase", _erase))
    return [Command(name=f"memory {name}", build=partial(build, ctx)) for name, build in made]


def _whose(ctx: PluginContext, person: str) -> Principal:
    return evolve(ctx.owner, person=person) if person else ctx.owner


def _export(ctx: PluginContext) -> "click.Command":
    import json

    import click

    @click.command()
    @click.option("--person", default="", help="Whose; you, if nobody is named.")
    async def command(person: str) -> None:
        """Print what is remembered of you, or of another person, as lines of JSON."""
        for memo in await FilesMemory.of(ctx).export(_whose(ctx, person)):
            click.echo(json.dumps({"id": memo.id, "text": memo.text, **asdict(memo.source)}, ensure_ascii=False))

    return command


def _erase(ctx: PluginContext) -> "click.Command":
    import click

    @click.command()
    @click.option("--person", default="", help="Whose; you, if nobody is named.")
    @click.option("--yes", is_flag=True, help="Do not ask.")
    async def command(person: str, yes: bool) -> None:
        """Delete all that is remembered of you, or of another person, with what was let go of before."""
        memory, owner = FilesMemory.of(ctx), _whose(ctx, person)
        whom = person or "you"
        if not yes:
            many = len(await memory.export(owner))
            click.confirm(
                f"Delete {many} memos of {whom}, and what was let go of before? It cannot be undone", abort=True
            )
        click.echo(f"{await memory.erase(owner)} memos of {whom} are deleted.", err=True)

    return command
