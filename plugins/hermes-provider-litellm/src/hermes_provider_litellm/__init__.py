"""Every service that the library LiteLLM knows: Bedrock, Vertex, Azure, Cohere and a hundred more."""

from collections.abc import Iterable

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Provider


@hookimpl
def register_providers(ctx: PluginContext) -> Iterable[Provider]:
    """Make the provider. The library is imported when it is first asked for something."""
    from hermes_provider_litellm.provider import LiteLLM

    return [LiteLLM(ctx.endpoints.get("litellm"))]
