"""Who keeps secrets elsewhere: a password store, a service, a program of one's own."""

from abc import ABC, abstractmethod
from collections.abc import Mapping

from hermes_core.errors import UserError

__all__ = ["SecretSource"]


class SecretSource(ABC):
    """Reads secrets that are kept elsewhere. Plain: it is called in a thread of its own, and may wait there.

    It writes no value down, logs none, and puts none into an error: of what a program says, too. The kernel keeps what
    it gives in memory alone, masks it everywhere, and asks again when that is too old.
    """

    name: str

    @abstractmethod
    def read(self, reference: str, seconds: float) -> str:
        """Return the secret at a reference, what stands behind ``NAME:`` in ``secrets.env``; empty where there is none.

        ``seconds`` is how long the kernel waits. Raises UserError: what is wrong, and what a person does about it.
        """

    def read_all(self, seconds: float) -> Mapping[str, str]:
        """Return all it has, by names of variables: for who puts its name into ``secrets.bulk``. Raises as ``read``."""
        hint = f"Write into secrets.env which secret is where: NAME: {self.name}:REFERENCE"
        raise UserError("It gives secrets one by one, and cannot say what it has.", hint=hint)
