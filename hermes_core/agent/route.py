"""Which provider and model answer, and what to do when one cannot just now."""

import asyncio
import contextlib
import random
from collections.abc import AsyncGenerator, Awaitable, Callable

from attrs import frozen

from hermes_core.config.settings import Settings
from hermes_core.errors import PluginError, ProviderError, RateLimited, Unavailable, UnknownName, UserError
from hermes_core.kinds import Provider
from hermes_core.plugins.dispatch import Dispatch
from hermes_core.plugins.index import Index
from hermes_core.plugins.loader import Loader
from hermes_core.store.killpoints import die_at
from hermes_core.types import Delta, Request

__all__ = ["Route", "choose", "ranked_providers", "stream_with_retries"]

_TRIES = 3  # a request is sent again only while nothing of its reply was seen
_LONGEST_WAIT = 30.0  # seconds; a longer Retry-After is told to the person instead of waited for
CONNECT_HINT = "No model is connected, so simple rules answer. Connect one with `hermes model`."


@frozen(kw_only=True, eq=False)
class Route:
    """Who answers. ``notice`` is one line for the person, when there is something to say."""

    name: str
    provider: Provider
    model: str
    notice: str = ""


async def choose(
    settings: Settings, index: Index, loader: Loader, dispatch: Dispatch, *, provider: str = "", model: str = ""
) -> Route:
    """The provider and model asked for, configured, or ready, in this order.

    Raises UnknownName for a provider nobody offers, UserError when none can be used.
    """
    configured = settings.config.model
    if not provider:
        model = model or ("" if configured.provider else configured.default)
        head, colon, rest = model.partition(":")
        if colon and _is_known(head, settings, index):
            provider, model = head, rest
    name = provider or configured.provider
    model = model or (configured.default if name == configured.provider else "")
    if name:
        return await _named(name, model, settings, index, loader, dispatch)
    return await _ready(model, settings, loader, dispatch)


def _is_known(name: str, settings: Settings, index: Index) -> bool:
    return name in settings.config.providers or bool(index.contributing("providers", name))


async def _named(name: str, model: str, settings: Settings, index: Index, loader: Loader, dispatch: Dispatch) -> Route:
    endpoint = settings.endpoint(name)
    speaks = name
    if not index.contributing("providers", name) and name in settings.config.providers:
        speaks = settings.config.providers[name].like or "custom"
    loader.load_contributing("providers", [speaks])
    found = _providers(dispatch).get(speaks)
    if found is None:
        if fault := next((f for f in dispatch.faults if f.plugin in _owners(index, speaks)), None):
            raise PluginError(fault.plugin, fault.error, version=fault.version, hint=fault.hint)
        if owners := sorted(_owners(index, speaks)):
            raise UserError(f"Provider {name} is not enabled.", hint=f"hermes plugins enable {owners[0]}")
        known = index.offered("providers")
        raise UnknownName("provider", name, known, hint="`hermes plugins list` shows what is installed.")
    if endpoint is not None:
        found = found.at(endpoint)
    return Route(name=name, provider=found, model=model or await _default_model(found))


async def _ready(model: str, settings: Settings, loader: Loader, dispatch: Dispatch) -> Route:
    candidates = ranked_providers(settings, loader, dispatch)
    states = await asyncio.gather(*(p.ready() for p in candidates), return_exceptions=True)
    for provider, state in zip(candidates, states, strict=True):
        if state is True:
            notice = CONNECT_HINT if provider.rank >= 90 else ""
            chosen = model or await _default_model(provider)
            return Route(name=provider.name, provider=provider, model=chosen, notice=notice)
    raise UserError("No provider can answer.", hint="Connect a model with `hermes model`, or see `hermes doctor`.")


def ranked_providers(settings: Settings, loader: Loader, dispatch: Dispatch) -> list[Provider]:
    """Every offered provider, as the user configured it, in the order of the automatic choice."""
    loader.load_contributing("providers")
    ranked = []
    for provider in sorted(_providers(dispatch).values(), key=lambda p: (p.rank, p.name)):
        with contextlib.suppress(UserError):  # one that is configured wrongly is not chosen by itself
            endpoint = settings.endpoint(provider.name)
            ranked.append(provider if endpoint is None else provider.at(endpoint))
    return ranked


def _providers(dispatch: Dispatch) -> dict[str, Provider]:
    return {provider.name: provider for _, provider in dispatch.contributions("register_providers")}


def _owners(index: Index, name: str) -> set[str]:
    return {p.label for p in index.contributing("providers", name)}


async def _default_model(provider: Provider) -> str:
    if provider.default_model:
        return provider.default_model
    models = await provider.models()
    if not models:
        raise UserError(f"Provider {provider.name} offers no model.", hint="Name one: `--model NAME` or model.default.")
    return models[0].name


async def stream_with_retries(
    provider: Provider, request: Request, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
) -> AsyncGenerator[Delta, None]:
    """The provider's stream; a passing fault before the first piece is waited out. Raises ProviderError."""
    for attempt in range(1, _TRIES + 1):
        seen = False
        try:
            async for delta in provider.stream(request):
                if not seen:
                    die_at("requested")
                seen = True
                yield delta
            return
        except ProviderError as error:
            wait = _wait(error, attempt)
            if seen or attempt == _TRIES or wait is None:
                raise
            await sleep(wait)


def _wait(error: ProviderError, attempt: int) -> float | None:
    """Seconds until the next try, or None when trying again does not help now."""
    backoff = random.uniform(0, min(8.0, 0.5 * 2**attempt))  # noqa: S311 - full jitter, not a secret
    if isinstance(error, RateLimited):
        asked = error.retry_after
        return None if asked is not None and asked > _LONGEST_WAIT else backoff if asked is None else asked
    if isinstance(error, Unavailable) and error.transient:
        return backoff
    return None
