"""``hermes people export`` and ``hermes people erase``."""

from pathlib import Path
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.errors import UserError

if TYPE_CHECKING:
    import click

__all__ = ["people_erase", "people_export"]


def people_export(ctx: PluginContext) -> "click.Command":
    """``people export``."""
    import click

    @click.command()
    @click.argument("name")
    @click.option("--to", "target", default="", metavar="FILE", help="Where to; NAME.zip here if you do not say.")
    async def command(name: str, target: str) -> None:
        """Write everything that is kept of a person into one file: conversations, memory, files, rows.

        NAME is as `hermes people` shows it. The file is theirs to have; it says what they said.
        """
        from hermes_tool_upkeep.export import export_person

        path = Path(target or f"{name.replace('/', '_').replace(':', '-')}.zip").absolute()
        if path.exists():
            raise UserError(f"{path} is there already.", hint="Say another place: --to FILE")
        if not path.parent.is_dir():
            raise UserError(f"There is no folder {path.parent}.")
        click.echo(str(await export_person(ctx, name, path.parent, path.name)))

    return command


def people_erase(ctx: PluginContext) -> "click.Command":
    """``people erase``."""
    import click

    from hermes_tables.tables import confirm

    @click.command()
    @click.argument("name")
    @click.option("-y", "--yes", is_flag=True, help="Do not ask.")
    async def command(name: str, yes: bool) -> None:
        """Erase a person, and leave no byte of them: conversations, memory, files, accounts, what they said in groups.

        What they spent stays as numbers without a name. It is the same as `store erase --person`, which says more.
        """
        from hermes_tool_upkeep.commands import erase_whole_person

        if name == ctx.owner.person:
            raise UserError(f"{name} is you.", hint=f"If you mean it: {ctx.program} store erase --person {name}")
        confirm(f"Erase all of {name}?", yes=yes)
        await erase_whole_person(ctx, name)

    return command
