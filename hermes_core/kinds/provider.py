"""Who answers requests with a model."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Sequence

from hermes_core.errors import UserError
from hermes_core.types import Delta, Endpoint, Model, Price, Request

__all__ = ["Provider"]


class Provider(ABC):
    """Answers requests with a model.

    ``rank`` orders the automatic choice: the lowest ready rank wins (10 hosted, 50 on this machine, 90 last resort).
    """

    name: str
    rank: int = 10
    default_model: str = ""  # empty: the first of models()

    @abstractmethod
    async def models(self) -> Sequence[Model]:
        """The models on offer. Raises ProviderError when the provider cannot be asked."""

    @abstractmethod
    def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Answer a request piece by piece, ending with exactly one Done. Raises ProviderError."""

    def window(self, model: str) -> int:
        """Tokens that fit into a model as far as that is known without asking anybody; 0 when it is not."""
        return 0

    def price(self, model: str) -> Price | None:
        """What a model costs by the list, for usage that comes without a cost; None when that is not known."""
        return None

    async def body(self, request: Request) -> bytes:
        """The bytes that ``stream`` would send for a request; empty where nothing is sent or it cannot be said."""
        return b""

    def at(self, endpoint: Endpoint) -> "Provider":
        """The same provider at the address, or with the key, that the user configured. Raises UserError."""
        raise UserError(f"Provider {self.name} takes no address or key; remove providers.{endpoint.name}.")

    async def ready(self) -> bool:
        """Whether it could answer now (a key is set, the local server is up). Asked only in the automatic choice."""
        return False

    async def close(self) -> None:
        """Let go of connections."""
