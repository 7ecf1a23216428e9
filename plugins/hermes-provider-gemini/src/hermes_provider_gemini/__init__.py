"""Google's Gemini models, in their own protocol."""

from collections.abc import Iterable

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Provider, SetupStep


@hookimpl
def register_providers(ctx: PluginContext) -> Iterable[Provider]:
    """Make the provider, under its name and its aliases."""
    from hermes_provider_gemini.provider import all_providers
    from hermes_provider_kit.kept import Lists

    return all_providers(ctx.secrets, ctx.endpoints, Lists.of(ctx.paths))


@hookimpl
def register_setup(ctx: PluginContext) -> Iterable[SetupStep]:
    """Say how it is set up: by a key, tested by asking for its models."""
    from hermes_provider_gemini.setup import all_steps

    return all_steps(ctx.secrets, ctx.endpoints)
