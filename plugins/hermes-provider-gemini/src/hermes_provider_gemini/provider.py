"""The service as a Provider."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING

from hermes_core.errors import Refused
from hermes_core.kinds import Provider
from hermes_core.types import Delta, Endpoint, Model, Request
from hermes_provider_gemini.line import SERVICE

if TYPE_CHECKING:
    from hermes_core.brokers import SecretsBroker
    from hermes_provider_gemini.line import Line

__all__ = ["Gemini", "all_providers"]

ALIAS_RANK = 99


class Gemini(Provider):
    """Answers with Google's models. Its client is made when it is first asked for something."""

    def __init__(self, secrets: "SecretsBroker", *, name: str = "", endpoint: Endpoint | None = None) -> None:
        self.name = name or SERVICE.name
        self._alias = self.name in SERVICE.aliases
        self.priority = ALIAS_RANK if self._alias else SERVICE.priority
        elsewhere = endpoint is not None and endpoint.base_url not in ("", SERVICE.base_url)
        self.default_model = "" if elsewhere else SERVICE.default_model
        self._secrets = secrets
        self._endpoint = endpoint
        self._opened: Line | None = None

    def at(self, endpoint: Endpoint) -> "Gemini":
        """Give the same at the user's address, or with the user's key. Raises UserError for what cannot work."""
        bound = Gemini(self._secrets, name=endpoint.name or self.name, endpoint=endpoint)
        bound._line()
        return bound

    def window(self, model: str) -> int:
        """Say what the user set; what the service has is in its list."""
        return self._line().context

    async def ready(self) -> bool:
        """Tell whether a key is set. An alias never is ready, so that nothing is chosen twice."""
        said = self._endpoint
        return not self._alias and (bool(said and said.api_key) or any(map(self._secrets.get, SERVICE.env)))

    async def models(self) -> Sequence[Model]:
        """List what the service offers, the default model first. Raises ProviderError."""
        from hermes_provider_gemini.offered import list_models

        return await list_models(self._line())

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Answer a request. Raises ProviderError, or UserError for a bad address."""
        from hermes_provider_gemini.call import stream_content

        line = self._line()
        line.require_key()
        deltas = stream_content(line, request, request.model or await self._default_model())
        try:
            async for delta in deltas:
                yield delta
        finally:
            await deltas.aclose()

    async def body(self, request: Request) -> bytes:
        """Give the body that ``stream`` would send. Raises as it does."""
        from hermes_provider_gemini.call import encoded, made_body

        return encoded(await made_body(self._line(), request, request.model or await self._default_model()))

    async def close(self) -> None:
        """Let go of connections. The provider may be used again."""
        if self._opened is not None:
            await self._opened.close()

    def _line(self) -> "Line":
        if self._opened is None:
            from hermes_provider_gemini.line import open_line

            self._opened = open_line(self.name, self._secrets, self._endpoint)
        return self._opened

    async def _default_model(self) -> str:
        if not self.default_model:
            offered = await self.models()
            if not offered:
                raise Refused(f"{self._line().service.title} offers no model.", hint="Name one with --model.")
            self.default_model = offered[0].name
        return self.default_model


def all_providers(secrets: "SecretsBroker", endpoints: Mapping[str, Endpoint]) -> list[Provider]:
    """Make the provider once under its own name and once under each alias; what the user set for it holds for all."""
    names = (SERVICE.name, *SERVICE.aliases)
    return [Gemini(secrets, name=one, endpoint=endpoints.get(one) or endpoints.get(SERVICE.name)) for one in names]
