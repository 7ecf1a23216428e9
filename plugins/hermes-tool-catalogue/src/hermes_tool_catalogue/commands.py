"""``hermes model refresh``."""

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.types import Command

if TYPE_CHECKING:
    import click

__all__ = ["commands"]


def commands(ctx: PluginContext) -> Iterable[Command]:
    """Give it."""
    return [Command(name="model refresh", build=partial(_refresh, ctx))]


def _refresh(ctx: PluginContext) -> "click.Command":
    import click

    @click.command("refresh")
    async def command() -> None:
        """Ask each service that is set up which models it has, and a public list what models cost.

        A gateway asks the services once a day by itself, and the list where ``catalogue.public`` says so. What came is
        used for windows, prices and the lists of pickers, also while a service cannot be asked.
        """
        from hermes_tool_catalogue.refresh import refresh

        made = await refresh(ctx, partial(click.echo, err=True), public=True)
        if made.wrong and not (made.services or made.prices):
            raise HermesError("Nothing could be asked; what was kept before is still used.", hint="hermes model list")

    return command
