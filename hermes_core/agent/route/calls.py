"""The model calls of one kernel: for the conversation, and beside it."""

import logging
from collections.abc import Callable, Sequence

from attrs import evolve

from hermes_core.agent.route.call import StreamedCall
from hermes_core.agent.route.routing import Routing
from hermes_core.config.schema import AuxiliarySettings, FallbackSettings
from hermes_core.kinds import ModelRoute
from hermes_core.types import MediaRequest, MediaResponse, MediaVerb, Request, Response

__all__ = ["ModelCalls"]

log = logging.getLogger(__name__)
_LONG = 300.0  # seconds that a summary, a picture or a sound may take at least


class ModelCalls:
    """Gives model calls: who is asked first, and whom the person named beside them."""

    def __init__(self, routing: Routing) -> None:
        self.routing, self._settings = routing, routing.settings

    def call(self, route: ModelRoute, request: Request, *, tell: Callable[[str], None]) -> StreamedCall:
        """Make one call for the conversation: the route first, then the fallback providers."""
        return StreamedCall(self.routing, route, request, fallbacks=self._settings.config.fallback_providers, tell=tell)

    async def complete(self, main: ModelRoute, request: Request, task: str) -> tuple[Response, ModelRoute]:
        """Get one whole reply beside the conversation, and who gave it. Raises ProviderError when nobody can."""
        own, first, seconds = await self._beside(main, task)
        seconds = max(seconds, _LONG) if task == "compression" else seconds
        if first is not main:
            request = evolve(request, model=first.model)
        call = StreamedCall(self.routing, first, request, fallbacks=own, last=main, seconds=seconds, task=task)
        async for _ in call.stream():
            pass
        if own and call.route.label == main.label:
            text = f"No model set up for {task} answered; {main.label} does it. See `hermes logs`."
            if text not in self.routing.notices:
                self.routing.notices.append(text)
                log.warning(text)
        return call.response, call.route

    async def media(
        self, main: ModelRoute, verb: MediaVerb, request: MediaRequest, task: str
    ) -> tuple[MediaResponse, ModelRoute]:
        """Get what is made of text, pictures or sound and by whom. Raises ProviderError; UserError where nobody can."""
        from hermes_core.agent.route.media import MediaCall

        own, first, seconds = await self._beside(main, task)
        seconds = seconds if verb == "embed" else max(seconds, _LONG)
        call = MediaCall(self.routing, first, verb, request, fallbacks=own, seconds=seconds, task=task)
        async for _ in call.stream():
            pass
        return call.result, call.route

    async def _beside(self, main: ModelRoute, task: str) -> tuple[Sequence[FallbackSettings], ModelRoute, float]:
        """Return who was set up for a task, who of them is asked first, and how many seconds one may take."""
        wanted = self._settings.config.auxiliary.get(task) or AuxiliarySettings()
        own = [s for s in (wanted, *wanted.fallback) if s.provider not in ("", "auto") or s.model]
        first = next(filter(None, [await self.routing.fallback(entry, main) for entry in own]), main)
        return own, first, wanted.timeout
