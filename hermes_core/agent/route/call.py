"""One model call, whoever answers it in the end.

A reply is whole or it is none: what breaks off is no part of the answer, and who watches is told.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from typing import TYPE_CHECKING, Any

from attrs import evolve

from hermes_core.agent.reply import Reply
from hermes_core.agent.usage import priced
from hermes_core.config.schema import FallbackSettings
from hermes_core.errors import HermesError, ProviderError, Unavailable
from hermes_core.kinds import Attempt, ModelCall, ModelRoute, Provider, RetryLimits
from hermes_core.plugins.fence import Entered, Late, fenced
from hermes_core.store.killpoints import die_at
from hermes_core.types import Delta, Request, Response, TextDelta

if TYPE_CHECKING:
    from hermes_core.agent.route.routing import Routing

__all__ = ["StreamedCall"]

_MOST = 1_000  # attempts; a router that has no end is none


class StreamedCall(ModelCall):
    """A call that was not made yet. After ``stream`` has ended, ``response``, ``route`` and ``request`` say what was
    answered, by whom, to which question; ``note`` is a line for the person when it was not the one they chose, and
    ``seconds`` how long it took, with all its tries.
    """

    response: Response
    seconds = 0.0
    note = ""

    def __init__(
        self,
        models: "Routing",
        route: ModelRoute,
        request: Request,
        *,
        fallbacks: Sequence[FallbackSettings] = (),
        last: ModelRoute | None = None,
        seconds: float = 0.0,
        tell: Callable[[str], None] = lambda _text: None,
        task: str = "",
    ) -> None:
        self.route, self.request, self.task = route, evolve(request, model=request.model or route.model), task
        self.alone, self.private = not (fallbacks or last), models.private
        self._models, self._entries, self._last, self._limit, self._tell = models, fallbacks, last, seconds, tell

    @property
    def limits(self) -> RetryLimits:
        """See ModelCall."""
        return self._models.limits

    async def fallbacks(self) -> AsyncIterator[ModelRoute]:
        """See ModelCall."""
        for entry in self._entries:
            if route := await self._models.fallback(entry, self.route):
                yield route
        if self._last is not None:
            yield self._last

    def renewed(self, route: ModelRoute) -> ModelRoute | None:
        """See ModelCall."""
        return self._models.renewed(route)

    def tell(self, text: str) -> None:
        """See ModelCall."""
        self._tell(text)

    async def stream(self) -> AsyncGenerator[Delta, None]:
        """Yield the deltas as they come; after a break they begin again. Raises ProviderError when nobody answers."""
        began = time.monotonic()
        came: Response | ProviderError | None = None
        done: Attempt | None = None
        async with self._models.attempts(self) as attempts:
            for _ in range(_MOST):
                attempt = await self._next(attempts, came)
                if attempt is None or done is not None:
                    break
                try:
                    async with contextlib.aclosing(self._ask(attempt)) as deltas:
                        async for delta in deltas:
                            yield delta
                    came, done = self.response, attempt
                except ProviderError as error:
                    came = error
        if isinstance(came, ProviderError):
            raise came
        assert done is not None
        self.seconds = time.monotonic() - began
        self._answered(done)

    async def _next(self, attempts: Any, came: Response | ProviderError | None) -> Attempt | None:
        """Return what is tried next, if anything. A router that fails costs what it would have added."""
        attempt, error = await self._models.tried(lambda: attempts.asend(came), came)
        if isinstance(error, StopAsyncIteration):
            error = None if came else HermesError("tried nothing, so the first choice was asked")
        elif isinstance(error, HermesError) and not isinstance(error, Late) and not isinstance(came, Response):
            raise error
        elif error is None and not isinstance(attempt, Attempt):
            error = TypeError(f"a router tries Attempts, not a {type(attempt).__name__}")
        if error:
            self._models.failed(error)
        found = attempt if isinstance(attempt, Attempt) else None
        if found is None and came is None and self.private:
            raise HermesError("No model was asked: nothing took people out of the request (privacy.redact_pii).")
        return found or (Attempt(route=self.route, request=self.request) if came is None else None)

    def _deltas(self, provider: Provider, request: Request) -> AsyncIterator[Delta]:
        return provider.stream(request)

    def _answered(self, by: Attempt) -> None:
        self.route, self.note, message = by.route, by.note, self.response.message
        who = {"hermes": {"provider": self.route.name, "model": self.request.model}}
        spent = priced(self.response.usage, self._models.price(self.route, self.request.model))
        self.response = evolve(self.response, message=evolve(message, meta={**message.meta, **who}), usage=spent)

    async def _ask(self, attempt: Attempt) -> AsyncGenerator[Delta, None]:
        """Make one attempt. What it was asked is kept only when it was answered: the router goes on from the first."""
        reply, self.shown = Reply(), False
        request, entered = self._models.shaped(attempt.route, attempt.request), self._models.entered(attempt.route)
        try:
            async with asyncio.timeout(self._limit or None):
                deltas = self._deltas(attempt.route.provider, request)
                try:
                    while (delta := await self._given(entered, deltas)) is not None:
                        if not reply.begun:
                            die_at("requested")
                        self.shown = self.shown or isinstance(delta, TextDelta)
                        reply.add(delta)
                        yield delta
                finally:
                    if isinstance(deltas, AsyncGenerator):
                        _, error = await fenced(deltas.aclose, entered)
                        if error:
                            self._models.broken(entered, error)
        except TimeoutError as late:
            if not self._limit:
                raise
            text = f"{attempt.route.label} did not finish within {self._limit:.0f} s."
            hint = f"Raise auxiliary.{self.task or 'TASK'}.timeout."
            raise Unavailable(text, transient=False, reason="timeout", hint=hint) from late
        if not reply.begun:
            self._models.broken(entered, HermesError("its reply ended without a word, and without Done"))
        self.response, self.request = reply.finish(entered.label), request

    async def _given(self, entered: Entered, deltas: AsyncIterator[Delta]) -> Delta | None:
        """Get the next delta; None at the end. Raises HermesError: what else a provider raises is told as its fault."""

        async def step() -> Delta | None:
            return await anext(deltas, None)

        delta, error = await fenced(step, entered)
        if error:
            raise error if isinstance(error, HermesError) else self._models.broken(entered, error)
        found: Delta | None = delta
        return found
