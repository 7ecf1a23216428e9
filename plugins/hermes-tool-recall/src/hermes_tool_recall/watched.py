"""The past as one call of the tool looks at it: it notes whether anything it shows came from outside."""

from collections.abc import Sequence
from typing import Literal

from hermes_core.control import SessionsBroker
from hermes_core.errors import UnknownName
from hermes_core.types import Hit, Message, Principal, Session
from hermes_tool_kit.places import ToldHere

_LOOKED_AT = 300  # conversations of a person among which those of a group are looked for


class Watched:
    """Another broker, watched. ``untrusted``: what was shown holds text from outside, or what was made of it.

    In a group there is nothing but what was said in that group.
    """

    def __init__(self, sessions: SessionsBroker, current: Session) -> None:
        self._sessions, self.untrusted = sessions, False
        self._here = ToldHere(sessions, current)

    async def search(
        self,
        owner: Principal,
        words: str,
        *,
        limit: int = 10,
        sort: Literal["best", "newest", "oldest"] = "best",
        children: bool = False,
        session_id: str = "",
    ) -> tuple[Sequence[Hit], bool]:
        """Messages that hold the words, and whether these are all; those that are shown are said with ``show``."""
        found = await self._sessions.search(
            owner, words, limit=limit, sort=sort, children=children, session_id=session_id
        )
        return [hit for hit in found if await self._here.shows(hit.session_id)], len(found) < limit

    async def recent(self, owner: Principal, *, limit: int = 20) -> Sequence[Session]:
        """Sessions, last used first."""
        if await self._here.all():
            return await self._sessions.recent(owner, limit=limit)
        recent = await self._sessions.recent(owner, limit=_LOOKED_AT)
        return [one for one in recent if await self._here.shows(one.id)][:limit]

    async def read(
        self, owner: Principal, session_id: str, *, around: int = 0, window: int = 10
    ) -> Sequence[tuple[int, Message]]:
        """Messages of a session; what is read is shown."""
        messages = await self.peek(owner, session_id, around=around, window=window)
        self.untrusted = self.untrusted or any(message.untrusted for _, message in messages)
        return messages

    async def find(self, owner: Principal, words: str) -> Session:
        """One by what a person calls it, however old it is; in a group nothing is said of others of such a name."""
        if not await self._here.all():
            raise UnknownName("session", words)
        return await self._sessions.find(owner, words)

    async def peek(
        self, owner: Principal, session_id: str, *, around: int = 0, window: int = 10
    ) -> Sequence[tuple[int, Message]]:
        """Messages of a session that are looked at and not shown. Raises UnknownName for what is not told here."""
        if not await self._here.shows(session_id):
            raise UnknownName("session", session_id)
        return await self._sessions.read(owner, session_id, around=around, window=window)

    def show(self, hits: Sequence[Hit]) -> Sequence[Hit]:
        """The same hits, noted as shown."""
        self.untrusted = self.untrusted or any(hit.untrusted for hit in hits)
        return hits
