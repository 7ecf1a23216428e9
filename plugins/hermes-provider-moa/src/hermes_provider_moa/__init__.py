"""A mixture of agents: several models are asked side by side, and one answers with what they said."""

from collections.abc import Iterable

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Provider


@hookimpl
def register_providers(ctx: PluginContext) -> Iterable[Provider]:
    """Make the provider."""
    from hermes_provider_moa.provider import Mixture

    return [Mixture(ctx.settings, ctx.config, tell=ctx.tell)]
