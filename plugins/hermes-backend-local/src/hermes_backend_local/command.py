"""``hermes walls``: which wall is around commands, and what they tried in vain."""

import click

from hermes_backend_local.config import Config
from hermes_backend_local.workspace import plan_of
from hermes_backend_wall.plan import INSTALL, NO_WALL
from hermes_backend_wall.probes import PROBES, refuted
from hermes_core.context import PluginContext
from hermes_core.tables import emit, json_option

__all__ = ["make_walls"]

_COLUMNS = ("tried", "result")


def make_walls(ctx: PluginContext) -> click.Command:
    """``walls``."""

    @click.command()
    @json_option
    async def walls(as_json: bool) -> int:
        """Try what commands must not be able to do, one by one, and say which wall holds. Exit 1 where it does not.

        Each try reaches for something that was put there for it: files, sockets and a process of this machine, outside
        of an empty workspace. Nothing of yours is touched.
        """
        plan = plan_of(ctx.config or Config(), ctx.paths)
        if plan is None:
            click.echo(f"There is no wall around commands: {NO_WALL[0]}.\n{INSTALL}", err=True)
            return 1
        wall, through = await refuted(plan)
        rows = [{"tried": one.text, "result": "let through" if one.text in through else "stopped"} for one in PROBES]
        emit(rows, _COLUMNS, as_json=as_json, empty="")
        missing = f" Not kept: {'; '.join(wall.missing)}." if wall.missing else ""
        verdict = f"{len(through)} of {len(rows)} were let through" if through else f"all {len(rows)} were stopped"
        click.echo(f"The wall is {wall.name}: {verdict}.{missing}", err=True)
        return 1 if through else 0

    return walls
