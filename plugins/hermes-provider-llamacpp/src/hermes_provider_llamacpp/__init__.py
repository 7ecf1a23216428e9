"""Models of GGUF files, run by llama.cpp beside Hermes, without a server."""

from collections.abc import Iterable

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Provider
from hermes_core.types import Command

__all__ = ["register_cli_commands", "register_providers"]


@hookimpl
def register_providers(ctx: PluginContext) -> Iterable[Provider]:
    """Make the provider."""
    from hermes_provider_llamacpp.provider import made

    return [made(ctx)]


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Iterable[Command]:
    """Give ``hermes gguf``."""
    from hermes_provider_llamacpp.commands import commands

    return commands(ctx)
