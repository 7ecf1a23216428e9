"""``hermes plugins install``, ``remove`` and ``sync``: fetching plugins, and taking them away."""

import click

from hermes_core.context import PluginContext
from hermes_platform_cli.commands import installer

__all__ = ["make_install", "make_remove", "make_sync"]


def make_install(ctx: PluginContext) -> click.Command:
    """``plugins install``."""

    @click.command()
    @click.argument("requirement")
    @click.option("--allow-sdist", is_flag=True, help="Also build from source (runs the author's build code).")
    async def command(requirement: str, allow_sdist: bool) -> None:
        """Install a plugin from the package index. It is not enabled by this."""
        installer.install(requirement, ctx.plugins, binary_only=not allow_sdist, index=ctx.config.index, say=_say)
        _look_again(ctx)

    return command


def make_remove(ctx: PluginContext) -> click.Command:
    """``plugins remove``."""

    @click.command()
    @click.argument("name")
    async def command(name: str) -> None:
        """Uninstall a plugin; its settings stay."""
        installer.remove(ctx.plugins.find(name), ctx.plugins, say=_say)
        _look_again(ctx)

    return command


def make_sync(ctx: PluginContext) -> click.Command:
    """``plugins sync``."""

    @click.command()
    async def command() -> None:
        """Install again what plugins.lock says was wanted, after an upgrade took it away."""
        installer.sync(ctx.plugins, index=ctx.config.index, say=_say)
        _look_again(ctx)

    return command


def _look_again(ctx: PluginContext) -> None:
    _say(f"{ctx.plugins.rescan()} plugins installed.")


def _say(text: str) -> None:
    click.echo(text, err=True)
