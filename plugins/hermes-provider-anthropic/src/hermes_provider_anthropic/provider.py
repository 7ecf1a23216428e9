"""One service of the catalogue as a Provider."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING

from hermes_core.errors import Refused
from hermes_core.kinds import Provider
from hermes_core.types import Delta, Endpoint, Model, Price, Request
from hermes_provider_anthropic.listed import LISTED
from hermes_provider_kit.listed import Listed

if TYPE_CHECKING:
    from hermes_core.brokers import SecretsBroker
    from hermes_provider_anthropic.line import Line

__all__ = ["Messages", "all_providers"]

ALIAS_RANK = 99


class Messages(Provider):
    """A service that speaks the Messages protocol.

    Its file in the catalogue is read, and its client made, when it is first asked for something.
    """

    def __init__(
        self,
        listed: Listed,
        secrets: "SecretsBroker",
        *,
        name: str = "",
        endpoint: Endpoint | None = None,
    ) -> None:
        self.name = name or listed.name
        self.priority = ALIAS_RANK if self.name in listed.aliases else listed.priority
        elsewhere = endpoint is not None and endpoint.base_url not in ("", listed.base_url)
        self.default_model = "" if elsewhere else listed.default_model
        self._listed = listed
        self._secrets = secrets
        self._endpoint = endpoint
        self._opened: Line | None = None

    def at(self, endpoint: Endpoint) -> "Messages":
        """The same protocol at the user's address, or with the user's key. Raises UserError for what cannot work."""
        name = endpoint.name or self.name
        bound = Messages(self._listed, self._secrets, name=name, endpoint=endpoint)
        bound._line()
        return bound

    def window(self, model: str) -> int:
        """What the user, or the catalogue, says of the model."""
        line = self._line()
        return line.context or (line.entry.card(model).context if line.own else 0)

    def price(self, model: str) -> Price | None:
        """What the catalogue says."""
        line = self._line()
        figures = line.entry.card(model).price if line.own else ()
        return (
            Price(**dict(zip(("input", "output", "cache_read", "cache_write"), figures, strict=True)))
            if figures
            else None
        )

    async def ready(self) -> bool:
        """Whether a key is set. An alias never is, so that nothing is chosen twice."""
        if self.name in self._listed.aliases:
            return False
        said = self._endpoint
        return bool(said and said.api_key) or any(map(self._secrets.get, self._listed.env))

    async def models(self) -> Sequence[Model]:
        """What the service lists, the default model first; else what the catalogue knows. Raises ProviderError."""
        from hermes_provider_anthropic.offered import list_models

        return await list_models(self._line())

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Answer a request. Raises ProviderError, or UserError for a bad address."""
        from hermes_provider_anthropic.call import stream_messages

        line = self._line()
        line.require_key()
        model = line.spelled(request.model or await self._default_model(line))
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
        return await made_body(line, request, line.spelled(request.model or await self._default_model(line)))

    async def close(self) -> None:
        """Let go of connections. The provider may be used again."""
        if self._opened is not None:
            await self._opened.close()

    def _line(self) -> "Line":
        if self._opened is None:
            from hermes_provider_anthropic.entry import load_entry
            from hermes_provider_anthropic.line import open_line

            entry = load_entry(self._listed.name)
            self._opened = open_line(entry, self.name, self._secrets, self._endpoint)
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


def all_providers(secrets: "SecretsBroker", endpoints: Mapping[str, Endpoint]) -> list[Provider]:
    """Every service of the catalogue, once under its own name and once under each alias.

    What the user set for a service holds for its aliases too, where they set nothing for those.
    """
    return [
        Messages(listed, secrets, name=name, endpoint=endpoints.get(name) or endpoints.get(listed.name))
        for listed in LISTED
        for name in (listed.name, *listed.aliases)
    ]
