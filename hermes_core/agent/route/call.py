"""One model call, whoever answers it in the end.

A reply is whole or it is none: what breaks off is asked for again as a whole, and who watches is told, because the
pieces that were shown are not part of the answer then. What the model itself did wrong is never another model's task.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from typing import TYPE_CHECKING

from attrs import evolve

from hermes_core.agent.reply import Reply
from hermes_core.agent.route.choice import Route
from hermes_core.agent.usage import priced
from hermes_core.config.schema import FallbackSettings
from hermes_core.errors import REASONS, ContextTooLong, ProviderError, Unavailable
from hermes_core.kinds import Provider
from hermes_core.store.killpoints import die_at
from hermes_core.types import Delta, Request, Response, TextDelta

if TYPE_CHECKING:
    from hermes_core.agent.route.keys import Key
    from hermes_core.agent.route.router import Router

__all__ = ["ModelCall"]

_SHORT = 10.0  # seconds that are waited for a key that met a limit, while there are others
_WITH_OTHERS = 30.0  # seconds that are waited for a model, while others could answer
_WORTH_SAYING = 5.0  # seconds of waiting


class ModelCall:
    """A call that was not made yet. After ``stream`` has ended, ``response``, ``route`` and ``request`` say what was
    answered, by whom, to which question; ``note`` is a line for the person when it was not the one they chose, and
    ``seconds`` how long it took, with all its tries.
    """

    response: Response
    seconds = 0.0

    def __init__(
        self,
        router: "Router",
        route: Route,
        request: Request,
        *,
        fallbacks: Sequence[FallbackSettings] = (),
        last: Route | None = None,
        seconds: float = 0.0,
        tell: Callable[[str], None] = lambda _text: None,
        task: str = "",
    ) -> None:
        self.route, self.request, self.note, self.task = route, request, "", task
        self._router, self._first, self._asked = router, route, request
        self._fallbacks, self._last, self._seconds, self._tell = fallbacks, last, seconds, tell

    async def stream(self) -> AsyncGenerator[Delta, None]:
        """The deltas as they come; after a break they begin again. Raises ProviderError when nobody can answer."""
        failed: list[tuple[Route, ProviderError]] = []
        began = time.monotonic()
        async for route in self._router.candidates(self._first, self._fallbacks, self._last):
            try:
                async with contextlib.aclosing(self._ask(route)) as deltas:
                    async for delta in deltas:
                        yield delta
            except ProviderError as error:
                from hermes_core.agent.route import recovery

                failed.append((route, error))
                if not recovery.plan(error).onward:
                    raise
                if route is self._first and recovery.rests(error):
                    self._router.rest(route, error)
                continue
            self.seconds = time.monotonic() - began
            self._answered(route, failed)
            return
        raise self._nobody(failed)

    def _deltas(self, provider: Provider, request: Request) -> AsyncIterator[Delta]:
        return provider.stream(request)

    def _answered(self, route: Route, failed: Sequence[tuple[Route, ProviderError]]) -> None:
        self.route = route
        message = self.response.message
        who = {"hermes": {"provider": route.name, "model": self.request.model}}
        spent = priced(self.response.usage, route.provider.price(self.request.model))
        self.response = evolve(self.response, message=evolve(message, meta={**message.meta, **who}), usage=spent)
        if route is not self._first:
            reason = failed[0][1].reason if failed else self._router.resting(self._first)
            self.note = f"{route.label} answered, because {self._first.label} could not: {REASONS[reason]}."
        self._router.look_up_window(route, self.response.usage.input)

    def _nobody(self, failed: Sequence[tuple[Route, ProviderError]]) -> ProviderError:
        """The error of the first choice, with a word on the others."""
        error = next((error for route, error in failed if route is self._first), failed[-1][1])
        if len(failed) > 1:
            self._router.rest(self._first, error, short=True)
            others = "; ".join(f"{route.label}: {REASONS[e.reason]}" for route, e in failed if e is not error)
            error.hint = f"{error.hint} Nobody else could answer either ({others}).".strip()
        return error

    async def _ask(self, route: Route) -> AsyncGenerator[Delta, None]:
        """One route, with all its tries and keys."""
        model = (self._asked.model if route is self._first else "") or route.model
        attempt = _Attempt(self._router, route, self._router.request_for(route, model, self._asked))
        attempt.alone = not (self._fallbacks or self._last)
        while True:
            reply, shown = Reply(), False
            try:
                async with asyncio.timeout(self._seconds or None):
                    deltas = self._deltas(attempt.provider(), attempt.request)
                    try:
                        async for delta in deltas:
                            if not reply.begun:
                                die_at("requested")
                            shown = shown or isinstance(delta, TextDelta)
                            reply.add(delta)
                            yield delta
                    finally:
                        if isinstance(deltas, AsyncGenerator):
                            await deltas.aclose()
                self.response, self.request = reply.finish(), attempt.request
                return
            except ProviderError as error:
                wait = attempt.wait_after(error)
                if wait is None:
                    raise
                if shown or wait > _WORTH_SAYING:
                    self._tell(_words(error, wait, shown=shown))
                await self._router.sleep(wait)
            except TimeoutError as late:
                if not self._seconds:
                    raise
                text = f"{route.label} did not finish within {self._seconds:.0f} s."
                hint = f"Raise auxiliary.{self.task or 'TASK'}.timeout."
                raise Unavailable(text, transient=False, reason="timeout", hint=hint) from late


def _words(error: ProviderError, wait: float, *, shown: bool) -> str:
    after = f" in {wait:.0f} s" if wait > _WORTH_SAYING else ""
    again = f"The answer begins again{after}." if shown else f"Asking again{after}."
    return f"{error.text} {again}"


class _Attempt:
    """The tries at one route: how many there were, with which key, and what was taken out of the request."""

    alone = True  # nobody stands in, so long waits are worth it

    def __init__(self, router: "Router", route: Route, request: Request) -> None:
        self.request = request
        self._router, self._route = router, route
        self._tries = 1
        self._mended: set[str] = set()
        self._several = router.has_keys(route)
        self._key: Key | None = None
        self._met_limit: set[str] = set()
        self._set_aside: list[str] = []

    def provider(self) -> Provider:
        """Who is asked now. Raises ProviderError when every key rests."""
        if self._several and self._key is None:
            self._key = self._router.keys.pick(self._route.name, but=self._set_aside)
        return self._router.provider(self._route, self._key)

    def wait_after(self, error: ProviderError) -> float | None:
        """Seconds until the next try, with whatever may help changed; None when nothing here does."""
        from hermes_core.agent.route import recovery

        if isinstance(error, ContextTooLong) and error.reason == "context_overflow":
            self._router.learn_window(self._route, error.window)
        changed = recovery.simpler(error.reason, self.request)
        if changed is not None and error.reason not in self._mended:
            self._mended.add(error.reason)
            self.request = changed
            return 0.0
        plan, limits = recovery.plan(error), self._router.limits
        wait = recovery.pause(error, self._tries, limits.backoff_seconds, limits.backoff_cap)
        if plan.rotate and self._key is not None:
            return self._rotated(error, self._key, wait)
        if error.reason == "auth" and not self._several and "auth" not in self._mended:
            self._mended.add("auth")
            return 0.0 if self._router.reread(self._route) else None
        longest = limits.longest_wait if self.alone else min(limits.longest_wait, _WITH_OTHERS)
        if not plan.wait or self._tries >= limits.model_tries or wait > longest:
            return None
        self._tries += 1
        return wait

    def _rotated(self, error: ProviderError, key: "Key", wait: float) -> float | None:
        """Go on with the key as it is now at its source, once more with the same, or with the next one."""
        keys, name = self._router.keys, self._route.name
        if error.reason == "auth" and (fresh := keys.again(key)):
            self._key = fresh
            return 0.0
        if error.reason == "rate_limit" and key.fingerprint not in self._met_limit and wait <= _SHORT:
            self._met_limit.add(key.fingerprint)
            return wait
        keys.rest(name, key, error)
        self._set_aside.append(key.fingerprint)
        try:
            self._key = keys.pick(name, but=self._set_aside)
        except ProviderError:
            return None
        return 0.0
