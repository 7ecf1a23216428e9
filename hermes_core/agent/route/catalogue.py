"""Who could answer, and with which models."""

import asyncio

from attrs import evolve

from hermes_core.agent.route.choice import asked, choose, ranked_providers
from hermes_core.agent.runtime import Runtime
from hermes_core.types import ModelRow, ProviderRow

__all__ = ["model_rows", "provider_rows"]

_RULES, _LOCAL, _ALIASES = 90, 50, 99  # from which priority on a provider is of these kinds


async def provider_rows(runtime: Runtime) -> list[ProviderRow]:
    """Return every provider with whether it could answer now, in the order of the automatic choice."""
    found = ranked_providers(runtime.settings, runtime.loader, runtime.dispatch)
    found = [p for p in found if p.priority < _ALIASES]  # the rest are other names of these
    answering = runtime.routes.current.name if runtime.routes.current else ""
    states = await asyncio.gather(*(asked(runtime.dispatch, p, "ready") for p in found), return_exceptions=True)
    return [
        ProviderRow(
            name=p.name,
            ready=state is True or p.name == answering,  # a server of one's own does not say that it is there
            kind="rules" if p.priority >= _RULES else "local" if p.priority >= _LOCAL else "hosted",
        )
        for p, state in zip(found, states, strict=True)
    ]


async def model_rows(runtime: Runtime, provider: str = "") -> list[ModelRow]:
    """Return the models of a provider, asked now; of the one that answers when none is named. Raises HermesError."""
    mine = not provider or (runtime.routes.current is not None and provider == runtime.routes.current.name)
    if mine:
        route = await runtime.routes.get()
    else:
        route = await choose(
            runtime.settings, runtime.index, runtime.loader, runtime.dispatch, provider=provider, model="-"
        )
    try:
        models = await asked(runtime.dispatch, route.provider, "models")
        return [
            ModelRow(provider=route.name, model=whole, price=price)
            for model in models
            for whole in [evolve(model, context=model.context or route.provider.window(model.name))]
            for price in [runtime.models.price(route, model.name)]
        ]
    finally:
        if not mine:
            await route.provider.close()
