"""A call of a model that is no conversation, with the keys, tries and fallbacks of one that is."""

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any

from attrs import evolve

from hermes_core.agent.route.call import StreamedCall
from hermes_core.errors import Unavailable
from hermes_core.kinds import Attempt, ModelRoute, Provider
from hermes_core.types import Delta, Done, MediaRequest, MediaResponse, MediaVerb, Request, UsageDelta
from hermes_shapes.sound import unsound

if TYPE_CHECKING:
    from hermes_core.agent.route.routing import Routing

__all__ = ["MediaCall"]


class MediaCall(StreamedCall):
    """``result`` is what came of it, once ``stream`` has ended."""

    result: MediaResponse

    def __init__(self, models: "Routing", route: ModelRoute, verb: MediaVerb, media: MediaRequest, **more: Any) -> None:
        super().__init__(models, route, Request(model=media.model, messages=()), **more)
        self._verb, self._media = verb, media

    async def _deltas(self, provider: Provider, request: Request) -> AsyncGenerator[Delta, None]:
        # A model for conversations is none for this: only one that was named is asked for.
        named = {self._media.model, *(entry.model for entry in self._entries)}
        model = request.model if request.model in named else ""
        found = await getattr(provider, self._verb)(evolve(self._media, model=model))
        if wrong := self._wrong(found):
            raise Unavailable(f"Provider {provider.name} gave {wrong} when it was asked to {self._verb}.")
        self.result = found
        yield UsageDelta(usage=found.usage)
        yield Done(reason="stop")

    def _wrong(self, found: Any) -> str:
        if not isinstance(found, MediaResponse):
            return f"a {type(found).__name__}"
        if self._verb == "embed" and len(found.vectors) != len(self._media.texts):
            return f"{len(found.vectors)} vectors for {len(self._media.texts)} texts"
        nothing = not (found.texts if self._verb == "see" else found.blobs or self._verb not in ("draw", "speak"))
        return unsound(found) or ("nothing" if nothing else "")

    def _answered(self, by: Attempt) -> None:
        self.request = evolve(self.request, model=self.result.model)  # it is known now, and so is its price
        super()._answered(by)
        self.result = evolve(self.result, usage=self.response.usage)
