"""The models of one Hermes: the chosen one, those that answer in its place, and how long each is left alone.

What the model itself did wrong is never another model's task.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hermes_core.context import PluginContext
from hermes_core.errors import REASONS, ContextTooLong, HermesError, ProviderError
from hermes_core.kinds import Attempt, ModelCall, ModelRoute, Provider, Router
from hermes_core.types import EndpointKey, Response, Text, ToolCall
from hermes_provider_kit.limits import Limits
from hermes_provider_router.tries import Tries
from hermes_provider_router.windows import Windows

if TYPE_CHECKING:
    from hermes_core.types import KeyRow
    from hermes_provider_router.keys import Keys

__all__ = ["Fallbacks"]

_REST = 60.0  # seconds a route is left alone after a limit, while others can answer
_FAILED_REST = 30.0  # the same after the service failed; twice as long for each further time
_LONGEST_REST = 300.0
_SHORT_REST = 5.0  # the same when nobody else could answer either
_EMPTY = "its reply was empty"
_LOOK_UP = 4_000  # tokens a request must have before it matters how many fit
_WORTH_SAYING = 5.0  # seconds of waiting
_Failed = list[tuple[ModelRoute, ProviderError]]


class _Rest(NamedTuple):
    """How long a route is left alone, why, and how often in a row it failed its whole share of tries."""

    until: float
    words: str
    failures: int = 0


class Fallbacks(Router):
    """Tries again, and asks the next. What one call learns (a rest, a window, another key) serves the others.

    A route that used up its tries rests, and the others are asked first; afterwards one try tells whether it is back.
    """

    name = "router"

    def __init__(self, context: PluginContext) -> None:
        self.sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
        self.windows = Windows(context.paths.cache / "windows.json")
        self.limits = Limits(context.paths.cache.parent / "limits")
        self.bound: dict[tuple[str, str], Provider] = {}  # by a route's label and the fingerprint of a key
        self._context = context
        self._rests: dict[str, _Rest] = {}
        self._looking: set[asyncio.Task[None]] = set()
        self._keys: Keys | None = None

    async def attempts(self, call: ModelCall) -> AsyncGenerator[Attempt, Response | ProviderError]:
        """See Router."""
        failed: _Failed = []
        async with contextlib.aclosing(self._candidates(call)) as candidates:
            async for route in candidates:
                tries = Tries(self, call, route, once=self._on_trial(call, route))
                while True:
                    shown = False
                    try:
                        attempt = await tries.next(self._note(call, route, failed))
                        came, shown = (yield attempt), call.shown
                    except ProviderError as resting:  # all its keys do
                        came = resting
                    if isinstance(came, Response):
                        self._came(call, route, came)
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
                from hermes_provider_router.fitting import only_text, told

                fitting = told(error, call.request)
                if not error.window and only_text(call.request):  # else the next turn would be refused again
                    self.windows.guess(route.label, fitting.window)
                raise fitting from error
            raise error
        if call.alone:
            return
        words, failures = REASONS[error.reason], 0
        if recovery.is_limit(error):
            self._rest(route, words, _REST)
        elif recovery.passes(error):
            failures = self._rests[route.label].failures + 1 if route.label in self._rests else 1
            self._rest(route, words, min(_LONGEST_REST, _FAILED_REST * 2 ** (failures - 1)), failures)

    def _came(self, call: ModelCall, route: ModelRoute, response: Response) -> None:
        """One route answered. After an empty reply the next request, which asks again, goes to another."""
        self._rests.pop(route.label, None)
        if not call.alone and response.reason == "stop" and not any(map(_says, response.message.parts)):
            self._rest(route, _EMPTY, _REST)
        self._look_up_window(route, response.usage.input)

    def _nobody(self, call: ModelCall, failed: _Failed) -> ProviderError:
        """The error of the first choice, with a word on the others."""
        error = next((error for route, error in failed if route is call.route), failed[-1][1])
        if len(failed) > 1:
            for route, _ in failed:
                if known := self._rests.get(route.label):
                    self._rest(route, known.words, _SHORT_REST, known.failures)
            others = "; ".join(f"{route.label}: {REASONS[e.reason]}" for route, e in failed if e is not error)
            error.hint = f"{error.hint} Nobody else could answer either ({others}).".strip()
        return error

    def _note(self, call: ModelCall, route: ModelRoute, failed: _Failed) -> str:
        if route is call.route:
            return ""
        known = self._rests.get(call.route.label)
        words = REASONS[failed[0][1].reason] if failed else known.words if known else "it rests"
        return f"{route.label} answered, because {call.route.label} could not: {words}."

    # --- who is asked -------------------------------------------------------------------------------------------------

    async def _candidates(self, call: ModelCall) -> AsyncGenerator[ModelRoute, None]:
        """Those who may answer, in order, each once. Those that rest are asked last."""
        resting, seen = [], {call.route.label}
        if call.alone or not self._rests_now(call.route):
            yield call.route
        else:
            resting.append(call.route)
        async for route in call.fallbacks():
            if route.label not in seen:
                seen.add(route.label)
                if self._rests_now(route):
                    resting.append(route)
                else:
                    yield route
        for route in resting:
            yield route

    def _rests_now(self, route: ModelRoute) -> bool:
        """Whether a route is left alone just now."""
        return route.label in self._rests and self._rests[route.label].until > time.monotonic()

    def _on_trial(self, call: ModelCall, route: ModelRoute) -> bool:
        """Whether one try is to tell if a route that failed is back; the others are there for the rest."""
        failing = route.label in self._rests and bool(self._rests[route.label].failures)
        return failing and not call.alone and not self._rests_now(route)

    def _rest(self, route: ModelRoute, words: str, seconds: float, failures: int = 0) -> None:
        self._rests[route.label] = _Rest(time.monotonic() + seconds, words, failures)

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
        if reset == "all":
            self.limits.free_all()
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


def _says(part: object) -> bool:
    """Whether a part of a reply is more than a thought."""
    return isinstance(part, ToolCall) or (isinstance(part, Text) and bool(part.text.strip()))


def _words(error: ProviderError, wait: float, *, shown: bool) -> str:
    after = f" in {wait:.0f} s" if wait > _WORTH_SAYING else ""
    again = f"The answer begins again{after}." if shown else f"Asking again{after}."
    return f"{error.text} {again}"
