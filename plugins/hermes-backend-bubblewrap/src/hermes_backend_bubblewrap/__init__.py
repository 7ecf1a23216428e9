"""Runs commands on this machine in a sandbox."""

from collections.abc import Iterable

from hermes_core import hookimpl
from hermes_core.context import PluginContext
from hermes_core.kinds import Backend
from hermes_core.types import Check, Finding


@hookimpl
def register_backends(ctx: PluginContext) -> Iterable[Backend]:
    """The backend ``bubblewrap``."""
    from hermes_backend_bubblewrap.backend import Bubblewrap
    from hermes_backend_bubblewrap.config import Config
    from hermes_backend_wall.skills import folders

    return [Bubblewrap(ctx.config or Config(), home=ctx.paths.home, offered=folders(ctx.paths))]


@hookimpl
def register_checks(ctx: PluginContext) -> Iterable[Check]:
    """Whether the sandbox can be opened here, what in it is weaker than it could be, and what it lets through."""
    from hermes_backend_bubblewrap.checks import findings, of_walls
    from hermes_backend_bubblewrap.config import Config

    async def run() -> list[Finding]:
        return await findings(ctx.config or Config(), ctx.paths.home)

    async def walls() -> list[Finding]:
        return await of_walls(ctx.config or Config(), ctx.paths.home)

    async def all_walls() -> list[Finding]:
        return await of_walls(ctx.config or Config(), ctx.paths.home, full=True)

    return [Check(name="sandbox", run=run), Check(name="walls", run=walls, full=all_walls)]
