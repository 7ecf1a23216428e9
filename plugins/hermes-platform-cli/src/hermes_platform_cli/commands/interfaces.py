"""Which platform a conversation opens on."""

import click

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.kinds import Platform

__all__ = ["fitting"]


def fitting(ctx: PluginContext, name: str = "") -> Platform:
    """Whom a person talks through: the platform they named, else the first that fits where they are. HermesError."""
    config = ctx.host.section("display").interface
    there, left_out = ctx.host.interfaces(name or ("" if config == "auto" else config))
    if left_out:
        click.echo(left_out, err=True)
    if fits := next((one for one in there if not one.unfit()), None):
        return fits
    last = there[-1]
    hint = f"Try `{ctx.program} --interface cli`." if last.name != "cli" else ""
    raise UserError(f"{last.name} cannot be opened here: {last.unfit()}", hint=hint)
