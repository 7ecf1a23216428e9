"""The conversation that a slash command was typed into: what the kernel does of it, and what the host."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from hermes_core.agent.kernel import Kernel
from hermes_core.agent.policy.itself import only_by_a_person
from hermes_core.agent.slash.jobs import JobsBeside
from hermes_core.agent.slash.model import ModelAtHand
from hermes_core.config.schema import PLUGIN_SPACES
from hermes_core.errors import UnknownName, UserError
from hermes_core.kinds import Conversation, ConversationQueue, ConversationTurn
from hermes_core.slash import HostSide
from hermes_core.types import ConversationState, Message, Rights, Session, SlashCommand, ToolRow

__all__ = ["AtHand"]

_BUSY = ("queue", "steer", "interrupt")


class _Turn(ConversationTurn):
    def __init__(self, side: HostSide, session: Session) -> None:
        self._side, self._session = side, session

    async def interrupt(self) -> bool:
        return await self._side.interrupt(self._session)

    async def steer(self, text: str) -> str | Message:
        return await self._side.steer(self._session, text)

    async def beside(self, text: str) -> str:
        return await self._side.beside(self._session, text)


class _Queue(ConversationQueue):
    def __init__(self, runtime: Kernel, side: HostSide, session: Session) -> None:
        self._runtime, self._side, self._session = runtime, side, session

    async def add(self, text: str) -> str | Message:
        return await self._side.queue(self._session, text)

    async def list(self) -> Sequence[tuple[Literal["queue", "steer"], Message]]:
        found = await (await self._runtime.store()).inbox.waiting(self._session.id)
        return [("steer" if one.mode == "steer" else "queue", one.message) for one in found]

    async def clear(self) -> int:
        return await (await self._runtime.store()).inbox.drop(self._session.id)


class AtHand(Conversation):
    """A conversation for its person. ``side`` is the host's; ``session`` is where the command was typed."""

    commands: Callable[[], Mapping[str, SlashCommand]]  # as of its registry

    def __init__(self, runtime: Kernel, side: HostSide, session: Session) -> None:
        self._runtime, self._side, self.session = runtime, side, session
        self.place, self.role, self.who, self.envelope = side.place, side.role, side.who, side.envelope
        self.turn, self.queue = _Turn(side, session), _Queue(runtime, side, session)
        self.model: ModelAtHand = ModelAtHand(runtime, side, session)
        self.jobs = JobsBeside(runtime, session)

    def rights(self) -> Rights:
        return self._runtime.guests.rights(self.session.owner, self._side.speaker)

    def need_person(self, *, admin: bool = False) -> None:
        only_by_a_person(self._runtime.home.brand)
        if admin and self._side.role != "admin":
            raise UserError("This holds for everybody, so only an admin changes it.")

    async def switch(self, session_id: str = "") -> Session:
        if session_id:
            await (await self._runtime.store()).sessions.get(session_id, self.session.owner)
        before, new = self.session, await self._side.switch(session_id)
        if new.id != before.id and not self._runtime.turns.busy(before.id):
            await self._runtime.sessions.end_resources(before.id)
        return new

    async def branch(self, title: str = "") -> Session:
        copy = await self._runtime.sessions.fork(self.session.id, self.session.owner, title=title)
        return await self._side.switch(copy.id)

    async def rename(self, title: str) -> Session:
        session = await self._runtime.sessions.rename(self.session, title)
        self._side.renamed(session)
        return session

    async def undo(self, exchanges: int = 1) -> Sequence[Message]:
        by, self._side.last = f"undo {self._side.event or os.urandom(8).hex()}", None
        try:
            return await (await self._runtime.store()).history.undo(self.session.owner, self.session.id, exchanges, by)
        except UnknownName:
            return ()

    async def last_said(self) -> Message | None:
        from hermes_core.store.outside import by_person

        if self._side.last:
            return self._side.last
        rows = await (await self._runtime.store()).history.load(self.session.id)
        return next((message for message in reversed(rows) if by_person(message)), None)

    def mode(self, wanted: str = "") -> str:
        only_by_a_person(self._runtime.home.brand, bool(wanted))
        if wanted and self._runtime.guests.is_guest(self.session.owner):
            raise UserError("Only the owner of this Hermes changes what needs a yes, and in their own sessions.")
        if wanted:
            self._runtime.policy.set_mode(self.session.id, wanted)
        return self._runtime.policy.mode(self.session.id, self.session.owner)

    def busy(self, wanted: str = "") -> str:
        if wanted not in ("", *_BUSY):
            raise UserError(f"There is no way {wanted!r}: {', '.join(_BUSY)}.")
        self._side.busy = wanted or self._side.busy
        return self._side.busy or self._runtime.settings.config.agent.busy

    async def tools(self) -> Sequence[ToolRow]:
        from hermes_core.agent.offering import tool_rows

        box = self._runtime.toolbox()
        off = set(self._runtime.settings.config.agent.disabled_on.get(self.session.origin, ()))
        tools = {t.name: t for t in (*box.tools, *box.offered(self.session).values())}
        return await tool_rows(self._runtime, self.session, tools, off, gone=True)

    async def configure(self, key: str, text: str) -> str:
        from hermes_core.agent.settings import HomeSettings

        self.need_person(admin=True)
        row = await HomeSettings(self._runtime).set(key, text)
        section, later = key.partition(".")[0], self._runtime.reread()
        when = "from the next start" if section in (*later, *PLUGIN_SPACES) else "from now on"
        return f"{key} is {'set' if row.secret or row.key != key else row.value}, {when}."

    def reload(self) -> Sequence[str]:
        self.need_person(admin=True)
        return self._runtime.reread()

    async def budget(self) -> Mapping[str, float]:
        kept = [await purse.left(self.session) for _, purse in self._runtime.purses()]
        return {name: amount for one in kept for name, amount in one.items()}

    async def state(self) -> ConversationState:
        route, own = await self.model.answering(), self.session
        place = (await self._runtime.sessions.take(own.id, own.origin, own.owner)).workspace
        return ConversationState(
            provider=route.name,
            model=route.model,
            effort=await self.model.effort(),
            mode=self.mode(),
            working=await self._side.working(self.session),
            waiting=len(await self.queue.list()),
            endpoint=route.endpoint.base_url if route.endpoint else "",
            window=self._runtime.models.window(route),
            store=(await self._runtime.store()).place,
            services=self._side.services(),
            wall=place.wall if place else self._runtime.workspaces.wall(own.owner),
        )
