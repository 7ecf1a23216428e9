"""Who hands out the turns that wait."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable

__all__ = ["TurnQueue"]


class TurnQueue(ABC):
    """Hands sessions in which something waits to whoever plays them: here, or on other machines.

    What is to be done is in the store. A queue only says where to look, on which machine and whose turn it is: of those
    for whom something waits, whoever has the fewest that play comes first. What it forgets is found in the store.
    """

    name: str

    @abstractmethod
    async def put(self, session_id: str, person: str = "") -> None:
        """Say that something of a person waits in a session. May be said twice. Raises StoreError if nobody hears."""

    @abstractmethod
    async def work(self, play: Callable[[str], Awaitable[None]], workers: int, most: Callable[[str], int]) -> None:
        """Play sessions until cancelled: ``workers`` side by side at most, and ``most`` of one person, wherever.

        Never one twice at a time. When cancelled, no more are taken and those that play are cancelled and waited for.
        A session whose worker died is handed to another; what ``play`` leaves waiting is put again.
        """

    @abstractmethod
    def rest(self) -> None:
        """Take no more sessions; those that play go on. Others, or the next ``work``, play what waits."""

    async def close(self) -> None:
        """Let go of connections."""
