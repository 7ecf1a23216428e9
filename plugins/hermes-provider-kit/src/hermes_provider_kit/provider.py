"""What providers of services have in common: one is opened when it is first asked for something."""

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from hermes_core.errors import AuthError, ProviderError, Refused
from hermes_core.kinds import Provider
from hermes_core.types import Endpoint, Model, Price
from hermes_provider_kit.listed import Listed

if TYPE_CHECKING:
    from hermes_core.brokers import SecretsBroker
    from hermes_provider_kit.kept import Kept, Lists, Offer
    from hermes_provider_kit.line import ServiceLine

__all__ = ["ALIAS_RANK", "ServiceProvider"]

ALIAS_RANK = 99

L = TypeVar("L", bound="ServiceLine")


class ServiceProvider(Provider, Generic[L]):
    """A provider whose models are a service's. Its line is opened when it is first needed.

    Args:
        listed: The service.
        secrets: Where its key is.
        name: How the configuration names it, where that is another name.
        endpoint: What the user set of it.
        lists: Where what it offers is kept.
    """

    def __init__(
        self,
        listed: Listed,
        secrets: "SecretsBroker",
        *,
        name: str = "",
        endpoint: Endpoint | None = None,
        lists: "Lists | None" = None,
    ) -> None:
        self.name = name or listed.name
        self.is_alias = self.name in listed.aliases
        self.priority = ALIAS_RANK if self.is_alias else listed.priority
        elsewhere = endpoint is not None and endpoint.base_url not in ("", listed.base_url)
        self.default_model = "" if elsewhere else listed.default_model
        self._listed, self._secrets, self._endpoint, self._lists = listed, secrets, endpoint, lists
        self._told_default = ""  # what the service named first, for a request without a model
        self._opened: L | None = None

    def at(self, endpoint: Endpoint) -> Self:
        """Give the same at the user's address, or with the user's key. Raises UserError for what cannot work."""
        more = {"name": endpoint.name or self.name, "endpoint": endpoint, **self._places}
        bound = type(self)(self._listed, self._secrets, **more)
        bound._line()
        return bound

    def window(self, model: str) -> int:
        """Say what the user set, the service said, or is known of the model."""
        line = self._line()
        return line.context or self._kept.window(model) or self._known_window(line, model)

    def price(self, model: str) -> Price | None:
        """Say what the service's list, a public one, or the catalogue says."""
        line = self._line()
        return self._kept.price(model) or self._known_price(line, model)

    async def ready(self) -> bool:
        """Tell whether a key is set. An alias never is ready, so that nothing is chosen twice."""
        said = self._endpoint
        return not self.is_alias and (bool(said and said.api_key) or any(map(self._secrets.get, self._listed.env)))

    async def models(self) -> Sequence[Model]:
        """List what the service offers, the default model first; what it offered last, or is known, where it is away.

        Raises ProviderError.
        """
        line = self._line()
        try:
            offers = await self._offers(line)
        except AuthError:
            raise
        except ProviderError:
            found = self._kept.models() or list(self._known_models(line))
            if not found:
                raise
        else:
            self._kept.keep(offers)
            found = self._kept.filled([one.model for one in offers]) or list(self._known_models(line))
        return self._in_order(line, found)

    async def close(self) -> None:
        """Let go of connections. The provider may be used again."""
        if self._opened is not None:
            await self._opened.close()

    @abstractmethod
    def _open(self) -> L:
        """Open the line. Raises UserError for an address or a protocol that cannot work."""

    @abstractmethod
    async def _offers(self, line: L) -> "Sequence[Offer]":
        """Ask the service what it offers now. Raises ProviderError."""

    def _known_models(self, line: L) -> Sequence[Model]:
        """List what is known of the service without asking anybody."""
        return ()

    def _known_window(self, line: L, model: str) -> int:
        """Say how many tokens fit into a model, as far as that is known without asking anybody."""
        return 0

    def _known_price(self, line: L, model: str) -> Price | None:
        """Say what a model costs, in the same way."""
        return None

    def _public(self, line: L) -> str:
        """Name the service as public lists do; empty where they do not know it."""
        return ""

    def _in_order(self, line: L, models: Sequence[Model]) -> Sequence[Model]:
        from attrs import evolve

        first = self._listed.default_model
        models = models or ([Model(name=first)] if first else [])
        made = [evolve(one, context=line.context) for one in models] if line.context else models
        return sorted(made, key=lambda one: one.name != first)

    @property
    def _places(self) -> dict[str, Any]:
        """Name what of the home it was made with."""
        return {"lists": self._lists}

    @cached_property
    def _kept(self) -> "Kept":
        from hermes_provider_kit.kept import Kept

        line = self._line()
        public = self._public(line) if line.own else ""
        return self._lists.kept(line.key, line.service.url, public) if self._lists else Kept()

    def _line(self) -> L:
        if self._opened is None:
            self._opened = self._open()
        return self._opened

    async def _default_model(self) -> str:
        """Name the model of a request that names none. Raises ProviderError; Refused where there is none."""
        if not (self.default_model or self._told_default):
            offered = await self.models()
            if not offered:
                raise Refused(f"{self._line().service.title} offers no model.", hint="Name one with --model.")
            self._told_default = offered[0].name
        return self.default_model or self._told_default
