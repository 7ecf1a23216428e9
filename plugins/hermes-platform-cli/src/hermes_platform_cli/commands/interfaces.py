"""Which platform a conversation opens on."""

from collections.abc import Sequence

import click

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName, UserError
from hermes_core.kinds import Platform

__all__ = ["fitting", "interfaces"]


def fitting(ctx: PluginContext, name: str = "") -> Platform:
    """Whom a person talks through: the platform they named, else the first that fits where they are. HermesError."""
    config = ctx.host.section("display").interface
    there, left_out = interfaces(ctx, name or ("" if config == "auto" else config))
    if left_out:
        click.echo(left_out, err=True)
    if fits := next((one for one in there if not one.unfit()), None):
        return fits
    last = there[-1]
    hint = f"Try `{ctx.program} --interface cli`." if last.name != "cli" else ""
    raise UserError(f"{last.name} cannot be opened here: {last.unfit()}", hint=hint)


def interfaces(ctx: PluginContext, name: str = "") -> tuple[Sequence[Platform], str]:
    """The platforms of a name, or of this program, on which whoever started it talks; and what is left out.

    The first choice comes first. Raises UnknownName when none is there; of a ``name`` what is wrong with it.
    """
    names, usual = [name] if name else ctx.host.interfaces, ctx.host.interfaces
    found, faults = ctx.host.contributed("platforms", names, named=bool(name))
    if not found:
        missing = names[-1]
        package = f", or pip install hermes-platform-{missing}" if missing in usual else ""
        hint = f"Try `{ctx.program} -z TEXT`{package}."
        raise UnknownName("platform", missing, ctx.plugins.offered("platforms"), hint=hint)
    return [*found.values()], "\n".join(f"{f.plugin} is left out: {f.error}. See: {f.hint}" for f in faults)
