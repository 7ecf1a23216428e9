"""Goes on when a model cannot answer: retries, several keys, other providers."""

from collections.abc import Iterable

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Router


@hookimpl
def register_routers(ctx: PluginContext) -> Iterable[Router]:
    """The router of this Hermes."""
    from hermes_provider_router.router import Fallbacks

    return [Fallbacks(ctx)]
