"""``hermes mcp catalog``: servers that many people want, shown and added."""

import json
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.errors import UserError

if TYPE_CHECKING:
    import click

__all__ = ["catalog"]


def catalog(ctx: PluginContext) -> "click.Command":
    """Return the command."""
    import click

    @click.command("catalog")
    @click.argument("name", default="")
    @click.option("--add", is_flag=True, help="Add the server NAME, as it is shown.")
    @click.option("--as", "called", default="", metavar="OTHER", help="Under another name.")
    @click.option("--json", "as_json", is_flag=True, help="As JSON.")
    async def command(name: str, add: bool, called: str, as_json: bool) -> None:
        """Show servers that many people want; of NAME, what would be started or reached.

        Versions are pinned: what is added runs as it was when this Hermes was made. With --add it is connected to and
        written down, as `mcp add` does. One that wants a login is written down first, and logged in to then.
        """
        from hermes_tool_mcp.catalog import entries, entry

        if not name:
            if add:
                raise UserError("Say which one to add.", hint=f"{ctx.program} mcp catalog shows them.")
            shown = list(entries().values())
            if as_json:
                click.echo(json.dumps([{"name": one.name, "summary": one.summary, **one.row} for one in shown]))
                return
            width = max(len(one.name) for one in shown)
            for one in shown:
                click.echo(f"{one.name:<{width}}  {one.summary}{'  (wants a login)' if one.login else ''}")
            return
        found = entry(name, ctx.program)
        if as_json:
            click.echo(json.dumps({"name": found.name, "summary": found.summary, **found.row}))
            return
        click.echo(f"{found.name}: {found.summary}\n  {found.words}\n  {found.homepage}")
        if not add:
            click.echo(f"Add it: {ctx.program} mcp catalog {name} --add")
            return
        from hermes_tool_mcp.adding import added

        await added(ctx, called or name, dict(found.row), untested=found.login)
        if found.login:
            click.echo(f"Log in to it: {ctx.program} mcp login {called or name}")

    return command
