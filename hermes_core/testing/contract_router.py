"""What a router promises: who is asked, and that it comes to an end."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from hermes_core.errors import AuthError, ContextTooLong, ProviderError, RateLimited, Refused, Unavailable
from hermes_core.kinds import Attempt, ModelCall, ModelRoute, RetryLimits, Router
from hermes_core.testing.scripted import ScriptedProvider
from hermes_core.types import Message, Request, Response, Text, Usage

__all__ = ["RouterContract"]

_MOST = 100  # attempts at one call
_ANSWER = Response(message=Message(role="assistant", parts=(Text(text="hello"),)), reason="stop", usage=Usage(calls=1))
_FAULTS: Sequence[ProviderError] = (
    Unavailable("It is down."),
    Unavailable("Its certificate is wrong.", transient=False, reason="ssl_cert_verification"),
    RateLimited("Too many.", retry_after=0.01),
    AuthError("The key is wrong."),
    AuthError("The key was revoked.", permanent=True),
    Refused("No credit.", reason="billing"),
    Refused("Not that.", reason="content_policy_blocked"),
    ContextTooLong("Too long.", window=8_000),
)


class _Call(ModelCall):
    """A call that nobody makes: what comes of an attempt is said by the test."""

    limits = RetryLimits(tries=3, first_pause=0.0, longest_pause=0.0, longest_wait=1.0)

    def __init__(self, others: Sequence[ModelRoute] = ()) -> None:
        self.route, self.others, self.alone = _route("one"), others, not others
        said = Message(role="user", parts=(Text(text="hello"),))
        self.request = Request(model=self.route.model, messages=(said,))
        self.told: list[str] = []

    async def fallbacks(self) -> AsyncIterator[ModelRoute]:
        for route in self.others:
            yield route

    def renewed(self, route: ModelRoute) -> ModelRoute | None:
        return None

    def tell(self, text: str) -> None:
        self.told.append(text)


def _route(name: str) -> ModelRoute:
    return ModelRoute(name=name, provider=ScriptedProvider(name=name), model="scripted-1")


async def _played(router: Router, call: ModelCall, *came: Response | ProviderError) -> list[Attempt]:
    """What is tried while this comes of the attempts, the last of it again and again."""
    attempts, tried, last = router.attempts(call), list[Attempt](), came[-1]
    following = iter(came)
    try:
        attempt = await anext(attempts)
        while len(tried) < _MOST:
            tried.append(attempt)
            attempt = await attempts.asend(next(following, last))
    except (StopAsyncIteration, ProviderError):
        return tried
    finally:
        await attempts.aclose()
    pytest.fail(f"{router.name} tried {_MOST} times and had not enough")


class RouterContract:
    """Inherit in ``tests``, and give a ``router``."""

    @pytest.fixture
    def router(self) -> Router:
        """The router under test."""
        raise NotImplementedError("give a router fixture")

    async def test_who_was_chosen_is_asked_first(self, router: Router) -> None:
        """A call begins with the person's choice, and with the request as it is.

        If this fails: yield an Attempt of ``call.route`` with ``call.request`` first, unless you know that it rests.
        """
        call = _Call()
        (attempt,) = await _played(router, call, _ANSWER)
        assert (attempt.route.label, attempt.request) == (call.route.label, call.request)
        assert attempt.note == ""

    @pytest.mark.parametrize("error", _FAULTS, ids=lambda error: error.reason)
    async def test_every_call_comes_to_an_end(self, router: Router, error: ProviderError) -> None:
        """When nobody can answer, that is said, after some tries.

        If this fails: count the tries, and stop.
        """
        assert await _played(router, _Call(), error)
        assert await _played(router, _Call([_route("two"), _route("three")]), error)

    async def test_an_answer_is_an_answer(self, router: Router) -> None:
        """After a Response nothing else is tried.

        If this fails: look at what ``yield`` gives, and return when it is a Response.
        """
        tried = await _played(router, _Call([_route("two")]), Unavailable("It is down."), _ANSWER)
        assert len(tried) <= 2

    async def test_many_calls_go_on_side_by_side(self, router: Router) -> None:
        """Calls of many turns do not wait for one another, nor end one another.

        If this fails: keep what belongs to one call in ``attempts``, not on the router.
        """
        came = Unavailable("It is down."), _ANSWER
        alone = len(await _played(router, _Call(), *came))
        beside = await asyncio.gather(*(_played(router, _Call(), *came) for _ in range(20)))
        assert [len(tried) for tried in beside] == [alone] * 20

    async def test_a_call_that_is_given_up_leaves_the_router_fit_for_use(self, router: Router) -> None:
        """Turns are stopped in the middle of a call; others go on, also after ``close`` and what it let go of.

        If this fails: let go in ``finally``, and open again what ``close`` has closed.
        """
        attempts = router.attempts(_Call())
        await anext(attempts)
        await attempts.aclose()
        await router.close()
        assert len(await _played(router, _Call(), _ANSWER)) == 1
