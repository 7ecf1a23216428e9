"""``hermes walls``: which wall is around commands, and what they tried in vain."""

import click

from hermes_backend_local.backend import local
from hermes_backend_local.checks import proved_here
from hermes_backend_wall.plan import INSTALL
from hermes_core.context import PluginContext
from hermes_tables.tables import emit, json_option

__all__ = ["make_walls"]

_COLUMNS = ("tried", "result")


def make_walls(ctx: PluginContext) -> click.Command:
    """``walls``."""

    @click.command()
    @json_option
    async def walls(as_json: bool) -> int:
        """Try what commands of the backend local must not be able to do, one by one. Exit 1 where the wall lets it.

        Each try reaches for something that was put there for it: files, sockets and a process of this machine, outside
        of an empty workspace. Nothing of yours is touched. Where another backend runs your commands, `hermes doctor
        --walls` tries its wall.
        """
        wall = local(ctx).wall
        if wall.name == "none":
            click.echo(f"There is no wall around commands: {wall.missing[0]}.\n{INSTALL}", err=True)
            return 1
        proof = await proved_here(ctx)
        rows = [
            {"tried": text, "result": "let through" if text in proof.through else "stopped"} for text in proof.tried
        ]
        emit(rows, _COLUMNS, as_json=as_json, empty="")
        missing = f" Not kept: {'; '.join(proof.wall.missing)}." if proof.wall.missing else ""
        many = len(proof.through)
        verdict = f"{many} of {len(rows)} were let through" if many else f"all {len(rows)} were stopped"
        click.echo(f"The wall of the backend local is {proof.wall.name}: {verdict}.{missing}", err=True)
        return 1 if many else 0

    return walls
