"""Ollama by its own protocol: a JSON object a line."""

from hermes_core import hookimpl


@hookimpl
def register_providers(ctx):
    from ollama.wire import Native, Service  # with the library, which a start without it does not need

    return [Native(ctx.secrets, ctx.endpoints.get(Service.name))]
