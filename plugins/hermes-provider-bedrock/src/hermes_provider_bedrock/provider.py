"""The service as a Provider."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING

from hermes_core.kinds import Provider
from hermes_core.types import Delta, Endpoint, Model, Request
from hermes_provider_bedrock.line import SERVICE, Line, open_line

if TYPE_CHECKING:
    from hermes_core.brokers import SecretsBroker
    from hermes_provider_bedrock.config import Config

__all__ = ["Bedrock", "all_providers"]

ALIAS_RANK = 99


class Bedrock(Provider):
    """Answers with the models of Amazon Bedrock. Its client is made when it is first asked for something."""

    def __init__(
        self,
        secrets: "SecretsBroker",
        *,
        name: str = "",
        endpoint: Endpoint | None = None,
        config: "Config | None" = None,
    ) -> None:
        self.name = name or SERVICE.name
        self._alias = self.name in SERVICE.aliases
        self.priority = ALIAS_RANK if self._alias else SERVICE.priority
        self.default_model = SERVICE.default_model
        self._secrets = secrets
        self._endpoint = endpoint
        self._config = config
        self._opened: Line | None = None

    def at(self, endpoint: Endpoint) -> "Bedrock":
        """Give the same at the user's address, or with the user's key. Raises UserError for what cannot work."""
        bound = Bedrock(self._secrets, name=endpoint.name or self.name, endpoint=endpoint, config=self._config)
        bound._line()
        return bound

    def window(self, model: str) -> int:
        """Say what the user set; what the service has is in its list."""
        return self._endpoint.context if self._endpoint else 0

    async def ready(self) -> bool:
        """Tell whether a key of Bedrock is set, or a profile for it.

        Other credentials of AWS are there for other things: who wants to pay for models with them says so. An alias
        never is ready, so that nothing is chosen twice.
        """
        said, own = self._endpoint, self._config
        set_up = bool(said and said.api_key) or bool(own and own.profile)
        return not self._alias and (set_up or any(map(self._secrets.get, SERVICE.env)))

    async def models(self) -> Sequence[Model]:
        """List what the service offers, the default model first. Raises ProviderError."""
        from hermes_provider_bedrock.offered import list_models

        return await list_models(self._line())

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Answer a request. Raises ProviderError, or UserError for a bad address, region or profile."""
        from hermes_provider_bedrock.call import stream_converse

        deltas = stream_converse(self._line(), request, request.model or self.default_model)
        try:
            async for delta in deltas:
                yield delta
        finally:
            await deltas.aclose()

    async def body(self, request: Request) -> bytes:
        """Give the body that ``stream`` would send. Raises as it does."""
        from hermes_provider_bedrock.call import made_body

        return await made_body(self._line(), request, request.model or self.default_model)

    async def close(self) -> None:
        """Let go of connections. The provider may be used again."""
        if self._opened is not None:
            await self._opened.close()

    def _line(self) -> Line:
        if self._opened is None:
            self._opened = open_line(self.name, self._secrets, self._endpoint, self._config)
        return self._opened


def all_providers(
    secrets: "SecretsBroker", endpoints: Mapping[str, Endpoint], config: "Config | None" = None
) -> list[Provider]:
    """Make the provider once under its own name and once under each alias; what the user set for it holds for all."""
    names = (SERVICE.name, *SERVICE.aliases)
    said = {one: endpoints.get(one) or endpoints.get(SERVICE.name) for one in names}
    return [Bedrock(secrets, name=one, endpoint=said[one], config=config) for one in names]
