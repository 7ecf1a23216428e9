"""The commands of a memory, ``hermes NAME list|forget|export|erase``, over what is kept of a person.

``export`` and ``erase`` are what is run of every memory when a person's own is given out, or a person is erased.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from attrs import asdict, evolve

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError, UnknownName, UserError
from hermes_core.kinds import Memory
from hermes_core.types import Command, Principal

if TYPE_CHECKING:
    import click

__all__ = ["memory_commands"]

_ALL = 1_000_000
Made = Callable[[], Memory]


def memory_commands(ctx: PluginContext, name: str, made: Made) -> Sequence[Command]:
    """All of them; the memory is ``made`` when one runs."""
    builds = (("list", _list), ("forget", _forget), ("export", _export), ("erase", _erase))
    return [Command(name=f"{name} {verb}", build=partial(build, ctx, name, made)) for verb, build in builds]


def _whose(ctx: PluginContext, person: str) -> Principal:
    return evolve(ctx.owner, person=person) if person else ctx.owner


def _person(command: Any) -> Any:
    import click

    return click.option("--person", default="", help="Whose; you, if nobody is named.")(command)


def _list(ctx: PluginContext, name: str, made: Made) -> "click.Command":
    import click

    from hermes_tables.tables import emit, json_option

    @click.command()
    @click.argument("query", nargs=-1)
    @_person
    @json_option
    async def command(query: tuple[str, ...], person: str, as_json: bool) -> None:
        """Print what is remembered of you, or of another person, each with its id; of QUERY what fits, best first."""
        memos = await _tried(made().search(_whose(ctx, person), " ".join(query), _ALL))
        rows = [{"id": one.id, "by": one.source.by, "trusted": one.source.trusted, "text": one.text} for one in memos]
        emit(rows, ("id", "by", "text"), as_json=as_json, empty="Nothing is remembered.")

    return command


def _forget(ctx: PluginContext, name: str, made: Made) -> "click.Command":
    import click

    @click.command()
    @click.argument("memo", metavar="ID")
    @_person
    async def command(memo: str, person: str) -> None:
        """Forget what has the ID that `list` shows: no copy stays in this memory. Conversations keep theirs."""
        memory, owner = made(), _whose(ctx, person)
        known = {one.id: one for one in await _tried(memory.export(owner))}
        found = [one for one in known if memo and one.startswith(memo)]
        if len(found) != 1:
            raise UnknownName("memory", memo, list(known), hint=f"{ctx.program} {name} list")
        await _tried(memory.forget(owner, found[0]))
        click.echo(f"Forgotten: {known[found[0]].text}", err=True)

    return command


def _export(ctx: PluginContext, name: str, made: Made) -> "click.Command":
    import json

    import click

    @click.command()
    @_person
    async def command(person: str) -> None:
        """Print all that is kept of you, or of another person, as lines of JSON."""
        for memo in await _tried(made().export(_whose(ctx, person))):
            click.echo(json.dumps({"id": memo.id, "text": memo.text, **asdict(memo.source)}, ensure_ascii=False))

    return command


def _erase(ctx: PluginContext, name: str, made: Made) -> "click.Command":
    import click

    from hermes_tables.tables import confirm

    @click.command()
    @_person
    @click.option("--yes", is_flag=True, help="Do not ask.")
    async def command(person: str, yes: bool) -> None:
        """Delete all that is kept of you, or of another person. It cannot be undone."""
        memory, owner, whom = made(), _whose(ctx, person), person or "you"
        if not yes:
            many = len(await _tried(memory.export(owner)))
            confirm(f"Delete {many} memos of {whom}? It cannot be undone.", yes=False)
        click.echo(f"{await _tried(memory.erase(owner))} memos of {whom} are deleted.", err=True)

    return command


async def _tried(work: Any) -> Any:
    try:
        return await work
    except ToolError as error:
        raise UserError(error.text, hint=error.hint) from None
