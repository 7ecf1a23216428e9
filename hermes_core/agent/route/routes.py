"""Who answers: the model that was configured, chosen since, or asked for; and calls to it outside of turns."""

import contextlib
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from attrs import evolve

from hermes_core.agent.bounds import answers
from hermes_core.agent.route.calls import ModelCalls
from hermes_core.agent.route.choice import choose
from hermes_core.brokers import LlmBroker
from hermes_core.config.settings import Settings
from hermes_core.errors import HermesError
from hermes_core.kinds import ModelRoute
from hermes_core.plugins.dispatch import Dispatch
from hermes_core.plugins.index import Index
from hermes_core.plugins.loader import Loader
from hermes_core.types import JSON, MediaRequest, MediaResponse, MediaVerb, Principal, Request, Response, Session, Usage

if TYPE_CHECKING:
    from hermes_core.store.store import Store

__all__ = ["ModelRoutes"]


class ModelRoutes(LlmBroker):
    """``current`` is who answers usually, once somebody asked; ``calls`` carries the calls out."""

    def __init__(
        self, settings: Settings, index: Index, loader: Loader, dispatch: Dispatch, calls: ModelCalls,
        store: "Callable[[], Awaitable[Store]]", *, owner: Principal,
    ) -> None:  # fmt: skip
        self._kernel, self._settings = (settings, index, loader, dispatch), settings
        self._calls, self._store, self._owner = calls, store, owner
        self.count: Callable[[Session, Usage], None] | None = None  # is told what a call used that works for a turn
        self.wanted = "", ""  # provider and model that this run is to begin with
        self.current: ModelRoute | None = None
        self._others: dict[tuple[str, str], ModelRoute] = {}  # by the provider and model asked for

    async def get(self, words: str = "") -> ModelRoute:
        """Find who answers: ``model`` or ``provider:model``, else who was configured. Raises UserError for nobody."""
        if words:
            return await self._chosen("", words)
        if self.current is None:
            self.current = await self._choose(*self.wanted)
        return self.current

    async def get_for(self, words: str, effort: str, models: Sequence[str] | None = None) -> ModelRoute:
        """Find who answers if a conversation chose for itself; the usual one where it did not, or its own is gone.

        Only ``models`` may, where they are given: of others the first of these answers.
        """
        route = None
        with contextlib.suppress(HermesError):
            route = await self.get(words)
        route = route or await self.get()
        if not answers(models, route.name, route.model):
            route = await self.get(models[0] if models else "")
        return evolve(route, effort=effort) if effort else route

    async def find(self, provider: str, model: str) -> ModelRoute | None:
        """Find who was named, whatever this process was started with; None when they are not there."""
        mine = await self.get()
        if (mine.name, mine.model) == (provider, model):
            return mine
        with contextlib.suppress(HermesError):
            return await self._chosen(provider, model)
        return None

    async def use(self, words: str) -> ModelRoute:
        """Answer with another model from now on: ``model`` or ``provider:model``."""
        provider, model = (self.current.name, words) if self.current and ":" not in words else ("", words)
        route = await self._choose(provider, model)
        if self.current is not None and self.current.provider is not route.provider:
            await self._calls.routing.let_go(self.current)
        self.current = route
        return route

    async def _choose(self, provider: str, model: str) -> ModelRoute:
        return await choose(*self._kernel, provider=provider, model=model)

    async def _chosen(self, provider: str, model: str) -> ModelRoute:
        """Choose the same, once for each: its provider keeps its connections."""
        if (provider, model) not in self._others:
            self._others[provider, model] = await self._choose(provider, model)
        return self._others[provider, model]

    async def complete(self, request: Request, task: str = "", session: Session | None = None) -> Response:
        """Make one model call outside of a turn, booked under its task. Raises ProviderError."""
        began = time.monotonic()
        response, route = await self._calls.complete(await self.get(), request, task)
        await self._book(session, response.usage, began, task=task, provider=route.name, model=route.model)
        return response

    async def media(
        self, verb: MediaVerb, request: MediaRequest, task: str = "", session: Session | None = None
    ) -> MediaResponse:
        """Do the same for what is no conversation. Raises ProviderError; UserError where nobody can do it."""
        began, task = time.monotonic(), task or verb
        response, route = await self._calls.media(await self.get(), verb, request, task)
        await self._book(session, response.usage, began, task=task, provider=route.name, model=response.model)
        return response

    async def _book(self, session: Session | None, usage: Usage, began: float, **who: str) -> None:
        """Write down what a call beside a turn used."""
        store, owner = await self._store(), session.asker if session else self._owner
        where = {"session_id": session.id, "turn_id": session.turn} if session else {}
        await store.spending.add(owner, usage, seconds=time.monotonic() - began, **who, **where)
        if session and self.count:
            self.count(session, usage)

    def options(self) -> dict[str, JSON]:
        """Return how the user wants models to be asked."""
        model = self._settings.config.model
        wanted = {"max_tokens": model.max_tokens or None, "temperature": model.temperature}
        return {name: value for name, value in wanted.items() if value is not None}

    def reconsider(self) -> None:
        """Choose anew at the next call: the settings say something else."""
        if self.current:
            self._others["replaced", str(len(self._others))] = self.current  # closed with the rest
            self.current, self.wanted = None, ("", "")

    async def close(self) -> None:
        """Let go of providers."""
        await self._calls.routing.close(self.current, *self._others.values())
