"""Which past conversations may be told where one of them is held: all of its owner's, or only those of the same group.

What somebody said in private is nothing for a group, whoever asks for it there: they, or a model that was talked into
it. A conversation is of the chat in which its last turn was asked for; one that no chat has is private.
"""

from hermes_core.control import SessionsBroker
from hermes_core.errors import UnknownName
from hermes_core.types import Envelope, Session

__all__ = ["ToldHere"]

_Chat = tuple[str, str, str]


class ToldHere:
    """What may be told in ``current``; of a command ``envelope`` is the message that holds it."""

    def __init__(self, sessions: SessionsBroker, current: Session, envelope: Envelope | None = None) -> None:
        self._sessions, self._current, self._came = sessions, current, envelope
        self._group: _Chat | None = None
        self._known: dict[str, bool] = {}
        self._looked = False

    async def all(self) -> bool:
        """Whether nobody else reads here, so that all of its owner's conversations may be told."""
        if not self._looked:
            root = self._current
            while root.origin == "child" and root.parent:  # what a child agent finds is told by who sent it
                root = await self._sessions.get(root.owner, root.parent)
            self._known |= {self._current.id: True, root.id: True}
            self._group = _group(self._came or await self._asked_from(root.id))
            self._looked = True
        return self._group is None

    async def shows(self, session_id: str) -> bool:
        """Whether a conversation of the same owner may be told here."""
        if await self.all():
            return True
        if session_id not in self._known:
            self._known[session_id] = _group(await self._asked_from(session_id)) == self._group
        return self._known[session_id]

    async def _asked_from(self, session_id: str) -> Envelope | None:
        try:
            return await self._sessions.asked_from(session_id, self._current.owner)
        except UnknownName:  # nothing was said in it yet
            return None


def _group(envelope: Envelope | None) -> _Chat | None:
    """The chat of a message where others read too; None where nobody does."""
    if envelope is None or envelope.kind == "dm":
        return None
    return envelope.platform, envelope.account, envelope.chat
