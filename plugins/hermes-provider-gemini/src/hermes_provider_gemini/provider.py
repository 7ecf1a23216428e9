"""The service as a Provider."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING

from hermes_core.kinds import Provider
from hermes_core.types import Delta, Endpoint, Request
from hermes_provider_gemini.line import SERVICE
from hermes_provider_kit.provider import ServiceProvider

if TYPE_CHECKING:
    from hermes_core.brokers import SecretsBroker
    from hermes_provider_gemini.line import Line
    from hermes_provider_kit.kept import Lists, Offer

__all__ = ["Gemini", "all_providers"]


class Gemini(ServiceProvider["Line"]):
    """Answers with Google's models. Its client is made when it is first asked for something."""

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

    def _open(self) -> "Line":
        from hermes_provider_gemini.line import open_line

        return open_line(self.name, self._secrets, self._endpoint)

    async def _offers(self, line: "Line") -> "Sequence[Offer]":
        from hermes_provider_gemini.offered import ask_models
        from hermes_provider_kit.kept import Offer

        return [Offer(model=model) for model in await ask_models(line)]

    def _public(self, line: "Line") -> str:
        return "google"


def all_providers(
    secrets: "SecretsBroker", endpoints: Mapping[str, Endpoint], lists: "Lists | None" = None
) -> list[Provider]:
    """Make the provider once under its own name and once under each alias; what the user set for it holds for all."""
    return [
        Gemini(SERVICE, secrets, name=one, endpoint=endpoints.get(one) or endpoints.get(SERVICE.name), lists=lists)
        for one in (SERVICE.name, *SERVICE.aliases)
    ]
