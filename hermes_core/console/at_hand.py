"""The conversation that a slash command was typed into, as the command has it; and as it is in a terminal."""

import os
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Literal

from hermes_core.agent.policy.itself import run_by_tool
from hermes_core.agent.route.choice import Route
from hermes_core.agent.runtime import Runtime
from hermes_core.config.schema import EFFORTS, PLUGIN_SPACES
from hermes_core.console import work
from hermes_core.console.allowed import Role
from hermes_core.console.conversation import QUEUED, STEERED
from hermes_core.console.conversation import Conversation as Talk
from hermes_core.errors import UnknownName, UserError
from hermes_core.kinds import Conversation
from hermes_core.types import (
    ConversationState,
    Job,
    Message,
    Principal,
    Session,
    ToolRow,
)

__all__ = ["AtHand", "TypedHere", "need_owner"]

_BUSY = ("queue", "steer", "interrupt")


class AtHand(Conversation):
    """What is the same in a terminal and in a chat. ``talk`` is what the kernel knows of the conversation."""

    def __init__(self, runtime: Runtime, talk: Talk, session: Session | None = None) -> None:
        self._runtime, self._talk, self._session = runtime, talk, session

    @property
    def session(self) -> Session:
        """The session that the command was typed into, whatever the conversation goes on in after it."""
        if self._session is None:
            assert self._talk.session, "no session is taken up"
            return self._talk.session
        return self._session

    @property
    def role(self) -> Role:
        return "admin"

    def need_person(self, *, admin: bool = False) -> None:
        if run_by_tool(self._runtime.home.brand):
            raise UserError("Only a person changes this, and a tool started this conversation.")
        if admin and self.role != "admin":
            raise UserError("This holds for everybody, so only an admin changes it.")

    async def switch(self, session_id: str = "") -> Session:
        if session_id:
            await (await self._runtime.store()).sessions.get(session_id, self.session.owner)
        before, new = self.session, await self._talk.switch(session_id)
        if new.id != before.id and not self._runtime.busy(before.id):
            await self._runtime.sessions.end_resources(before.id)
        return new

    async def branch(self, title: str = "") -> Session:
        copy = await self._runtime.sessions.fork(self.session.id, self.session.owner, title=title)
        return await self._talk.switch(copy.id)

    async def rename(self, title: str) -> Session:
        self._talk.session = await self._runtime.sessions.rename(self.session, title)
        return self._talk.session

    async def undo(self, exchanges: int = 1) -> Sequence[Message]:
        by, self._talk.last = f"undo {self._talk.event or os.urandom(8).hex()}", None
        try:
            return await (await self._runtime.store()).history.undo(self.session.owner, self.session.id, exchanges, by)
        except UnknownName:
            return ()

    async def last_said(self) -> Message | None:
        from hermes_core.store.outside import by_person

        if self._talk.last:
            return self._talk.last.message
        rows = await (await self._runtime.store()).history.load(self.session.id)
        return next((message for message in reversed(rows) if by_person(message)), None)

    async def waiting(self) -> Sequence[tuple[Literal["queue", "steer"], Message]]:
        found = await (await self._runtime.store()).inbox.waiting(self.session.id)
        return [("steer" if one.mode == "steer" else "queue", one.message) for one in found]

    async def drop_waiting(self) -> int:
        return await (await self._runtime.store()).inbox.drop(self.session.id)

    async def jobs(self) -> Sequence[Job]:
        return await work.jobs(self._runtime, self.session)

    async def stop_job(self, job: str) -> bool:
        return await work.stop_job(self._runtime, self.session, job)

    def mode(self, wanted: str = "") -> str:
        if wanted and run_by_tool(self._runtime.home.brand):
            raise UserError("Only a person changes what may be done, and a tool started this conversation.")
        if wanted and self._runtime.guests.is_guest(self.session.owner):
            raise UserError("Only the owner of this Hermes changes what needs a yes, and in their own sessions.")
        if wanted:
            self._runtime.policy.set_mode(self.session.id, wanted)
        return self._runtime.policy.mode(self.session.id, self.session.owner)

    def busy(self, wanted: str = "") -> str:
        if wanted not in ("", *_BUSY):
            raise UserError(f"There is no way {wanted!r}: {', '.join(_BUSY)}.")
        self._talk.busy = wanted or self._talk.busy
        return self._talk.busy or self._runtime.settings.config.agent.busy

    async def tools(self) -> Sequence[ToolRow]:
        from hermes_core.agent.offering import tool_rows

        box = self._runtime.toolbox()
        off = set(self._runtime.settings.config.agent.disabled_on.get(self.session.origin, ()))
        tools = {t.name: t for t in (*box.tools, *box.offered(self.session).values())}
        return await tool_rows(self._runtime, self.session, tools, off, gone=True)

    async def configure(self, key: str, text: str) -> str:
        from hermes_core.agent.settings import HomeSettings

        self.need_person(admin=True)
        row = await HomeSettings(self._runtime, lambda: None).set(key, text)
        section, later = key.partition(".")[0], self._runtime.reread()
        when = "from the next start" if section in (*later, *PLUGIN_SPACES) else "from now on"
        return f"{key} is {'set' if row.secret or row.key != key else row.value}, {when}."

    def reload(self) -> Sequence[str]:
        self.need_person(admin=True)
        return self._runtime.reread()

    async def budget(self) -> Mapping[str, float]:
        return await self._runtime.budgets.left(self.session, await self._runtime.store())

    async def model(
        self, wanted: str = "", *, span: Literal["session", "once", "global"] = "session"
    ) -> tuple[str, str]:
        route = await self._answering(wanted, span)
        return route.name, route.model

    @abstractmethod
    async def _answering(self, wanted: str = "", span: str = "") -> Route:
        """Who answers here, once it is chosen."""

    async def state(self) -> ConversationState:
        route = await self._answering()
        return ConversationState(
            provider=route.name,
            model=route.model,
            effort=await self.effort(),
            mode=self.mode(),
            working=await self._working(),
            waiting=len(await self.waiting()),
            endpoint=route.endpoint.base_url if route.endpoint else "",
            window=self._runtime.router.window(route),
            store=(await self._runtime.store()).place,
            services=self._services(),
        )

    async def _working(self) -> bool:
        return self._runtime.busy(self.session.id)

    def _services(self) -> Sequence[str]:
        return ()

    def _effort(self, wanted: str, *more: str) -> None:
        """Raises UserError for an effort that there is not."""
        if wanted not in ("", *EFFORTS, *more):
            raise UserError(f"There is no effort {wanted!r}: {', '.join(EFFORTS)}.")


class TypedHere(AtHand):
    """The same where a person types and waits. ``begin`` has something done beside the conversation."""

    place = "terminal"

    def __init__(
        self,
        runtime: Runtime,
        talk: Talk,
        session: Session | None = None,
        begin: Callable[[Session, str], Awaitable[str]] | None = None,
    ) -> None:
        super().__init__(runtime, talk, session)
        self._begin = begin

    @property
    def who(self) -> str:
        return f"{self.session.owner.person} of profile {self.session.owner.profile}"

    async def interrupt(self) -> bool:
        return self._runtime.interrupt(self.session.id)

    async def steer(self, text: str) -> str | Message:
        await self._runtime.steer(self.session.id, text, owner=self.session.owner, origin=self.session.origin)
        return STEERED if self._runtime.busy(self.session.id) else ""

    async def queue(self, text: str) -> str | Message:
        await self._runtime.queue(self.session.id, text, owner=self.session.owner, origin=self.session.origin)
        return QUEUED if self._runtime.busy(self.session.id) else ""

    async def beside(self, text: str) -> str:
        if self._begin is None:
            raise UserError("This does not work here.")
        return await self._begin(self.session, text)

    async def _answering(self, wanted: str = "", span: str = "") -> Route:
        if wanted == "default":
            configured = self._runtime.settings.config.model
            wanted = f"{configured.provider}:{configured.default}" if configured.provider else configured.default
        if span == "once" and wanted:
            route = await self._runtime.routed(wanted)
            self._talk.once = wanted
            return route
        if wanted:
            await self._runtime.use_model(wanted)
        route = await self._runtime.routed()
        if wanted:
            store = await self._runtime.store()
            await store.sessions.update(self.session.id, provider=route.name, model=route.model)
        return route

    async def effort(self, wanted: str = "") -> str:
        self._effort(wanted)
        router = self._runtime.router
        router.effort = wanted or router.effort
        return router.effort or self._runtime.settings.config.model.effort


def need_owner(here: Conversation) -> None:
    """Raises UserError for anybody but the owner of this Hermes, in a conversation of their own."""
    here.need_person(admin=True)
    if here.session.owner.person != Principal().person:
        raise UserError("Only the owner of this Hermes does this, and in their own conversations.")
