"""``hermes status``: who would answer here, what needs a yes, and what bounds commands."""

import asyncio
import json
import os
import shlex

import click

from hermes_closed.closed import expanded, wide
from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.types import BackendRow, Feature
from hermes_tables.tables import json_option, visible

__all__ = ["make_status", "status_of"]


def make_status(ctx: PluginContext) -> click.Command:
    """``status``."""

    @click.command()
    @json_option
    async def command(as_json: bool) -> None:
        """Say who answers, what needs a yes, where commands run and which wall is around them, with what it lacks.

        The wall is the one that is tried first; `hermes doctor --walls` makes it, and proves it.
        """
        row = await status_of(ctx)
        if as_json:
            click.echo(json.dumps(row, ensure_ascii=False))
            return
        missing, better = row.pop("missing"), row.pop("better")
        for name, text in row.items():
            click.echo(f"{name.capitalize() + ':':<9} {visible(str(text))}")
        for text in missing if isinstance(missing, list) else ():
            click.echo(f"          not kept: {visible(text)}")
        if better:
            click.echo(f"          a better one is possible: {ctx.program} setup")

    return command


async def status_of(ctx: PluginContext) -> dict[str, object]:
    """What ``status`` tells, by name."""
    try:
        answers = await ctx.models.current()
        model = f"{answers.model.name} from {answers.provider}"
    except HermesError as error:
        model = str(error)
    name = (await ctx.settings.get("terminal.backend")).value
    place = next((one for one in await ctx.plugins.backends() if one.name == name), None)
    wall = place.wall if place else None
    return {
        "model": model,
        "mode": (await ctx.settings.get("policy.mode")).value,
        "folder": await _folder(ctx, place),
        "backend": name if place else f"{name}, which is not installed",
        "wall": wall.name if wall else "said when a place is opened: /status in a conversation",
        "missing": list(wall.missing) if wall else [],
        "host": await asyncio.to_thread(_host, ctx),
        "better": [shlex.join(words) for words in wall.better] if wall else [],
    }


def _host(ctx: PluginContext) -> str:
    """Whether a program that stays up answers the terminals of this home."""
    from hermes_front.wire import connect, place_of

    connection = connect(place_of(str(ctx.paths.home)), 0.5)
    if connection is None:
        return "none runs"
    connection.close()
    return f"runs; see: {ctx.program} host status"


async def _folder(ctx: PluginContext, place: BackendRow | None) -> str:
    """Where a conversation that began here would work: in one of Hermes' own, where this one is too wide."""
    named = str((await ctx.settings.get("terminal.cwd")).value or os.getcwd())  # noqa: PTH109
    here = place is not None and Feature.LOCAL in place.features
    return str(ctx.paths.home / "workspace") if here and wide(named := expanded(named)) else named
