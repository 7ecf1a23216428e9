"""The models of one Hermes: the chosen one, those that answer in its place, and how long each is left alone.

What the model itself did wrong is never another model's task.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.errors import REASONS, ContextTooLong, HermesError, ProviderError
from hermes_core.kinds import Attempt, ModelCall, ModelRoute, Provider, Router
from hermes_core.types import EndpointKey, Response
from hermes_provider_router.tries import Tries
from hermes_provider_router.windows import Windows

if TYPE_CHECKING:
    from hermes_core.control import KeyRow
    from hermes_provider_router.keys import Keys

__all__ = ["Fallbacks"]

_REST = 60.0  # seconds a first choice is left alone after a limit
_SHORT_REST = 5.0  # the same when nobody else could answer either
_LOOK_UP = 4_000  # tokens a request must have before it matters how many fit
_WORTH_SAYING = 5.0  # seconds of waiting
_Failed = list[tuple[ModelRoute, ProviderError]]


class Fallbacks(Router):
    """Tries again, and asks the next. What one call learns (a rest, a window, another key) serves the others."""

    name = "router"

    def __init__(self, context: PluginContext) -> None:
        self.sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
        self.windows = Windows(context.paths.cache / "windows.json")
        self.bound: dict[tuple[str, str], Provider] = {}  # by a route's label and the fingerprint of a key
        self._context = context
        self._rests: dict[str, tuple[float, str]] = {}
        self._looking: set[asyncio.Task[None]] = set()
        self._keys: Keys | None = None

    async def attempts(self, call: ModelCall) -> AsyncGenerator[Attempt, Response | ProviderError]:
        """See Router."""
        failed: _Failed = []
        async with contextlib.aclosing(self._candidates(call)) as candidates:
            async for route in candidates:
                tries = Tries(self, call, route)
                while True:
                    shown = False
                    try:
                        attempt = await tries.next(self._note(call, route, failed))
                        came, shown = (yield attempt), call.shown
                    except ProviderError as resting:  # all its keys do
                        came = resting
                    if isinstance(came, Response):
                        self._look_up_window(route, came.usage.input)
                        return
                    wait = await tries.wait_after(came)
                    if wait is None:
                        break
                    if shown or wait > _WORTH_SAYING:
                        call.tell(_words(came, wait, shown=shown))
                    await self.sleep(wait)
                self._give_up(call, route, came)
                failed.append((route, came))
        raise self._nobody(call, failed)

    def _give_up(self, call: ModelCall, route: ModelRoute, error: ProviderError) -> None:
        """One route cannot answer. Raises the error where another cannot help either."""
        from hermes_provider_router import recovery

        if not recovery.plan(error).onward:
            if isinstance(error, ContextTooLong) and not call.task:
                from hermes_provider_router.fitting import told

                raise told(error, call.request) from error
            raise error
        if route is call.route and recovery.rests(error):
            self._rest(route, error, _REST)

    def _nobody(self, call: ModelCall, failed: _Failed) -> ProviderError:
        """The error of the first choice, with a word on the others."""
        error = next((error for route, error in failed if route is call.route), failed[-1][1])
        if len(failed) > 1:
            self._rest(call.route, error, _SHORT_REST)
            others = "; ".join(f"{route.label}: {REASONS[e.reason]}" for route, e in failed if e is not error)
            error.hint = f"{error.hint} Nobody else could answer either ({others}).".strip()
        return error

    def _note(self, call: ModelCall, route: ModelRoute, failed: _Failed) -> str:
        if route is call.route:
            return ""
        reason = failed[0][1].reason if failed else self._resting(call.route)
        return f"{route.label} answered, because {call.route.label} could not: {REASONS[reason]}."

    # --- who is asked -------------------------------------------------------------------------------------------------

    async def _candidates(self, call: ModelCall) -> AsyncGenerator[ModelRoute, None]:
        """Those who may answer, in order, each once. A first choice that rests is asked last."""
        resting = "" if call.alone else self._resting(call.route)
        seen = {call.route.label}
        if not resting:
            yield call.route
        async for route in call.fallbacks():
            if route.label not in seen:
                seen.add(route.label)
                yield route
        if resting:
            yield call.route

    def _resting(self, route: ModelRoute) -> str:
        """Why a route is left alone just now; empty when it is not."""
        until, reason = self._rests.get(route.label, (0.0, ""))
        return reason if until > time.monotonic() else ""

    def _rest(self, route: ModelRoute, error: ProviderError, seconds: float) -> None:
        self._rests[route.label] = (time.monotonic() + seconds, error.reason)

    # --- keys ---------------------------------------------------------------------------------------------------------

    @property
    def known_keys(self) -> "Keys":
        """What is known of the keys of providers that have several."""
        if self._keys is None:
            from hermes_provider_router.keys import Keys

            cache = self._context.paths.cache.parent
            self._keys = Keys(self._context.documents, cache / "keys.json")
        return self._keys

    async def keys(self, given: Mapping[str, Sequence[EndpointKey]], *, reset: str = "") -> "Sequence[KeyRow]":
        """See Router."""
        if reset:
            await self.known_keys.reset(given, reset)
        return await self.known_keys.rows(given)

    # --- windows ------------------------------------------------------------------------------------------------------

    def window(self, route: ModelRoute) -> int:
        """See Router. What a service said of itself counts more than what is known of its kind."""
        said = route.endpoint.context if route.endpoint else 0
        return said or self.windows.get(route.label) or super().window(route)

    def _look_up_window(self, route: ModelRoute, used: int) -> None:
        """Ask the service how many tokens fit, beside everything else, once it begins to matter."""
        if used < _LOOK_UP or self.window(route):
            return

        async def ask() -> None:
            with contextlib.suppress(HermesError):
                found = {model.name: model.context for model in await route.provider.models()}
                self.windows.learn(route.label, found.get(route.model) or 0)

        if not self._looking:
            task = asyncio.create_task(ask())
            self._looking.add(task)
            task.add_done_callback(self._looking.discard)

    async def close(self) -> None:
        """See Router."""
        for task in self._looking:
            task.cancel()
        if self._looking:
            await asyncio.wait(self._looking)
        opened = list(self.bound.values())
        self.bound.clear()
        for provider in opened:
            await provider.close()


def _words(error: ProviderError, wait: float, *, shown: bool) -> str:
    after = f" in {wait:.0f} s" if wait > _WORTH_SAYING else ""
    again = f"The answer begins again{after}." if shown else f"Asking again{after}."
    return f"{error.text} {again}"
