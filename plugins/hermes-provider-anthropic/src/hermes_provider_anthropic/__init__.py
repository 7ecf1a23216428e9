"""Every service that speaks the Anthropic Messages wire."""

from collections.abc import Iterable

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Provider


@hookimpl
def register_providers(ctx: PluginContext) -> Iterable[Provider]:
    """Every service of the catalogue, under its name and its aliases."""
    from hermes_provider_anthropic.provider import all_providers

    return all_providers(ctx.secrets, ctx.endpoints)
