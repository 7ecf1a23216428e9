"""The past as one call of the tool looks at it: it notes whether anything it shows came from outside."""

from collections.abc import Sequence
from typing import Literal

from hermes_core.control import SessionsBroker
from hermes_core.types import Hit, Message, Principal, Session


class Watched:
    """Another broker, watched. ``untrusted``: what was shown holds text from outside, or what was made of it."""

    def __init__(self, sessions: SessionsBroker) -> None:
        self._sessions, self.untrusted = sessions, False

    async def search(
        self,
        owner: Principal,
        words: str,
        *,
        limit: int = 10,
        sort: Literal["newest", "oldest"] = "newest",
        children: bool = False,
    ) -> Sequence[Hit]:
        """Messages that hold all the words; those that are shown of them are said with ``show``."""
        return await self._sessions.search(owner, words, limit=limit, sort=sort, children=children)

    async def recent(self, owner: Principal, *, limit: int = 20) -> Sequence[Session]:
        """Sessions, last used first."""
        return await self._sessions.recent(owner, limit=limit)

    async def read(
        self, owner: Principal, session_id: str, *, around: int = 0, window: int = 10
    ) -> Sequence[tuple[int, Message]]:
        """Messages of a session; what is read is shown."""
        messages = await self._sessions.read(owner, session_id, around=around, window=window)
        self.untrusted = self.untrusted or any(message.untrusted for _, message in messages)
        return messages

    async def find(self, owner: Principal, words: str) -> Session:
        """One by what a person calls it, however old it is."""
        return await self._sessions.find(owner, words)

    async def peek(
        self, owner: Principal, session_id: str, *, around: int = 0, window: int = 10
    ) -> Sequence[tuple[int, Message]]:
        """Messages of a session that are looked at and not shown."""
        return await self._sessions.read(owner, session_id, around=around, window=window)

    def show(self, hits: Sequence[Hit]) -> Sequence[Hit]:
        """The same hits, noted as shown."""
        self.untrusted = self.untrusted or any(hit.untrusted for hit in hits)
        return hits
