"""One service of the catalogue as a Provider."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from attrs import evolve

from hermes_core.errors import Refused
from hermes_core.kinds import Provider
from hermes_core.types import Delta, Endpoint, Feature, MediaRequest, MediaResponse, Model, Price, Request
from hermes_provider_kit.provider import ServiceProvider
from hermes_provider_openai.listed import LISTED

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_core.brokers import SecretsBroker
    from hermes_openai_wire.line import Line
    from hermes_provider_kit.kept import Lists, Offer

__all__ = ["Compatible", "all_providers"]


class Compatible(ServiceProvider["Line"]):
    """A service that speaks the chat-completions or the responses protocol.

    Its file in the catalogue is read, and its client made, when it is first asked for something.
    """

    features = frozenset({Feature.EMBED, Feature.SEE, Feature.DRAW, Feature.SPEAK, Feature.TRANSCRIBE})

    def __init__(self, *made: Any, limits: "Path | None" = None, **more: Any) -> None:
        super().__init__(*made, **more)
        self._limits = limits

    @property
    def _places(self) -> dict[str, Any]:
        return {**super()._places, "limits": self._limits}

    def price(self, model: str) -> Price | None:
        """What the service, a public list or the catalogue says; else a server of this machine costs nothing.

        What stands here before a hosted service is none: what it costs is not known.
        """
        own = self._listed.local or self._listed.name == "custom"
        free = Price(input=0.0, output=0.0) if own and self._line().service.local else None
        return super().price(model) or free

    async def ready(self) -> bool:
        """Hosted: a key is set. Local: something that lists models answers on its port."""
        if not self._listed.local:
            return self._listed.name != "custom" and await super().ready()
        if self.is_alias:
            return False
        from hermes_provider_kit.probe import answers

        from_env = self._secrets.get(self._listed.base_url_env) if self._listed.base_url_env else ""
        said = self._endpoint.base_url if self._endpoint else ""
        base = said or from_env or self._listed.base_url
        return await answers(f"{base.rstrip('/')}/models")

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Answer a request in the protocol of the service. Raises ProviderError, or UserError for a bad address."""
        line = self._line()
        line.require_key()
        model = request.model or await self._default_model()
        deltas: AsyncGenerator[Delta, None]
        if _protocol(line, model) == "responses":
            from hermes_openai_wire.responses import stream_responses

            deltas = stream_responses(line, request, model)
        else:
            from hermes_openai_wire.chat import stream_chat

            deltas = stream_chat(line, request, model)
        try:
            async for delta in deltas:
                yield delta
        finally:
            await deltas.aclose()

    async def embed(self, request: MediaRequest) -> MediaResponse:
        """Give a vector for each text. Raises ProviderError, and UserError where no model is named."""
        from hermes_provider_openai.media import embed

        return await embed(self._line(), request)

    async def transcribe(self, request: MediaRequest) -> MediaResponse:
        """Write down what is said in each sound. Raises as ``embed``."""
        from hermes_provider_openai.media import transcribe

        return await transcribe(self._line(), request)

    async def see(self, request: MediaRequest) -> MediaResponse:
        """Say what pictures show, by the protocol of conversations. Raises as ``stream``."""
        from hermes_provider_openai.making import see

        line = self._line()
        own = line.entry.media_models.get("see", "") if line.own else ""
        return await see(request, request.model or own or await self._default_model(), self.stream)

    async def draw(self, request: MediaRequest) -> MediaResponse:
        """Make a picture from words, or change those that are given. Raises as ``embed``."""
        from hermes_provider_openai.making import draw

        return await draw(self._line(), request)

    async def speak(self, request: MediaRequest) -> MediaResponse:
        """Read each text aloud. Raises as ``embed``."""
        from hermes_provider_openai.making import speak

        return await speak(self._line(), request)

    async def body(self, request: Request) -> bytes:
        """The body that ``stream`` would send. Raises as it does."""
        line = self._line()
        model = request.model or await self._default_model()
        if _protocol(line, model) == "responses":
            from hermes_openai_wire.responses_input import responses_body

            return responses_body(line, request, model)
        from hermes_openai_wire.chat import made_body

        return await made_body(line, request, model, with_usage=not line.state.usage_refused)

    def _open(self) -> "Line":
        from hermes_openai_wire.line import open_line
        from hermes_provider_openai.entry import load_entry

        line = open_line(load_entry(self._listed.name), self.name, self._secrets, self._endpoint)
        if not self._limits:
            return line
        from hermes_provider_kit.limits import Limits, mark_of

        mark = mark_of(self.name, self._endpoint.api_key if self._endpoint else "")
        return evolve(line, heard=partial(Limits(self._limits).hear, mark))

    async def _offers(self, line: "Line") -> "Sequence[Offer]":
        from hermes_openai_wire.offered import ask_offers

        return await ask_offers(line)

    def _known_models(self, line: "Line") -> Sequence[Model]:
        from hermes_openai_wire.offered import listed_models

        return listed_models(line)

    def _known_window(self, line: "Line", model: str) -> int:
        return line.entry.contexts.get(model, 0) if line.own else 0

    def _known_price(self, line: "Line", model: str) -> Price | None:
        row = line.entry.prices.get(model) if line.own else None
        return Price(**row) if row else None

    def _public(self, line: "Line") -> str:
        return line.entry.public


def _protocol(line: "Line", model: str) -> str:
    """The protocol by which a model is asked. Raises Refused for one that speaks none of them there."""
    found = line.protocol_of(model)
    if found not in ("chat", "responses"):
        text = f"{line.service.title} has {model} by another protocol."
        raise Refused(text, reason="model_not_found", hint=f"Use {found}:{model} instead.")
    return found


def all_providers(
    secrets: "SecretsBroker",
    endpoints: Mapping[str, Endpoint],
    lists: "Lists | None" = None,
    limits: "Path | None" = None,
) -> list[Provider]:
    """Every service of the catalogue, once under its own name and once under each alias.

    ``limits`` is the folder where the home's processes tell each other what services say of their limits.
    """
    return [
        Compatible(listed, secrets, name=name, endpoint=endpoints.get(name), lists=lists, limits=limits)
        for listed in LISTED
        for name in (listed.name, *listed.aliases)
    ]
