"""What one chat talks to."""

from hermes_core.agent.live import new_session_id
from hermes_core.agent.runtime import Runtime
from hermes_core.types import Envelope, Session

__all__ = ["BEHIND", "QUEUED", "STEERED", "WAITS", "Conversation"]

QUEUED = "Queued: it has its turn when this one ends. /steer says it now, /stop ends the turn."
STEERED = "Passed on: the model sees it with the next result, or as the next message."
WAITS = "This command waits for the end of the turn; /stop ends it."
BEHIND = "This comes after the command that waits."


class Conversation:
    """What a chat talks to now. ``once`` is the model that answers the next message, ``busy`` what becomes of one that
    comes during a turn, where that was chosen here. ``event`` names the message that is seen to, where it is stored.

    ``wanted`` names an earlier session that it goes on in, whose last turn may be unfinished: ``resumes``.
    """

    event = ""

    def __init__(self, runtime: Runtime, origin: str, session_id: str = "") -> None:
        self._runtime = runtime
        self._origin = origin
        self.wanted = session_id
        self.resumes = bool(session_id)
        self.over = True  # the last turn has its end, and no other has begun
        self.behind = False  # a command waits for the end of the turn, and what comes now for the command
        self.session: Session | None = None
        self.seen: Session | None = None  # the session that is wanted, as its row says; it is not taken up yet
        self.last: Envelope | None = None
        self.once, self.busy = "", ""

    async def take_up(self) -> Session:
        """The session of this chat, made when first needed."""
        if self.session is None:
            self.wanted = self.wanted or new_session_id()  # known before anyone waits: two may ask at once
            self.session = await self._runtime.take_up(self.wanted, origin=self._origin)
        return self.session

    def go_on(self, session: Session) -> None:
        """Go on in an earlier session, which is taken up when somebody says something."""
        self.session, self.seen, self.wanted, self.last, self.resumes = None, session, session.id, None, True

    async def switch(self, session_id: str = "") -> Session:
        """Go on in another session, or in a new one."""
        self.session, self.seen, self.wanted, self.last = None, None, session_id, None
        self.resumes = bool(session_id)
        return await self.take_up()
