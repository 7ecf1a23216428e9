"""Who hands out the turns that wait."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable

__all__ = ["TurnQueue"]


class TurnQueue(ABC):
    """Hands sessions in which something waits to whoever plays them: here, or on other machines.

    What is to be done is in the store. A queue only says where to look, in which order and on which machine; what it
    forgets is found by looking through the store.
    """

    name: str

    @abstractmethod
    async def put(self, session_id: str) -> None:
        """Say that something waits in this session. May be said twice. Raises StoreError when nobody can be told."""

    @abstractmethod
    async def work(self, play: Callable[[str], Awaitable[None]], workers: int) -> None:
        """Play sessions until cancelled: at most ``workers`` side by side, never one session twice at a time.

        ``play`` does everything that waits in a session. When cancelled, no more are taken and those that play are
        cancelled and waited for. A session whose worker died is handed to another.
        """

    @abstractmethod
    def rest(self) -> None:
        """Take no more sessions; those that play go on. Others, or the next ``work``, play what waits."""

    async def close(self) -> None:
        """Let go of connections."""
