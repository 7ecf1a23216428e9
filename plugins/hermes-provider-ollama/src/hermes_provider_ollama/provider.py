"""Ollama as a Provider."""

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING

from hermes_core.errors import Refused, UserError
from hermes_core.kinds import Provider
from hermes_core.types import Delta, Endpoint, Feature, MediaRequest, MediaResponse, Model, Price, Request
from hermes_provider_ollama.line import SERVICE

if TYPE_CHECKING:
    from hermes_core.brokers import SecretsBroker
    from hermes_provider_ollama.line import Line

__all__ = ["Ollama"]


class Ollama(Provider):
    """Answers with models that Ollama runs."""

    name = SERVICE.name
    priority = SERVICE.priority
    features = frozenset({Feature.EMBED})

    def __init__(self, secrets: "SecretsBroker", endpoint: Endpoint | None = None) -> None:
        self.name = endpoint.name if endpoint else SERVICE.name
        self._secrets = secrets
        self._endpoint = endpoint
        self._opened: Line | None = None

    def at(self, endpoint: Endpoint) -> "Ollama":
        """Give the same at the user's address. Raises UserError for what cannot work."""
        bound = Ollama(self._secrets, endpoint)
        bound._line()
        return bound

    def window(self, model: str) -> int:
        """Say for how many tokens room is made, once the model was asked about."""
        line = self._line()
        shown = line.shown.get(model)
        return shown.room(line.context) if shown else line.context

    def price(self, model: str) -> Price | None:
        """Say that it costs nothing on this machine; elsewhere nobody knows."""
        return Price(input=0.0, output=0.0) if self._line().service.local else None

    async def ready(self) -> bool:
        """Tell whether it answers on its port."""
        from hermes_provider_kit.probe import answers
        from hermes_provider_ollama.line import address_of

        return await answers(address_of(self._secrets, self._endpoint).removesuffix("/v1") + "/api/tags")

    async def models(self) -> Sequence[Model]:
        """List the models there. Raises ProviderError."""
        from hermes_provider_ollama.shown import list_models

        return await list_models(self._line())

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Answer a request. Raises ProviderError, or UserError for a bad address."""
        from hermes_provider_ollama.call import stream_lines

        deltas = stream_lines(self._line(), request, request.model or await self._default_model())
        try:
            async for delta in deltas:
                yield delta
        finally:
            await deltas.aclose()

    async def body(self, request: Request) -> bytes:
        """Give the body that ``stream`` would send. Raises as it does."""
        from hermes_provider_ollama.call import encoded, made_body

        return encoded(await made_body(self._line(), request, request.model or await self._default_model()))

    async def embed(self, request: MediaRequest) -> MediaResponse:
        """Give a vector for each text. Raises ProviderError, and UserError where no model is named."""
        from hermes_provider_ollama.vectors import embed

        if not request.model:
            raise UserError("Ollama has no model of its own to embed with.", hint="Name one: auxiliary.embed.model.")
        return await embed(self._line(), request)

    async def close(self) -> None:
        """Let go of connections. The provider may be used again."""
        if self._opened is not None:
            await self._opened.close()

    def _line(self) -> "Line":
        if self._opened is None:
            from hermes_provider_ollama.line import open_line

            self._opened = open_line(self.name, self._secrets, self._endpoint)
        return self._opened

    async def _default_model(self) -> str:
        if not self.default_model:
            from hermes_provider_ollama.shown import names_of

            names = await names_of(self._line())
            if not names:
                raise Refused("Ollama has no model here.", hint="Fetch one: hermes ollama pull qwen3:8b")
            self.default_model = names[0]
        return self.default_model
