"""One service of the catalogue as a Provider."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from attrs import evolve

from hermes_core.errors import Refused
from hermes_core.kinds import Provider
from hermes_core.types import Delta, Endpoint, Feature, MediaRequest, MediaResponse, Model, Price, Request
from hermes_provider_kit.listed import Listed
from hermes_provider_openai.listed import LISTED

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_core.brokers import SecretsBroker
    from hermes_openai_wire.line import Line

__all__ = ["Compatible", "all_providers"]

ALIAS_RANK = 99


class Compatible(Provider):
    """A service that speaks the chat-completions or the responses protocol.

    Its file in the catalogue is read, and its client made, when it is first asked for something.
    """

    features = frozenset({Feature.EMBED, Feature.SEE, Feature.DRAW, Feature.SPEAK, Feature.TRANSCRIBE})

    def __init__(
        self,
        listed: Listed,
        secrets: "SecretsBroker",
        *,
        name: str = "",
        endpoint: Endpoint | None = None,
        limits: "Path | None" = None,
    ) -> None:
        self.name = name or listed.name
        self.priority = ALIAS_RANK if self.name in listed.aliases else listed.priority
        elsewhere = endpoint is not None and endpoint.base_url not in ("", listed.base_url)
        self.default_model = "" if elsewhere else listed.default_model
        self._listed = listed
        self._secrets = secrets
        self._endpoint = endpoint
        self._limits = limits
        self._opened: Line | None = None

    def at(self, endpoint: Endpoint) -> "Compatible":
        """The same protocol at the user's address, or with the user's key. Raises UserError for what cannot work."""
        name = endpoint.name or self.name
        bound = Compatible(self._listed, self._secrets, name=name, endpoint=endpoint, limits=self._limits)
        bound._line()
        return bound

    def window(self, model: str) -> int:
        """What the user, or the catalogue, says of the model."""
        line = self._line()
        return line.context or (line.entry.contexts.get(model, 0) if line.own else 0)

    def price(self, model: str) -> Price | None:
        """What the catalogue says; on this machine nothing costs anything."""
        line = self._line()
        if line.service.local:
            return Price(input=0.0, output=0.0)
        row = line.entry.prices.get(model) if line.own else None
        return Price(**row) if row else None

    async def ready(self) -> bool:
        """Hosted: a key is set. Local: something that lists models answers on its port."""
        if self.name in self._listed.aliases or self._listed.name == "custom":
            return False
        said = self._endpoint
        if not self._listed.local:
            return bool(said and said.api_key) or any(map(self._secrets.get, self._listed.env))
        from hermes_provider_kit.probe import answers

        from_env = self._secrets.get(self._listed.base_url_env) if self._listed.base_url_env else ""
        base = (said.base_url if said else "") or from_env or self._listed.base_url
        return await answers(f"{base.rstrip('/')}/models")

    async def models(self) -> Sequence[Model]:
        """What the service lists, the default model first; else what the catalogue knows. Raises ProviderError."""
        from hermes_openai_wire.offered import list_models

        return await list_models(self._line())

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Answer a request in the protocol of the service. Raises ProviderError, or UserError for a bad address."""
        line = self._line()
        line.require_key()
        model = request.model or await self._default_model(line)
        deltas: AsyncGenerator[Delta, None]
        if line.protocol == "responses":
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
        return await see(request, request.model or own or await self._default_model(line), self.stream)

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
        model = request.model or await self._default_model(line)
        if line.protocol == "responses":
            from hermes_openai_wire.responses_input import responses_body

            return responses_body(line, request, model)
        from hermes_openai_wire.chat import made_body

        return await made_body(line, request, model, with_usage=not line.state.usage_refused)

    async def close(self) -> None:
        """Let go of connections. The provider may be used again."""
        if self._opened is not None:
            await self._opened.close()

    def _line(self) -> "Line":
        if self._opened is None:
            from hermes_openai_wire.line import open_line
            from hermes_provider_openai.entry import load_entry

            entry = load_entry(self._listed.name)
            self._opened = open_line(entry, self.name, self._secrets, self._endpoint)
            if self._limits:
                from hermes_provider_kit.limits import Limits, mark_of

                mark = mark_of(self.name, self._endpoint.api_key if self._endpoint else "")
                self._opened = evolve(self._opened, heard=partial(Limits(self._limits).hear, mark))
        return self._opened

    async def _default_model(self, line: "Line") -> str:
        if self.default_model:
            return self.default_model
        if not line.state.default_model:
            offered = await self.models()
            if not offered:
                raise Refused(f"{line.service.title} offers no model.", hint="Name one with --model.")
            line.state.default_model = offered[0].name
        return line.state.default_model


def all_providers(
    secrets: "SecretsBroker", endpoints: Mapping[str, Endpoint], limits: "Path | None" = None
) -> list[Provider]:
    """Every service of the catalogue, once under its own name and once under each alias.

    ``limits`` is the folder where the home's processes tell each other what services say of their limits.
    """
    return [
        Compatible(listed, secrets, name=name, endpoint=endpoints.get(name), limits=limits)
        for listed in LISTED
        for name in (listed.name, *listed.aliases)
    ]
