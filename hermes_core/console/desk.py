"""The desk of one platform: turns and sessions for the persons it serves, within what its manifest asks for."""

import contextlib
import hashlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from functools import cached_property, partial

from attrs import evolve

from hermes_core.agent.failed import cause
from hermes_core.agent.live import here, new_session_id
from hermes_core.agent.runtime import Runtime
from hermes_core.errors import HermesError, NotPermitted
from hermes_core.kinds import Desk, Platform, SessionDesk
from hermes_core.kinds.desk import AskPerson
from hermes_core.store.codec import clean, dumps, message_to_json
from hermes_core.types import (
    Blob,
    Choice,
    Ended,
    Envelope,
    Event,
    Hit,
    Job,
    Message,
    ModelRow,
    Part,
    PastTurn,
    Principal,
    ProviderRow,
    Said,
    Session,
    SessionRow,
    SlashCommand,
    Text,
    UsageRow,
    Verdict,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.control import SettingsBroker
    from hermes_core.store.journal import Store

__all__ = ["RuntimeDesk"]

_DEEDS = {
    "turns.run": "ran a turn",
    "sessions.read": "read past conversations",
    "sessions.write": "changed conversations",
    "settings.write": "looked into the settings",
}


class _Door:
    """Opens the kernel for a platform as far as its plugin may."""

    def __init__(self, runtime: Runtime, platform: Platform) -> None:
        self.runtime, self.platform = runtime, platform
        self._granted: set[str] = set()

    def require(self, permission: str) -> None:
        """Raises NotPermitted."""
        if permission in self._granted:
            return
        found = self.runtime.dispatch.contributions("register_platforms")
        label = next((label for label, platform in found if platform is self.platform), "")
        plugin = self.runtime.index.get(label)
        if plugin is None:
            raise NotPermitted(self.platform.name, "belongs to no plugin, so nothing was granted to it")
        plugin.require("permissions", "kernel", permission, _DEEDS[permission])
        self._granted.add(permission)

    async def store(self, permission: str) -> "Store":
        """The store, for a deed. Raises NotPermitted."""
        self.require(permission)
        return await self.runtime.store()

    def owner(self, person: str) -> Principal:
        """Who a person is here; nobody is the owner."""
        return evolve(self.runtime.owner, person=clean(person)) if person else self.runtime.owner


class _Sessions(SessionDesk):
    def __init__(self, door: _Door) -> None:
        self._door = door

    async def list(self, person: str = "", *, limit: int = 20) -> Sequence[SessionRow]:
        return await (await self._door.store("sessions.read")).list_sessions(self._door.owner(person), limit=limit)

    async def get(self, session: str, person: str = "") -> Session:
        return await (await self._door.store("sessions.read")).session(session, self._door.owner(person))

    async def create(self, person: str = "", *, session: str = "", title: str = "", system: str = "") -> Session:
        store, sessions = await self._door.store("sessions.write"), self._door.runtime.sessions
        name = self._door.platform.name
        live = await sessions.take(session or new_session_id(), name, self._door.owner(person), clean(system))
        await sessions.keep(live, store)
        return await sessions.rename(live.session, title) if title else live.session

    async def rename(self, session: str, title: str, person: str = "") -> Session:
        store = await self._door.store("sessions.write")
        known = await store.session(session, self._door.owner(person))
        return await self._door.runtime.sessions.rename(known, title)

    async def delete(self, session: str, person: str = "") -> None:
        await self._door.store("sessions.write")
        await self._door.runtime.delete_session(session, self._door.owner(person))

    async def fork(self, session: str, person: str = "", *, upto: str = "", title: str = "") -> Session:
        store, owner = await self._door.store("sessions.write"), self._door.owner(person)
        known = await store.session(session, owner)
        fork = evolve(known, id=new_session_id(), origin=self._door.platform.name, title=title, created=0.0, parent="")
        await store.fork_session(owner, session, fork, upto=upto)
        return await store.session(fork.id, owner)

    async def search(self, words: str, person: str = "", *, limit: int = 20) -> Sequence[Hit]:
        return await (await self._door.store("sessions.read")).search(self._door.owner(person), words, limit=limit)

    async def messages(
        self, session: str, person: str = "", *, around: int = 0, window: int = 10
    ) -> Sequence[tuple[int, Message]]:
        store = await self._door.store("sessions.read")
        return await store.messages(self._door.owner(person), session, around=around, window=window)


class RuntimeDesk(Desk):
    """A desk over one kernel. Its chats are sessions: who carries chats to sessions says what else they are."""

    def __init__(self, runtime: Runtime, platform: Platform) -> None:
        self._runtime, self._platform = runtime, platform
        self._door = _Door(runtime, platform)
        self.sessions = _Sessions(self._door)

    @cached_property
    def settings(self) -> "SettingsBroker":
        from hermes_core.agent.settings import HomeSettings

        return HomeSettings(self._runtime, partial(self._door.require, "settings.write"))

    @property
    def commands(self) -> Sequence[SlashCommand]:
        return ()

    def status(self, chat: str) -> Mapping[str, str]:
        return self._status(chat, None)

    def _status(self, chat: str, session: Session | None) -> Mapping[str, str]:
        route = self._runtime.route
        return {
            "session": session.id if session else chat,
            "title": session.title if session else "",
            "provider": route.name if route else "",
            "model": route.model if route else "",
            "notice": route.notice if route else "",
            "cwd": session.cwd if session else self._runtime.settings.config.terminal.cwd or here(),
            "mode": self._runtime.mode(session.id if session else chat),
        }

    async def interrupt(self, chat: str) -> bool:
        return self._runtime.interrupt(chat)

    async def prepare(self) -> None:
        await self._runtime.routed()
        await self._runtime.store()

    async def open(self, chat: str, session: str) -> Session:
        return await self.sessions.get(session)

    async def _session(self, chat: str) -> Session:
        """The session of a chat, which may be a new one."""
        return (await self._runtime.sessions.take(chat, self._platform.name, self._runtime.owner)).session

    async def complete(self, chat: str, line: str) -> Sequence[Choice]:
        from hermes_core.console.completion import completions

        return await completions(self._runtime, self.commands, partial(self._session, chat), line)

    async def providers(self) -> Sequence[ProviderRow]:
        from hermes_core.agent.route.catalogue import provider_rows

        self._door.require("turns.run")
        return await provider_rows(self._runtime)

    async def models(self, provider: str = "") -> Sequence[ModelRow]:
        from hermes_core.agent.route.catalogue import model_rows

        self._door.require("turns.run")
        return await model_rows(self._runtime, provider)

    async def usage(self, *, person: str = "", days: int = 30) -> Sequence[UsageRow]:
        return await (await self._door.store("sessions.read")).usage(self._door.owner(person), days=days)

    async def jobs(self, chat: str) -> Sequence[Job]:
        from hermes_core.console.work import jobs

        self._door.require("sessions.read")
        return await jobs(self._runtime, await self._session(chat))

    async def job_output(self, chat: str, job: str) -> str:
        from hermes_core.console.work import job_output

        self._door.require("sessions.read")
        return await job_output(self._runtime, await self._session(chat), job)

    async def stop_job(self, chat: str, job: str) -> bool:
        from hermes_core.console.work import stop_job

        self._door.require("turns.run")
        return await stop_job(self._runtime, await self._session(chat), job)

    async def turn(
        self,
        envelope: Envelope,
        *,
        person: str = "",
        session: str = "",
        history: Sequence[Message] = (),
        system: str = "",
        model: str = "",
        ask: AskPerson | None = None,
        stored: Callable[[], Awaitable[None]] | None = None,
    ) -> AsyncGenerator[Event, None]:
        store, owner = await self._door.store("turns.run"), self._door.owner(person)
        system, goes_on = clean(system), not session
        said = _digest(system, history) if goes_on else None
        if said and history:
            session = await store.take_head(owner, said.hexdigest()) or await self._begun(owner, system, history, store)
        turn = self._runtime.turn(
            envelope.message,
            session=session,
            origin=self._platform.name,
            owner=owner,
            envelope=envelope,
            ask=ask,
            stored=stored,
            system=system,
            model=model,
        )
        shown = ""
        async with contextlib.aclosing(turn) as events:
            async for event in events:
                if isinstance(event, Said):
                    shown += event.text
                elif said and isinstance(event, Ended) and event.reason == "done":
                    _add(said, envelope.message)
                    ends = [_ended(said, answer) for answer in (event.answer, shown)]
                    with contextlib.suppress(HermesError):  # the next message then begins a session of its own
                        await store.set_head(owner, event.session_id, event.turn_id, ends)
                yield event

    async def _begun(self, owner: Principal, system: str, history: Sequence[Message], store: "Store") -> str:
        sessions = self._runtime.sessions
        live = await sessions.take("", self._platform.name, owner, system)
        await sessions.keep(live, store, history)
        return live.session.id

    async def resume(
        self, session: str, *, person: str = "", ask: AskPerson | None = None
    ) -> AsyncGenerator[Event, None]:
        self._door.require("turns.run")
        async with contextlib.aclosing(
            self._runtime.resume(session, owner=self._door.owner(person), ask=ask)
        ) as events:
            async for event in events:
                yield event

    async def past(self, event_id: str, *, person: str = "") -> PastTurn | None:
        store = await self._door.store("sessions.read")
        return await store.past_turn(self._door.owner(person), **self._event(event_id))

    async def forget(self, event_id: str, *, person: str = "") -> bool:
        store = await self._door.store("sessions.write")
        return await store.forget_event(self._door.owner(person), **self._event(event_id))

    def _event(self, event_id: str) -> dict[str, str]:
        return {"platform": self._platform.name, "account": self._platform.account, "event_id": event_id}

    async def settle(self, question: str, verdict: Verdict, *, person: str = "") -> bool:
        store = await self._door.store("turns.run")
        return (await store.settle_approval(self._door.owner(person), question, verdict))[1]

    def toolsets(self) -> Mapping[str, Mapping[str, str]]:
        found: dict[str, dict[str, str]] = {}
        for tool in self._runtime.toolbox().tools:
            found.setdefault(tool.toolset, {})[tool.name] = tool.description
        return found

    async def ready(self) -> Mapping[str, str]:
        found = {}
        for name, needed in (("store", self._runtime.store), ("model", self._runtime.routed)):
            try:
                await needed()
                found[name] = "ok"
            except Exception as error:  # noqa: BLE001 - whatever it is, it is told
                found[name] = self._runtime.settings.masks.text(cause(error).text)
        return found


def _digest(system: str, history: Sequence[Message]) -> "hashlib._Hash":
    """What a conversation was so far. Space around a text does not count: clients trim."""
    digest = hashlib.sha256(system.encode())
    for message in history:
        _add(digest, message)
    return digest


def _add(digest: "hashlib._Hash", message: Message) -> None:
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, Blob) and part.data is not None:
            parts.append(evolve(part, data=hashlib.sha256(part.data).digest()))
        elif not isinstance(part, Text):
            parts.append(part)
        elif part.text.strip():
            parts.append(Text(text=clean(part.text).strip()))
    digest.update(b"\0" + dumps(message_to_json(Message(role=message.role, parts=parts))).encode())


def _ended(digest: "hashlib._Hash", answer: str) -> str:
    whole = digest.copy()
    _add(whole, Message(role="assistant", parts=(Text(text=answer),)))
    return whole.hexdigest()
