"""Which provider and model answer."""

import asyncio
import contextlib
from typing import Any, Literal

from hermes_core.config.schema import FallbackSettings
from hermes_core.config.settings import Settings
from hermes_core.errors import HermesError, PluginError, UnknownName, UserError
from hermes_core.kinds import ModelRoute, Provider
from hermes_core.own import MOST, PROVIDERS
from hermes_core.plugins.dispatch import Dispatch
from hermes_core.plugins.fence import Late, one_line
from hermes_core.plugins.index import Index
from hermes_core.plugins.loader import Loader

__all__ = ["asked", "choose", "named", "owner", "ranked_providers"]

_PROTOCOL_OWNER = {"messages": "anthropic"}  # who speaks a protocol that the general provider does not
_PATIENCE = {"ready": 5.0, "models": 30.0}  # seconds that a provider has to say it
CONNECT_HINT = "No model is connected, so simple rules answer. Connect one with `hermes model`."


async def choose(
    settings: Settings, index: Index, loader: Loader, dispatch: Dispatch, *, provider: str = "", model: str = ""
) -> ModelRoute:
    """Choose the provider and model asked for, configured, or ready, in this order.

    Raises UnknownName for a provider nobody offers, UserError when none can be used.
    """
    configured = settings.config.model
    if not provider:
        model = model or ("" if configured.provider else configured.default)
        head, colon, rest = model.partition(":")
        if colon and (head in {*settings.config.providers, *PROVIDERS} or index.contributing("providers", head)):
            provider, model = head, rest
    name = provider or configured.provider
    model = model or (configured.default if name == configured.provider else "")
    if name:
        return await named(name, model, settings, index, loader, dispatch)
    return await _ready(model, settings, loader, dispatch)


async def named(
    name: str,
    model: str,
    settings: Settings,
    index: Index,
    loader: Loader,
    dispatch: Dispatch,
    fallback: FallbackSettings | None = None,
) -> ModelRoute:
    """Return the route to a provider by its name. Raises UnknownName, UserError, PluginError when it cannot be used."""
    endpoint = settings.endpoint(name, fallback)
    speaks = name
    if not index.contributing("providers", name) and name in settings.config.providers:
        speaks = settings.config.providers[name].like or "custom"
    owner = _PROTOCOL_OWNER.get(endpoint.protocol, "") if endpoint else ""
    if owner and not _owners(index, speaks) & _owners(index, owner):
        speaks = owner
    loader.load_contributing("providers", [speaks])
    found = _providers(dispatch).get(speaks)
    if found is None:
        if fault := next((f for f in dispatch.faults if f.plugin in _owners(index, speaks)), None):
            raise PluginError(fault.plugin, fault.error, version=fault.version, hint=fault.hint)
        if owners := sorted(_owners(index, speaks)):
            raise UserError(f"Provider {name} is not enabled.", hint=f"hermes plugins enable {owners[0]}")
        usual = "`hermes plugins list` shows what is installed."
        hint = f"hermes plugins install {PROVIDERS[name]}" if name in PROVIDERS else usual
        raise UnknownName("provider", name, index.offered("providers"), hint=hint)
    if endpoint is not None:
        found = found.at(endpoint)
    chosen = model or await _default_model(dispatch, found)
    return ModelRoute(
        name=name, provider=found, model=chosen, endpoint=endpoint, effort=fallback.effort if fallback else ""
    )


async def _ready(model: str, settings: Settings, loader: Loader, dispatch: Dispatch) -> ModelRoute:
    candidates = ranked_providers(settings, loader, dispatch)
    states = await asyncio.gather(*(asked(dispatch, p, "ready") for p in candidates), return_exceptions=True)
    for provider, state in zip(candidates, states, strict=True):
        if state is True:
            notice = CONNECT_HINT if provider.priority >= 90 else ""
            chosen = model or await _default_model(dispatch, provider)
            endpoint = settings.endpoint(provider.name)
            return ModelRoute(name=provider.name, provider=provider, model=chosen, notice=notice, endpoint=endpoint)
    hint = f"hermes plugins enable provider/NAME, or install what most people want: pip install '{MOST}'"
    raise UserError("No provider can answer.", hint="hermes setup openrouter, or another" if candidates else hint)


def ranked_providers(settings: Settings, loader: Loader, dispatch: Dispatch) -> list[Provider]:
    """Return every offered provider, as the user configured it, in the order of the automatic choice."""
    loader.load_contributing("providers")
    ranked = []
    for provider in sorted(_providers(dispatch).values(), key=lambda p: (p.priority, p.name)):
        with contextlib.suppress(UserError):  # one that is configured wrongly is not chosen by itself
            endpoint = settings.endpoint(provider.name)
            ranked.append(provider if endpoint is None else provider.at(endpoint))
    return ranked


def _providers(dispatch: Dispatch) -> dict[str, Provider]:
    return {provider.name: provider for _, provider in dispatch.contributions("register_providers")}


def _owners(index: Index, name: str) -> set[str]:
    return {p.label for p in index.contributing("providers", name)}


def owner(dispatch: Dispatch, name: str) -> str:
    """Return the label of the plugin that has a provider."""
    return next((label for label, one in dispatch.contributions("register_providers") if one.name == name), name)


async def asked(dispatch: Dispatch, provider: Provider, where: Literal["ready", "models"]) -> Any:
    """Ask a provider about itself. Raises HermesError; PluginError where it hangs or breaks, and it is named."""
    label = owner(dispatch, provider.name)
    answer, error = await dispatch.tried(label, where, getattr(provider, where), _PATIENCE[where])
    if error and (isinstance(error, Late) or not isinstance(error, HermesError)):
        dispatch.failed(label, where, error)
        raise PluginError(label, f"{where}: {one_line(error, dispatch.masked)}", hint=f"hermes plugins disable {label}")
    if error:
        raise error
    return answer


async def _default_model(dispatch: Dispatch, provider: Provider) -> str:
    if provider.default_model:
        return provider.default_model
    models = await asked(dispatch, provider, "models")
    if not models:
        raise UserError(f"Provider {provider.name} offers no model.", hint="Name one: `--model NAME` or model.default.")
    return str(models[0].name)
