"""``hermes shared``: what people share with each other, for who runs this Hermes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName
from hermes_tool_shared.people import shared_of
from hermes_tool_shared.values import Share

if TYPE_CHECKING:
    import click

__all__ = ["make_end", "make_shared"]


def make_shared(ctx: PluginContext) -> "click.Command":
    """``shared``."""
    import click

    from hermes_tables.tables import emit, json_option

    @click.command()
    @click.argument("name", default="")
    @json_option
    async def command(name: str, as_json: bool) -> None:
        """Print what people share with each other, or what is in the memory with the id NAME.

        People share by `/share FOLDER with NAME` and `/share memory NAME with NAME`; who is invited has it when they
        accept. To have a folder shared without that: hermes config set shared.folders.photos.folder ~/photos, and
        shared.folders.photos.people '["anna"]'.
        """
        there = await shared_of(ctx).all()
        if name:
            kept = await shared_of(ctx).items(_one(there, name))
            items = [{"id": one.id, "person": one.person, "text": one.text} for one in kept]
            emit(items, ("id", "person", "text"), as_json=as_json, empty="Nothing is in it.")
            return
        rows = [row for one in there for row in _rows(one)]
        if ctx.config:
            rows += [
                {"id": "settings", "kind": "folder", "name": one.folder, "of": ctx.owner.person, "with": person,
                 "state": "in", "writes": one.write}
                for one in ctx.config.folders.values() for person in one.people
            ]  # fmt: skip
        shown = rows if as_json else [{**row, "writes": "yes" if row["writes"] else ""} for row in rows]
        columns = ("id", "kind", "name", "of", "with", "state", "writes")
        emit(shown, columns, as_json=as_json, empty="Nobody shares anything.")

    return command


def make_end(ctx: PluginContext) -> "click.Command":
    """``shared end``."""
    import click

    @click.command()
    @click.argument("name")
    async def command(name: str) -> None:
        """Share what has the id NAME no longer, with anybody. What is in a memory goes with it."""
        await shared_of(ctx).end(_one(await shared_of(ctx).all(), name).id)
        click.echo("Nobody has it any longer.", err=True)

    return command


def _one(there: Sequence[Share], name: str) -> Share:
    found = next((one for one in there if one.id == name), None)
    if found is None:
        raise UnknownName("share", name, [one.id for one in there])
    return found


def _rows(one: Share) -> list[dict[str, object]]:
    known = {"id": one.id, "kind": one.kind, "name": one.folder or one.name, "of": one.person}
    return [{**known, "with": m.person, "state": m.state, "writes": bool(m.writes)} for m in one.members] or [
        {**known, "with": "", "state": "", "writes": False}
    ]
