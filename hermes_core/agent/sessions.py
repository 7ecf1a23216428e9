"""Past conversations, as a plugin may read and change them, and what a model is told of them."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from attrs import evolve

from hermes_core.agent.forwarded import of_store
from hermes_core.agent.kernel import Kernel
from hermes_core.agent.session_state import new_session_id
from hermes_core.brokers import HistoryBroker
from hermes_core.codec import clean
from hermes_core.control import SessionsBroker
from hermes_core.errors import UserError
from hermes_core.types import Message, MessageTrace, Principal, Session

__all__ = ["BrokeredHistory", "BrokeredSessions"]


class BrokeredSessions(SessionsBroker):
    """The past conversations of one kernel. ``origin`` is that of the sessions that are made here."""

    def __init__(self, runtime: Kernel, origin: str) -> None:
        self._runtime, self._origin = runtime, origin

    people = of_store(lambda store: store.spending.people)
    search = of_store(lambda store: store.history.search)
    rows = of_store(lambda store: store.sessions.list)
    archive = of_store(lambda store: store.sessions.archive)
    read = of_store(lambda store: store.history.messages)
    tool_history = of_store(lambda store: store.history.tool_calls)
    usage = of_store(lambda store: store.spending.usage)
    spent = of_store(lambda store: store.spending.spent)
    asked_from = of_store(lambda store: store.inbox.asked_from)

    async def get(self, owner: Principal, session_id: str) -> Session:
        return await (await self._runtime.store()).sessions.get(session_id, owner)

    async def find(self, owner: Principal, words: str) -> Session:
        return await (await self._runtime.store()).sessions.find(words, owner)

    async def past(self, owner: Principal, session_id: str) -> Sequence[Message]:
        store = await self._runtime.store()
        return await store.history.load((await store.sessions.get(session_id, owner)).id, whole=True)

    async def prompt(self, owner: Principal, session_id: str) -> str:
        store = await self._runtime.store()
        kept = await store.sessions.load_prompt((await store.sessions.get(session_id, owner)).id)
        return kept[0] if kept else ""

    async def traces(
        self, owner: Principal, word: str = "latest", *, everybody: bool = False
    ) -> Sequence[MessageTrace]:
        store, runtime = await self._runtime.store(), self._runtime
        everybody = everybody and owner == runtime.owner
        whose, mailbox = None if everybody else owner, None
        with suppress(UserError):  # without a gateway nothing went out
            mailbox = runtime.mailbox()
        sent = await mailbox.named(word.strip(), whose) if mailbox else ()
        found = await store.traces.find(word, owner, everybody=everybody, sent=sent)
        if mailbox:
            found = [evolve(one, outgoing=await mailbox.sent(one.trace, one.turn_id, whose)) for one in found]
        return [self._shown(path) for path in found]

    def _shown(self, path: MessageTrace) -> MessageTrace:
        """Return a path without secrets, and without the names of people who are not the asker."""
        masks = self._runtime.settings.masks

        def received(row: Mapping[str, Any]) -> Mapping[str, Any]:
            address, person = row["address"], row["person"] and masks.name("person", row["person"])
            sender = masks.name("person", address["sender"]) if address.get("sender") else ""
            return {**row, "person": person, "address": {"kind": address.get("kind", "dm"), "sender": sender}}

        def shown(rows: Iterable[Mapping[str, Any]]) -> list[Any]:
            return [masks.data(dict(row)) for row in rows]

        came = shown(row if row["mine"] else received(row) for row in path.received)
        return evolve(path, received=came, turns=shown(path.turns), outgoing=shown(path.outgoing))

    async def create(
        self,
        owner: Principal,
        session_id: str = "",
        *,
        title: str = "",
        system: str = "",
        history: Sequence[Message] = (),
    ) -> Session:
        store, sessions = await self._runtime.store(), self._runtime.sessions
        if session_id and not await store.sessions.is_free(session_id):
            raise UserError(f"The name {session_id} cannot be used here.", hint="Choose another one.")
        state = await sessions.take(session_id or new_session_id(), self._origin, owner, clean(system))
        await sessions.keep(state, store, history)
        return await sessions.rename(state.session, title) if title else state.session

    async def fork(self, owner: Principal, session_id: str, *, upto: str = "", title: str = "") -> Session:
        return await self._runtime.sessions.fork(session_id, owner, self._origin, upto=upto, title=title)

    async def rename(self, owner: Principal, session_id: str, title: str) -> Session:
        store = await self._runtime.store()
        if self._runtime.sessions.holds(session_id):
            return await self._runtime.sessions.rename(await store.sessions.get(session_id, owner), title)
        await store.sessions.rename(session_id, title, owner)
        return await store.sessions.get(session_id, owner)

    async def delete(self, owner: Principal, session_id: str, *, erased: bool = False) -> None:
        await self._runtime.sessions.delete(session_id, owner, erased=erased)

    async def prune(self, owner: Principal, *, before: float, dry_run: bool = False) -> Sequence[str]:
        old = [row.session.id for row in await self.rows(owner, limit=2**31 - 1, children=True) if row.updated < before]
        for session_id in () if dry_run else tuple(old):
            try:
                await self.delete(owner, session_id)
            except UserError:  # in use again, or deleted by somebody else meanwhile
                old.remove(session_id)
        return old


class BrokeredHistory(HistoryBroker):
    """The contexts of one kernel. ``label`` is of the plugin whose they become."""

    def __init__(self, runtime: Kernel, label: str) -> None:
        self._runtime, self._label = runtime, label

    async def read(self, owner: Principal, session_id: str) -> Sequence[Message]:
        store = await self._runtime.store()
        return await store.history.load((await store.sessions.get(session_id, owner)).id)

    async def replace(self, owner: Principal, session_id: str, messages: Sequence[Message]) -> None:
        store = await self._runtime.store()
        session = await store.sessions.get(session_id, owner)
        await self._runtime.memory.compacting(session, await store.history.load(session.id))
        await store.history.replace(owner, session_id, messages, self._label)
