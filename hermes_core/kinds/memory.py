"""Stores that last across sessions."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from hermes_core.types import Memo, Message, Principal, Session, Source

__all__ = ["Memory"]


class Memory(ABC):
    """A store across sessions. Nothing of one owner is ever seen by another."""

    name: str

    @abstractmethod
    async def add(self, owner: Principal, text: str, source: Source) -> Memo:
        """Remember something. The same text twice is one memo. Raises ToolError when it cannot be kept."""

    @abstractmethod
    async def search(self, owner: Principal, query: str, limit: int) -> Sequence[Memo]:
        """At most ``limit`` memos that match, best first. An empty query matches all."""

    @abstractmethod
    async def forget(self, owner: Principal, memo_id: str) -> None:
        """Forget a memo. Forgetting twice is quiet."""

    async def brief(self, session: Session) -> str:
        """What the model should know from the start; frozen into the prompt for the session."""
        return ""

    async def learn(self, session: Session, messages: Sequence[Message]) -> None:
        """Look at a finished turn and remember what is worth it. Not called where its model saw text from outside."""
