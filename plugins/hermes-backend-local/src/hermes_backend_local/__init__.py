"""Runs commands on this machine."""

from collections.abc import Iterable

from hermes_core import hookimpl
from hermes_core.context import PluginContext
from hermes_core.kinds import Backend


@hookimpl
def register_backends(ctx: PluginContext) -> Iterable[Backend]:
    """The backend ``local``."""
    from hermes_backend_local.workspace import Local

    return [Local(passthrough=ctx.config.env_passthrough if ctx.config else (), guarded=ctx.paths.guarded)]
