"""Models on this machine, run by Ollama, in its own protocol."""

from collections.abc import Iterable

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Provider, SetupStep
from hermes_core.types import Command


@hookimpl
def register_providers(ctx: PluginContext) -> Iterable[Provider]:
    """Make the provider."""
    from hermes_provider_ollama.provider import Ollama

    return [Ollama(ctx.secrets, ctx.endpoints.get("ollama"))]


@hookimpl
def register_setup(ctx: PluginContext) -> Iterable[SetupStep]:
    """Say how it is set up: by an address, tested by asking for its models."""
    from hermes_provider_ollama.setup import all_steps

    return all_steps(ctx.secrets, ctx.endpoints)


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Iterable[Command]:
    """Give its commands."""
    from hermes_provider_ollama.commands import commands

    return commands(ctx)
