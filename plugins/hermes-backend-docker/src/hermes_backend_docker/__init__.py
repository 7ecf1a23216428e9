"""Runs commands in a hardened container of Docker or Podman."""

from collections.abc import Iterable

from hermes_core import hookimpl
from hermes_core.context import PluginContext
from hermes_core.kinds import Backend
from hermes_core.types import Check


@hookimpl
def register_backends(ctx: PluginContext) -> Iterable[Backend]:
    """The backend ``docker``."""
    from hermes_backend_docker.backend import Docker
    from hermes_backend_docker.config import Config

    return [Docker(ctx.config or Config(), ctx.paths.home, ctx.log)]


@hookimpl
def register_checks(ctx: PluginContext) -> Iterable[Check]:
    """What doctor can find out about the daemon, and about the wall of its containers."""
    from hermes_backend_docker.backend import Docker
    from hermes_backend_docker.checks import check_daemon, check_walls
    from hermes_backend_docker.config import Config

    config, home = ctx.config or Config(), ctx.paths.home
    return [check_daemon(config, home), check_walls(Docker(config, home, ctx.log), home)]
