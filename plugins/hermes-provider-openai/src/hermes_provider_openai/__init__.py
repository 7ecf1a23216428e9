"""Every service that speaks the OpenAI chat-completions or responses protocol."""

from collections.abc import Iterable

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Provider, SetupStep


@hookimpl
def register_providers(ctx: PluginContext) -> Iterable[Provider]:
    """Every service of the catalogue, under its name and its aliases."""
    from hermes_provider_kit.kept import Lists
    from hermes_provider_openai.provider import all_providers

    return all_providers(ctx.secrets, ctx.endpoints, Lists.of(ctx.paths), ctx.paths.cache.parent / "limits")


@hookimpl
def register_setup(ctx: PluginContext) -> Iterable[SetupStep]:
    """How each service is set up: a key or an address, tested by asking for its models."""
    from hermes_provider_openai.setup import all_steps

    return all_steps(ctx.secrets, ctx.endpoints)
