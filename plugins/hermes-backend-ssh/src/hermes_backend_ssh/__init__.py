"""Runs commands on another machine with OpenSSH."""

from collections.abc import Iterable

from hermes_core import hookimpl
from hermes_core.context import PluginContext
from hermes_core.kinds import Backend


@hookimpl
def register_backends(ctx: PluginContext) -> Iterable[Backend]:
    """The backend ``ssh``."""
    from hermes_backend_ssh.config import Config
    from hermes_backend_ssh.workspace import Ssh

    return [Ssh(ctx.config or Config())]
