"""A proxy on this machine: other programs speak OpenAI's protocol through a login of Hermes."""

from collections.abc import Iterable, Sequence
from functools import partial

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Service
from hermes_core.types import Command


@hookimpl
def register_services(ctx: PluginContext) -> Iterable[Service]:
    """The proxy beside a gateway, where the settings say so."""
    from hermes_platform_proxy.service import Proxy

    return [Proxy(ctx)]


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Sequence[Command]:
    """``hermes proxy``."""
    from hermes_platform_proxy.command import build

    return [Command(name="proxy", build=partial(build, ctx))]
