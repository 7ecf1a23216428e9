"""What a bot needs beside its chat service, and the commands that keep the gateway running."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from hermes_core import hookimpl
from hermes_core.types import Command

if TYPE_CHECKING:
    import click

    from hermes_core.context import PluginContext

__all__ = ["register_cli_commands"]


@hookimpl
def register_cli_commands(ctx: "PluginContext") -> Iterable[Command]:
    """``gateway install`` and ``gateway uninstall``."""

    def install() -> "click.Command":
        from hermes_platform_gateway.service import make_install

        return make_install(ctx)

    def uninstall() -> "click.Command":
        from hermes_platform_gateway.service import make_uninstall

        return make_uninstall(ctx)

    return [Command(name="gateway install", build=install), Command(name="gateway uninstall", build=uninstall)]
