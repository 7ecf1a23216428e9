"""The router of one kernel, its limits, and the routes and prices that its calls go by."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator
from functools import cached_property
from typing import Any

from attrs import evolve

from hermes_core.agent.route import choice
from hermes_core.config.schema import FallbackSettings
from hermes_core.config.settings import Settings
from hermes_core.errors import HermesError, ProviderError, Unavailable, UserError
from hermes_core.kinds import ModelCall, ModelRoute, RetryLimits, Router
from hermes_core.plugins.dispatch import Dispatch
from hermes_core.plugins.fence import Call, Entered, finished, one_line
from hermes_core.plugins.index import Index
from hermes_core.plugins.loader import Loader
from hermes_core.types import Endpoint, Price, Request, Response

__all__ = ["Routing"]

log = logging.getLogger(__name__)
_CLOSE = 1.5  # seconds to let go in, and for a router after an answer: a person waits for their prompt
_THINKS = 60.0  # seconds that a router may take beyond the pauses that the settings allow
_SAYS = 2.0  # seconds for what a provider knows without asking anybody
_ENTRY = ("provider", "model", "base_url", "api_key", "key_env", "effort")


class Routing:
    """What the model calls of one kernel share. Without a plugin that routes them, the first choice is asked, once."""

    def __init__(self, settings: Settings, index: Index, loader: Loader, dispatch: Dispatch) -> None:
        self.effort = ""  # said in a conversation; wins over what is set up
        self.notices: list[str] = []  # what a person should be told once, outside of a turn
        self.settings, self._runtime = settings, (settings, index, loader, dispatch)
        self._loader, self._dispatch, self.private = loader, dispatch, settings.config.privacy.redact_pii
        self._fallbacks: dict[FallbackSettings, ModelRoute | None] = {}
        self._no_list = set[str]()  # whose providers failed to say a price

    @cached_property
    def _routed(self) -> tuple[str, Router]:
        self._loader.load_contributing("routers")
        return next(iter(self._dispatch.contributions("register_routers")), ("", Router()))

    @property
    def router(self) -> Router:
        """Who has the calls answered."""
        return self._routed[1]

    def failed(self, error: BaseException, where: str = "attempts") -> None:
        """Report that the router raised what is no answer: its author should know."""
        self._dispatch.failed(self._routed[0], where, error)

    @contextlib.asynccontextmanager
    async def attempts(self, call: ModelCall) -> AsyncGenerator[Any, None]:
        """Open what the router tries for a call; one that does not let go of it is left behind, and named."""
        attempts: Any = self.router.attempts(call)
        try:
            yield attempts
        finally:
            if not getattr(attempts, "ag_running", True):  # else it was left behind, or is about to end
                await self._dispatch.shielded(self._routed[0], "attempts", attempts.aclose, _CLOSE)

    async def tried(self, step: Call, came: object) -> tuple[Any, BaseException | None]:
        """Await what a step of the router gives in time, or its error: little after an answer; pauses follow a failure.

        Before the first try it may only wait for keys of which there are several.
        """
        seconds = _CLOSE if isinstance(came, Response) else _THINKS
        if isinstance(came, ProviderError) or any(one.keys for one in self.settings.config.providers.values()):
            seconds += max(self.limits.longest_pause, self.limits.longest_wait) * (seconds == _THINKS)
        return await self._dispatch.tried(self._routed[0], "attempts", step, seconds)

    def entered(self, route: ModelRoute) -> Entered:
        """Find whose plugin answers on a route."""
        return self._dispatch.entered(choice.owner(self._dispatch, route.provider.name), "stream")

    def broken(self, entered: Entered, error: BaseException) -> Unavailable:
        """Return what to raise where a provider raised what is no ProviderError: its author should know."""
        self._dispatch.failed(entered.label, entered.where, error)
        text = f"{entered.label} failed: {one_line(error, self._dispatch.masked)}"
        return Unavailable(text, transient=False, hint=f"hermes plugins disable {entered.label}")

    def window(self, route: ModelRoute) -> int:
        """Say how many tokens fit into a route's model; of a router that fails to say, as if there were none."""
        try:
            return int(self.router.window(route))
        except Exception as error:  # noqa: BLE001 - a plugin's fault costs its own feature only
            self.failed(error, "window")
        return Router().window(route)

    def price(self, route: ModelRoute, model: str) -> Price | None:
        """Return what a model costs by its provider's list. One that fails to say is named, and not asked again."""
        label = self.entered(route).label
        if label in self._no_list:
            return None
        try:
            found = finished(lambda: route.provider.price(model), _SAYS, own=self._loader.is_own(label))
            if not isinstance(found, Price | None):
                raise TypeError(f"gave a {type(found).__name__}")
            return found
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a plugin's fault costs its own feature only
            self._no_list.add(label)
            self._dispatch.failed(label, "price", error)
        return None

    async def fallback(self, entry: FallbackSettings, main: ModelRoute) -> ModelRoute | None:
        """Return the route of an entry, opened once; None when it cannot be used, which the log says."""
        if entry.provider in ("", "auto"):
            return evolve(main, model=entry.model or main.model, effort=entry.effort or main.effort)
        key = FallbackSettings(**{name: getattr(entry, name) for name in _ENTRY})
        if key not in self._fallbacks:
            try:
                found: ModelRoute | None = await choice.named(entry.provider, entry.model, *self._runtime, fallback=key)
            except HermesError as error:
                log.warning(
                    "a fallback is passed over", extra={"fields": {"provider": entry.provider, "why": error.text}}
                )
                found = None
            self._fallbacks[key] = found
        return self._fallbacks[key]

    def shaped(self, route: ModelRoute, request: Request) -> Request:
        """Return the request with how hard the model thinks, unless it says that itself."""
        said = self.settings.config.model
        effort = self.effort or route.effort or said.efforts.get(request.model) or said.effort
        return evolve(request, options={"effort": effort, **request.options}) if effort else request

    @property
    def limits(self) -> RetryLimits:
        """How often and how long a request is tried."""
        said = self.settings.config.agent
        return RetryLimits(said.model_tries, said.backoff_seconds, said.backoff_cap, said.longest_wait)

    def renewed(self, route: ModelRoute) -> ModelRoute | None:
        """Return a route with the keys that are set now; None when none changed since they were read."""
        changed = self.settings.secrets.reload()
        with contextlib.suppress(UserError):
            endpoint = self.settings.endpoint(route.name) or Endpoint(name=route.name)
            if route.endpoint is not None and route.endpoint.base_url:
                endpoint = evolve(endpoint, base_url=route.endpoint.base_url)
            if changed or (route.endpoint and route.endpoint.keys and endpoint.keys != route.endpoint.keys):
                return evolve(route, endpoint=endpoint, provider=route.provider.at(endpoint))
        return None

    async def close(self, *routes: ModelRoute | None) -> None:
        """Let go of the router, and of every provider that was opened here or for ``routes``."""
        opened = {id(route.provider): route for route in (*routes, *self._fallbacks.values()) if route}
        self._fallbacks.clear()
        router = [self._let_go(self._routed[0], self.router.close)] if "_routed" in vars(self) else []
        await asyncio.gather(*router, *map(self.let_go, opened.values()))

    async def let_go(self, route: ModelRoute) -> None:
        """Close a route's provider, as far as it lets itself be closed."""
        await self._let_go(self.entered(route).label, route.provider.close)

    async def _let_go(self, label: str, close: Call) -> None:
        await self._dispatch.shielded(label, "close", close, _CLOSE)
