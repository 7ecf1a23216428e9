"""``hermes grants``: what was allowed beyond single calls, and taking it back."""

import click

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName
from hermes_tables.tables import ago, emit, json_option

__all__ = ["make_forget", "make_grants", "make_list"]


def make_grants(ctx: PluginContext) -> click.Command:
    """``grants`` alone."""

    @click.command()
    @json_option
    async def command(as_json: bool) -> None:
        """What you allowed beyond single calls. Without a command: list it."""
        await _list(ctx, as_json=as_json)

    return command


def make_list(ctx: PluginContext) -> click.Command:
    """``grants list``."""

    @click.command()
    @json_option
    async def command(as_json: bool) -> None:
        """List what you allowed for conversations and for good."""
        await _list(ctx, as_json=as_json)

    return command


async def _list(ctx: PluginContext, *, as_json: bool) -> None:
    shown = [
        {
            "id": row.id,
            "holds": f"session {row.session_id}" if row.session_id else "always",
            "since": row.created if as_json else ago(row.created),
            "folder": row.folder,
            "allows": row.words,
        }
        for row in await ctx.approvals.grants(ctx.owner)
    ]
    emit(shown, ("id", "holds", "since", "allows"), as_json=as_json, empty="You granted nothing beyond single calls.")


def make_forget(ctx: PluginContext) -> click.Command:
    """``grants forget``."""

    @click.command()
    @click.argument("numbers", nargs=-1, required=True, type=int)
    async def command(numbers: tuple[int, ...]) -> None:
        """Take grants back. It holds at once, for running conversations too."""
        for number in numbers:
            if not await ctx.approvals.revoke(ctx.owner, number):
                program = click.get_current_context().find_root().info_name
                raise UnknownName("grant", str(number), hint=f"See: {program} grants")
            click.echo(f"Grant {number} is taken back.", err=True)

    return command
