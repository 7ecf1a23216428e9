"""Runs commands on another machine with OpenSSH."""

from collections.abc import Iterable

from hermes_core import hookimpl
from hermes_core.context import PluginContext
from hermes_core.kinds import Backend
from hermes_core.types import Check, Finding


@hookimpl
def register_backends(ctx: PluginContext) -> Iterable[Backend]:
    """The backend ``ssh``."""
    from hermes_backend_ssh.config import Config
    from hermes_backend_ssh.workspace import Ssh

    return [Ssh(ctx.config or Config())]


@hookimpl
def register_checks(ctx: PluginContext) -> Iterable[Check]:
    """That no wall is around commands over there."""
    from hermes_backend_kit.findings import of_wall
    from hermes_backend_ssh.config import Config
    from hermes_backend_ssh.workspace import Ssh

    config = ctx.config or Config()

    async def look(*, full: bool) -> list[Finding]:
        fix = "Log in as a user who may do little there, or use another backend."
        return await of_wall(Ssh(config), str(ctx.paths.home), full=full, fix=fix)

    async def run() -> list[Finding]:
        return await look(full=False) if config.host else []

    return [Check(name="walls", run=run, full=lambda: look(full=True))]
