"""Who answers requests with a model."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Sequence

from hermes_core.errors import UserError
from hermes_core.types import Delta, Endpoint, Feature, MediaRequest, MediaResponse, Model, Price, Request

__all__ = ["Provider"]


class Provider(ABC):
    """Answers requests with a model.

    ``features`` say what it can do beside conversations, with its own model for that, or one that is named: EMBED, SEE,
    DRAW, SPEAK, TRANSCRIBE. ``priority`` orders the automatic choice: the lowest of those ready wins (10 hosted, 50 on
    this machine, 90 last resort).
    """

    name: str
    priority: int = 10
    default_model: str = ""  # empty: the first of models()
    features: frozenset[Feature] = frozenset()

    @abstractmethod
    async def models(self) -> Sequence[Model]:
        """Return the models on offer. Raises ProviderError when the provider cannot be asked."""

    @abstractmethod
    def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Answer a request piece by piece, ending with exactly one Done. Raises ProviderError."""

    async def embed(self, request: MediaRequest) -> MediaResponse:
        """Give a vector for each text; only with Feature.EMBED. Raises as ``stream``."""
        raise self._cannot("embed")

    async def see(self, request: MediaRequest) -> MediaResponse:
        """Say what the pictures show, as the words ask; only with Feature.SEE. Raises as ``stream``."""
        raise self._cannot("see")

    async def draw(self, request: MediaRequest) -> MediaResponse:
        """Make pictures from words, and from pictures; only with Feature.DRAW. Raises as ``stream``."""
        raise self._cannot("draw")

    async def speak(self, request: MediaRequest) -> MediaResponse:
        """Read the texts aloud; only with Feature.SPEAK. Raises as ``stream``."""
        raise self._cannot("speak")

    async def transcribe(self, request: MediaRequest) -> MediaResponse:
        """Write down what is said in each sound; only with Feature.TRANSCRIBE. Raises as ``stream``."""
        raise self._cannot("transcribe")

    def _cannot(self, verb: str) -> UserError:
        return UserError(f"Provider {self.name} cannot {verb}.", hint=f"Name one that can: auxiliary.{verb}.provider.")

    def window(self, model: str) -> int:
        """Say how many tokens fit into a model as far as that is known without asking anybody; 0 when it is not."""
        return 0

    def price(self, model: str) -> Price | None:
        """Say what a model costs by the list, for usage that comes without a cost; None when that is not known."""
        return None

    async def body(self, request: Request) -> bytes:
        """Return the bytes that ``stream`` would send for a request; empty if nothing is sent or it cannot be said."""
        return b""

    def at(self, endpoint: Endpoint) -> "Provider":
        """Return the same provider at the address, or with the key, that the user configured. Raises UserError."""
        raise UserError(f"Provider {self.name} takes no address or key; remove providers.{endpoint.name}.")

    async def ready(self) -> bool:
        """Tell whether it could answer now (a key is set, the local server is up). Asked only in automatic choice."""
        return False

    async def close(self) -> None:
        """Let go of connections, within 1.5 seconds."""
