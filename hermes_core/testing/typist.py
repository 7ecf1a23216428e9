"""Somebody at a terminal who types slash commands, for tests."""

from hermes_core.agent.kernel import Kernel
from hermes_core.errors import UserError
from hermes_core.slash import QUEUED, STEERED, HostSide
from hermes_core.types import Session

__all__ = ["Typist"]


class Typist(HostSide):
    """The least that a host's side is."""

    def __init__(self, runtime: Kernel, session: Session | None = None) -> None:
        self._runtime, self._session = runtime, session
        self._origin = session.origin if session else "cli"

    @property
    def who(self) -> str:
        owner = self._runtime.owner
        return f"{owner.person} of profile {owner.profile}"

    async def take_up(self) -> Session:
        return self._session or await self.switch()

    async def switch(self, session_id: str = "") -> Session:
        state = await self._runtime.sessions.take(session_id, self._origin, self._runtime.owner)
        self._session = state.session
        return self._session

    def renamed(self, session: Session) -> None:
        self._session = session

    async def interrupt(self, session: Session) -> bool:
        return self._runtime.turns.interrupt(session.id)

    async def working(self, session: Session) -> bool:
        return self._runtime.turns.busy(session.id)

    async def steer(self, session: Session, text: str) -> str:
        await self._runtime.turns.queue(session.id, text, owner=session.owner, origin=session.origin, mode="steer")
        return STEERED if await self.working(session) else ""

    async def queue(self, session: Session, text: str) -> str:
        await self._runtime.turns.queue(session.id, text, owner=session.owner, origin=session.origin)
        return QUEUED if await self.working(session) else ""

    async def beside(self, session: Session, text: str) -> str:
        raise UserError("This does not work here.")
