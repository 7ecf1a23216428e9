"""Slash commands that are typed into an attached terminal; the host runs them, as those of its other conversations."""

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property
from typing import TypedDict

from hermes_core.context import PluginContext
from hermes_core.slash import QUEUED, STEERED, HostSide, SlashCommands
from hermes_core.types import Ended, Envelope, Failed, Message, Session, Text, TurnOrder
from hermes_platform_host.rooms import Rooms
from hermes_platform_kit.clean import clean

__all__ = ["Answers", "Typed"]


class Answers(TypedDict):
    """Who answers the next turn; empty where nobody chose."""

    model: str
    effort: str


class Typed(HostSide):
    """What a terminal that is attached talks to. ``go`` takes it to another session, ``tell`` shows it a line."""

    def __init__(
        self,
        ctx: PluginContext,
        rooms: Rooms,
        session: Session,
        go: Callable[[Session], Awaitable[None]],
        tell: Callable[[str], None],
        folder: str,
    ) -> None:
        self._ctx, self._rooms, self._session = ctx, rooms, session
        self._go, self._tell, self._folder = go, tell, folder
        self.chosen: Mapping[str, str] | None = {}
        self._beside: set[asyncio.Task[None]] = set()

    @cached_property
    def _slash(self) -> SlashCommands:
        return self._ctx.slash.commands("terminal")

    @property
    def answers(self) -> Answers:
        """What was chosen here of the next turn."""
        chosen = self.chosen or {}
        return {"model": chosen.get("model", ""), "effort": chosen.get("effort", "")}

    async def run(self, text: str) -> str | Message:
        """Carry a command out. A question before a loss is answered by the command, written again with the answer.

        Raises HermesError.
        """
        name, _, rest = text[1:].partition(" ")
        said = await self._slash.run(self, name.casefold(), rest.strip())
        return self._rooms.room(self._session.id).kept() or said

    # --- see HostSide -------------------------------------------------------------------------------------------------

    @property
    def who(self) -> str:
        return f"{self._ctx.owner.person} of profile {self._ctx.owner.profile}"

    async def take_up(self) -> Session:
        return self._session

    async def switch(self, session_id: str = "") -> Session:
        folder = "" if session_id else self._folder
        self._session = await self._ctx.turns.take_up(session_id, origin="cli", folder=folder)
        await self._go(self._session)
        return self._session

    def renamed(self, session: Session) -> None:
        self._session = session

    async def interrupt(self, session: Session) -> bool:
        return await self._ctx.turns.interrupt(session.id)

    async def working(self, session: Session) -> bool:
        return await self._ctx.turns.busy(session.id)

    async def steer(self, session: Session, text: str) -> str:
        self._rooms.room(session.id).tell({"said": text, "by": self})
        await self._ctx.turns.steer(session.id, text)
        return self._soon(session, STEERED if await self.working(session) else "")

    async def queue(self, session: Session, text: str) -> str:
        self._rooms.room(session.id).tell({"said": text, "by": self})
        await self._ctx.turns.queue(text, order=TurnOrder(session=session.id))
        return self._soon(session, QUEUED if await self.working(session) else "")

    def _soon(self, session: Session, told: str) -> str:
        """Have what waits played once what plays is over."""
        room = self._rooms.room(session.id)
        room.play(*(self._ctx.turns.resume(session.id, ask=room.ask, **self.answers) for _ in range(2)))
        return told

    async def beside(self, session: Session, text: str) -> str:
        said = Message(role="user", parts=(Text(text=text),))
        event, person = os.urandom(16).hex(), self._ctx.owner.person
        envelope = Envelope(platform=session.origin, account="", event_id=event, chat="", sender=person, message=said)
        name = await self._ctx.turns.queue(envelope, order=TurnOrder(folder=self._folder))
        task = asyncio.create_task(self._told_of(name, text))
        self._beside.add(task)
        task.add_done_callback(self._beside.discard)
        return name

    async def _told_of(self, name: str, text: str) -> None:
        """Play what was begun beside, and say what came of it. It goes on where this terminal leaves."""
        answer = "(no answer)"
        shown = self._rooms.room(name).shown(self._ctx.turns.resume(name))
        async with contextlib.aclosing(shown) as events:
            async for event in events:
                if isinstance(event, Failed):
                    answer = f"{event.text}\n{event.hint}".strip()
                elif isinstance(event, Ended):
                    answer = event.answer or answer
        self._tell(clean(f"Done in the background ({name}): {text[:80]}\n\n{answer}"))

    async def choose(self, **chosen: str) -> None:
        self.chosen = {name: value for name, value in {**(self.chosen or {}), **chosen}.items() if value}
