"""One service of the catalogue as a Provider."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING

from hermes_core.kinds import Provider
from hermes_core.types import Delta, Endpoint, Model, Price, Request
from hermes_provider_anthropic.listed import LISTED
from hermes_provider_kit.provider import ServiceProvider

if TYPE_CHECKING:
    from hermes_core.brokers import SecretsBroker
    from hermes_provider_anthropic.line import Line
    from hermes_provider_kit.kept import Lists, Offer

__all__ = ["Messages", "all_providers"]


class Messages(ServiceProvider["Line"]):
    """A service that speaks the Messages protocol.

    Its file in the catalogue is read, and its client made, when it is first asked for something.
    """

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Answer a request. Raises ProviderError, or UserError for a bad address."""
        from hermes_provider_anthropic.call import stream_messages

        line = self._line()
        line.require_key()
        model = line.spelled(request.model or await self._default_model())
        deltas = stream_messages(line, request, model)
        try:
            async for delta in deltas:
                yield delta
        finally:
            await deltas.aclose()

    async def body(self, request: Request) -> bytes:
        """The body that ``stream`` would send. Raises as it does."""
        from hermes_provider_anthropic.call import made_body

        line = self._line()
        return await made_body(line, request, line.spelled(request.model or await self._default_model()))

    def _open(self) -> "Line":
        from hermes_provider_anthropic.entry import load_entry
        from hermes_provider_anthropic.line import open_line

        return open_line(load_entry(self._listed.name), self.name, self._secrets, self._endpoint)

    async def _offers(self, line: "Line") -> "Sequence[Offer]":
        from hermes_provider_anthropic.offered import ask_models
        from hermes_provider_kit.kept import Offer

        return [Offer(model=model) for model in await ask_models(line)]

    def _known_models(self, line: "Line") -> Sequence[Model]:
        from hermes_provider_anthropic.offered import listed_models

        return listed_models(line) if line.own else ()  # another address has other models

    def _known_window(self, line: "Line", model: str) -> int:
        return line.entry.card(model).context if line.own else 0

    def _known_price(self, line: "Line", model: str) -> Price | None:
        figures = line.entry.card(model).price if line.own else ()
        named = zip(("input", "output", "cache_read", "cache_write"), figures, strict=True) if figures else ()
        return Price(**dict(named)) if figures else None

    def _public(self, line: "Line") -> str:
        return line.entry.public


def all_providers(
    secrets: "SecretsBroker", endpoints: Mapping[str, Endpoint], lists: "Lists | None" = None
) -> list[Provider]:
    """Every service of the catalogue, once under its own name and once under each alias.

    What the user set for a service holds for its aliases too, where they set nothing for those.
    """
    return [
        Messages(listed, secrets, name=name, endpoint=endpoints.get(name) or endpoints.get(listed.name), lists=lists)
        for listed in LISTED
        for name in (listed.name, *listed.aliases)
    ]
