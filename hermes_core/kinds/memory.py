"""Stores that last across sessions."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from hermes_core.types import Memo, Message, Principal, Session, Source

__all__ = ["Memory"]

_ALL = 1_000_000


class Memory(ABC):
    """A store across sessions. Nothing of one owner is ever seen by another.

    Tools that its plugin adds are offered where it is the memory in use, ``memory.provider``.
    """

    name: str

    @abstractmethod
    async def add(self, owner: Principal, text: str, source: Source) -> Memo:
        """Remember something. The same text twice is one memo. Raises ToolError when it cannot be kept."""

    @abstractmethod
    async def search(self, owner: Principal, query: str, limit: int) -> Sequence[Memo]:
        """Return at most ``limit`` memos that match, best first. An empty query matches all."""

    @abstractmethod
    async def forget(self, owner: Principal, memo_id: str) -> None:
        """Forget a memo. Forgetting twice is quiet."""

    async def prefetch(self, session: Session, message: Message) -> Sequence[Memo]:
        """Find what may matter to a message that begins a turn; stored with it. A few, best first, in five seconds."""
        return ()

    async def compacting(self, session: Session, messages: Sequence[Message]) -> None:
        """Look at a context, within five seconds, before its model is told of it in fewer words. Else as ``learn``."""

    async def export(self, owner: Principal) -> Sequence[Memo]:
        """Return all that is kept of an owner."""
        return await self.search(owner, "", _ALL)

    async def erase(self, owner: Principal) -> int:
        """Let go of all that is kept of an owner, also aside of what search finds; how many memos it was."""
        kept = await self.export(owner)
        for memo in kept:
            await self.forget(owner, memo.id)
        return len(kept)

    async def brief(self, session: Session) -> str:
        """Say what the model should know from the start; frozen into the prompt for the session."""
        return ""

    async def learn(self, session: Session, messages: Sequence[Message]) -> None:
        """Look at a finished turn and remember what is worth it. Not called where its model saw text from outside.

        A look ends after a minute, and 1.5 seconds after the program was to end: a person waits. Where it did not come
        to its end, the plugin is named, and the next turn of the session gives all its messages again.
        """
