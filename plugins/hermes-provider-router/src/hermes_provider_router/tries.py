"""The tries at one route: how many there were, with which key, and what was taken out of the request."""

from contextlib import suppress
from typing import TYPE_CHECKING

from attrs import evolve

from hermes_core.errors import ContextTooLong, ProviderError, RateLimited
from hermes_core.kinds import Attempt, ModelCall, ModelRoute
from hermes_core.types import Endpoint, EndpointKey
from hermes_provider_kit.limits import mark_of

if TYPE_CHECKING:
    from hermes_provider_router.router import Fallbacks

__all__ = ["Tries"]

_SHORT = 10.0  # seconds that are waited for a key that met a limit, while there are others
_WITH_OTHERS = 30.0  # seconds that are waited for a model, while others could answer


class Tries:
    """What is sent to one route of a call, one try after another; ``once`` where a passing fault is not waited out."""

    def __init__(self, router: "Fallbacks", call: ModelCall, route: ModelRoute, *, once: bool = False) -> None:
        first = route.label == call.route.label
        self._request = call.request if first else evolve(call.request, model=route.model)
        self._router, self._call, self._route = router, call, route
        self._count, self._most = 1, 1 if once else call.limits.tries
        self._mended: set[str] = set()
        self._endpoint = route.endpoint or Endpoint(name=route.name)
        self._key: EndpointKey | None = None
        self._met_limit: set[str] = set()
        self._looked: set[str] = set()  # keys that another process may have been told to leave alone
        self._set_aside: list[str] = []

    async def next(self, note: str) -> Attempt:
        """What is sent now. Raises ProviderError when every key rests."""
        from hermes_provider_router.veiled import Veiled, is_here

        if self._endpoint.keys and self._key is None:
            self._key = await self._picked()
        self._look()
        route = self._bound()
        if self._call.private and not is_here(route):
            route = evolve(route, provider=Veiled(route.provider))
        return Attempt(route=route, request=self._request, note=note)

    async def _picked(self) -> EndpointKey:
        """A key that its service did not tell any process of this home to leave alone, as long as there is one."""
        from hermes_provider_router.keys import fingerprint

        keys, name, but = self._router.known_keys, self._route.name, self._set_aside
        resting = [
            fingerprint(key) for key in self._endpoint.keys if self._router.limits.left(mark_of(name, key.value))
        ]
        if resting:
            with suppress(ProviderError):
                return await keys.pick(name, self._endpoint, but=[*but, *resting])
        return await keys.pick(name, self._endpoint, but=but)

    def _mark(self) -> str:
        return mark_of(self._route.name, self._key.value if self._key else self._endpoint.api_key)

    def _look(self) -> None:
        """Ask nobody who told another process to wait. Raises RateLimited, with what is left of that."""
        mark, known = self._mark(), self._looked
        if mark in known:
            return
        known.add(mark)
        if left := self._router.limits.left(mark):
            text = f"{self._route.name} has said to wait {left:.0f} s more, to another conversation of this home."
            raise RateLimited(text, retry_after=left, hint="`hermes model keys --reset all` asks it again at once.")

    def _bound(self) -> ModelRoute:
        """The route with the provider that has the key in use."""
        bound, label = self._router.bound, self._route.label
        if self._key is None:
            return evolve(self._route, provider=bound.get((label, ""), self._route.provider))
        from hermes_provider_router.keys import fingerprint

        slot = (label, fingerprint(self._key))
        if slot not in bound:
            bound[slot] = self._route.provider.at(evolve(self._endpoint, api_key=self._key.value))
        return evolve(self._route, provider=bound[slot])

    async def wait_after(self, error: ProviderError) -> float | None:
        """Seconds until the next try, with whatever may help changed; None when nothing here does."""
        from hermes_provider_router import recovery

        if isinstance(error, ContextTooLong) and error.reason == "context_overflow":
            self._router.windows.learn(self._route.label, error.window)
        if error.reason == "rate_limit" and isinstance(error, RateLimited):
            self._router.limits.rest(self._mark(), error.retry_after)
        changed = recovery.simpler(error.reason, self._request)
        if changed is not None and error.reason not in self._mended:
            self._mended.add(error.reason)
            self._request = changed
            return 0.0
        plan, limits = recovery.plan(error), self._call.limits
        wait = recovery.pause(error, self._count, limits.first_pause, limits.longest_pause)
        if plan.rotate and self._key is not None:
            return await self._rotated(error, self._key, wait)
        if error.reason == "auth" and not self._endpoint.keys and "auth" not in self._mended:
            self._mended.add("auth")
            return 0.0 if self._renewed() else None
        longest = limits.longest_wait if self._call.alone else min(limits.longest_wait, _WITH_OTHERS)
        if not plan.wait or self._count >= self._most or wait > longest:
            return None
        self._count += 1
        return wait

    def _renewed(self) -> ModelRoute | None:
        """The route with the keys that are set now, if they are others; it serves later calls too."""
        fresh = self._call.renewed(self._route)
        if fresh is not None:
            self._router.bound[self._route.label, ""] = fresh.provider
        return fresh

    async def _rotated(self, error: ProviderError, key: EndpointKey, wait: float) -> float | None:
        """Go on with the key as it is now at its source, once more with the same, or with the next one."""
        from hermes_provider_router.keys import fingerprint

        keys, name, mark = self._router.known_keys, self._route.name, fingerprint(key)
        if error.reason == "auth" and (fresh := self._replaced(key)):
            self._key = fresh
            return 0.0
        if error.reason == "rate_limit" and mark not in self._met_limit and wait <= _SHORT:
            self._met_limit.add(mark)
            return wait
        await keys.rest(name, key, error)
        self._set_aside.append(mark)
        try:
            self._key = await keys.pick(name, self._endpoint, but=self._set_aside)
        except ProviderError:
            return None
        return 0.0

    def _replaced(self, key: EndpointKey) -> EndpointKey | None:
        """The key as it is at its source now, when it was replaced there."""
        fresh = self._renewed()
        self._endpoint = (fresh and fresh.endpoint) or self._endpoint
        there = (one for one in self._endpoint.keys if one.source == key.source != "config.yaml")
        return next((one for one in there if one.value not in ("", key.value)), None)
