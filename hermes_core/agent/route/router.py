"""The models of one kernel: the chosen one, those that stand in for it, their keys, windows and rests."""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from attrs import evolve

from hermes_core.agent.route import choice, windows
from hermes_core.agent.route.call import ModelCall
from hermes_core.agent.route.choice import Route
from hermes_core.config.schema import AgentSettings, AuxiliarySettings, FallbackSettings
from hermes_core.config.settings import Settings
from hermes_core.errors import HermesError, ProviderError, UserError
from hermes_core.kinds import Provider
from hermes_core.plugins.dispatch import Dispatch
from hermes_core.plugins.index import Index
from hermes_core.plugins.loader import Loader
from hermes_core.types import Endpoint, MediaRequest, MediaResponse, MediaVerb, Request, Response

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.agent.route.keys import Key, Keys

__all__ = ["Router"]

log = logging.getLogger(__name__)
_REST = 60.0  # seconds a first choice is left alone after a limit
_SHORT_REST = 5.0  # the same when nobody else could answer either
_LONG = 300.0  # seconds that a summary, a picture or a sound may take at least
_ENTRY = ("provider", "model", "base_url", "api_key", "key_env", "effort")
_LOOK_UP = 4_000  # tokens a request must have before it matters how many fit


class Router:
    """Gives model calls. What one request learns (a rest, a window, another key) serves the next ones."""

    def __init__(self, settings: Settings, index: Index, loader: Loader, dispatch: Dispatch) -> None:
        self.sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
        self.effort = ""  # said in a conversation; wins over what is set up
        self.told: list[str] = []  # what a person should be told once, outside of a turn
        self._settings, self._parts = settings, (settings, index, loader, dispatch)
        self._windows = windows.Windows(settings.home.cache / "windows.json")
        self._fallbacks: dict[FallbackSettings, Route | None] = {}
        self._rests: dict[str, tuple[float, str]] = {}
        self._bound: dict[tuple[str, str], Provider] = {}
        self._looking: set[asyncio.Task[None]] = set()
        self._keys: Keys | None = None

    def call(self, route: Route, request: Request, *, tell: Callable[[str], None] = lambda _text: None) -> ModelCall:
        """One call for the conversation: the route first, then the fallback providers."""
        return ModelCall(self, route, request, fallbacks=self._settings.config.fallback_providers, tell=tell)

    async def complete(self, main: Route, request: Request, task: str) -> tuple[Response, Route]:
        """One whole reply beside the conversation, and who gave it. Raises ProviderError when nobody can."""
        own, first, seconds = await self._beside(main, task)
        seconds = max(seconds, _LONG) if task == "compression" else seconds
        if first is not main:
            request = evolve(request, model=first.model)
        call = ModelCall(self, first, request, fallbacks=own, last=main, seconds=seconds, task=task)
        async for _ in call.stream():
            pass
        if own and call.route is main:
            text = f"No model set up for {task} answered; {main.label} does it. See `hermes logs`."
            if text not in self.told:
                self.told.append(text)
                log.warning(text)
        return call.response, call.route

    async def media(
        self, main: Route, verb: MediaVerb, request: MediaRequest, task: str
    ) -> tuple[MediaResponse, Route]:
        """What is made of texts, pictures or sounds, and by whom. Raises ProviderError; UserError where nobody can."""
        from hermes_core.agent.route.media import MediaCall

        own, first, seconds = await self._beside(main, task)
        seconds = seconds if verb == "embed" else max(seconds, _LONG)
        call = MediaCall(self, first, verb, request, fallbacks=own, seconds=seconds, task=task)
        async for _ in call.stream():
            pass
        return call.result, call.route

    async def _beside(self, main: Route, task: str) -> tuple[Sequence[FallbackSettings], Route, float]:
        """Who was set up for a task, who of them is asked first, and how many seconds one may take."""
        wanted = self._settings.config.auxiliary.get(task) or AuxiliarySettings()
        own = [s for s in (wanted, *wanted.fallback) if s.provider not in ("", "auto") or s.model]
        first = next(filter(None, [await self.fallback(entry, main) for entry in own]), main)
        return own, first, wanted.timeout

    # --- who is asked -----------------------------------------------------------------------------------------------

    async def candidates(
        self, first: Route, fallbacks: Sequence[FallbackSettings], last: Route | None
    ) -> AsyncIterator[Route]:
        """Those who may answer, in order, each once. A first choice that rests is asked last."""
        resting = self.resting(first) if fallbacks or last else ""
        seen = {first.label}
        if not resting:
            yield first
        for entry in fallbacks:
            route = await self.fallback(entry, first)
            if route is not None and route.label not in seen:
                seen.add(route.label)
                yield route
        if last is not None and last.label not in seen:
            yield last
        if resting:
            yield first

    async def fallback(self, entry: FallbackSettings, main: Route) -> Route | None:
        """The route of an entry, opened once; None when it cannot be used, which the log says."""
        if entry.provider in ("", "auto"):
            return evolve(main, model=entry.model or main.model, effort=entry.effort or main.effort)
        key = FallbackSettings(**{name: getattr(entry, name) for name in _ENTRY})
        if key not in self._fallbacks:
            try:
                found: Route | None = await choice.named(entry.provider, entry.model, *self._parts, fallback=key)
            except HermesError as error:
                log.warning(
                    "a fallback is passed over", extra={"fields": {"provider": entry.provider, "why": error.text}}
                )
                found = None
            self._fallbacks[key] = found
        return self._fallbacks[key]

    def resting(self, route: Route) -> str:
        """Why a route is left alone just now; empty when it is not."""
        until, reason = self._rests.get(route.label, (0.0, ""))
        return reason if until > time.monotonic() else ""

    def rest(self, route: Route, error: ProviderError, *, short: bool = False) -> None:
        """Leave a route alone for a while after it met a limit."""
        self._rests[route.label] = (time.monotonic() + (_SHORT_REST if short else _REST), error.reason)

    def request_for(self, route: Route, model: str, request: Request) -> Request:
        """The request as this route is asked: its model, and how hard that thinks unless the request says it."""
        said = self._settings.config.model
        effort = self.effort or route.effort or said.efforts.get(model) or said.effort
        options = {"effort": effort, **request.options} if effort else request.options
        return evolve(request, model=model, options=options)

    @property
    def limits(self) -> AgentSettings:
        """How often and how long a request is tried."""
        return self._settings.config.agent

    # --- keys ---------------------------------------------------------------------------------------------------------

    @property
    def keys(self) -> "Keys":
        """The keys of providers that have several."""
        if self._keys is None:
            from hermes_core.agent.route.keys import Keys

            self._keys = Keys(self._settings, self._settings.home.cache / "keys.json")
        return self._keys

    def has_keys(self, route: Route) -> bool:
        """Whether its provider has several keys. A key of its own means that this one alone is used."""
        place = self._settings.config.providers.get(route.name)
        own = self._settings.config.model.provider == route.name and self._settings.config.model.api_key
        return bool(place and place.keys and not own)

    def provider(self, route: Route, key: "Key | None") -> Provider:
        """Who is asked over this route with this key."""
        if key is None:
            return self._bound.get((route.label, ""), route.provider)
        slot = (route.label, key.fingerprint)
        if slot not in self._bound:
            endpoint = route.endpoint or Endpoint(name=route.name)
            self._bound[slot] = route.provider.at(evolve(endpoint, api_key=key.value))
        return self._bound[slot]

    def reread(self, route: Route) -> bool:
        """Read the secrets again after a key was refused; whether the route has another one now."""
        if not self._settings.secrets.reload():
            return False
        with contextlib.suppress(UserError):
            endpoint = self._settings.endpoint(route.name) or Endpoint(name=route.name)
            if route.endpoint is not None and route.endpoint.base_url:
                endpoint = evolve(endpoint, base_url=route.endpoint.base_url)
            self._bound[route.label, ""] = route.provider.at(endpoint)
            return True
        return False

    # --- windows ------------------------------------------------------------------------------------------------------

    def window(self, route: Route) -> int:
        """How many tokens fit into the route's model, 0 when nobody said. Asks nobody."""
        said = route.endpoint.context if route.endpoint else 0
        return said or self._windows.get(route.label) or route.provider.window(route.model)

    def learn_window(self, route: Route, tokens: int) -> None:
        """Keep what a service said of its model's window."""
        self._windows.learn({route.label: tokens})

    def look_up_window(self, route: Route, used: int) -> None:
        """Ask the service how many tokens fit, beside everything else, once it begins to matter."""
        if used < _LOOK_UP or self.window(route):
            return

        async def ask() -> None:
            with contextlib.suppress(HermesError):
                found = {model.name: model.context for model in await route.provider.models()}
                self.learn_window(route, found.get(route.model) or 0)

        if not self._looking:
            task = asyncio.create_task(ask())
            self._looking.add(task)
            task.add_done_callback(self._looking.discard)

    async def close(self) -> None:
        """Let go of every provider that was opened here."""
        for task in self._looking:
            task.cancel()
        if self._looking:
            await asyncio.wait(self._looking)
        opened = [*self._bound.values(), *(route.provider for route in self._fallbacks.values() if route)]
        self._bound.clear()
        self._fallbacks.clear()
        for provider in opened:
            await provider.close()
