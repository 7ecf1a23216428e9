"""Past conversations, as a plugin may read and change them."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal

from attrs import evolve

from hermes_core.agent.runtime import Runtime
from hermes_core.agent.session_state import new_session_id
from hermes_core.codec import clean, to_openai
from hermes_core.control import SessionsBroker
from hermes_core.errors import UnknownName, UserError
from hermes_core.plugins.index import Installed
from hermes_core.types import (
    JSON,
    HistoryEntry,
    Hit,
    Message,
    MessageTrace,
    Principal,
    Session,
    SessionRow,
    Spent,
    UsageRow,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.store.store import Store

__all__ = ["Sessions"]


class Sessions(SessionsBroker):
    """The past conversations of one kernel, for one plugin."""

    def __init__(self, runtime: Runtime, installed: Installed) -> None:
        self._runtime, self._installed = runtime, installed

    async def _open(self, permission: str = "sessions.read", did: str = "read past conversations") -> "Store":
        self._installed.require("permissions", "kernel", permission, did)
        return await self._runtime.store()

    async def search(
        self, owner: Principal, words: str, *, limit: int = 10, sort: Literal["newest", "oldest"] = "newest"
    ) -> Sequence[Hit]:
        return await (await self._open()).history.search(owner, words, limit=limit, sort=sort)

    async def rows(
        self, owner: Principal, *, limit: int = 20, origin: str = "", children: bool = False
    ) -> Sequence[SessionRow]:
        return await (await self._open()).sessions.list(owner, limit=limit, origin=origin, children=children)

    async def get(self, owner: Principal, session_id: str) -> Session:
        return await (await self._open()).sessions.get(session_id, owner)

    async def find(self, owner: Principal, words: str) -> Session:
        return await (await self._open()).sessions.find(words, owner)

    async def read(
        self, owner: Principal, session_id: str, *, around: int = 0, window: int = 10
    ) -> Sequence[tuple[int, Message]]:
        return await (await self._open()).history.messages(owner, session_id, around=around, window=window)

    async def tool_history(
        self, owner: Principal, session_id: str = "", *, tool: str = "", limit: int = 50
    ) -> Sequence[HistoryEntry]:
        return await (await self._open()).history.tool_calls(owner, session_id=session_id, name=tool, limit=limit)

    async def past(self, owner: Principal, session_id: str) -> Sequence[Message]:
        store = await self._open()
        return await store.history.load((await store.sessions.get(session_id, owner)).id, whole=True)

    async def export(self, owner: Principal, session_id: str) -> Sequence[JSON]:
        past, prompt = await self.past(owner, session_id), await (await self._open()).sessions.load_prompt(session_id)
        began = [{"role": "system", "content": prompt[0]}] if prompt and prompt[0] else []
        return [*began, *(shape for message in past for shape in to_openai(message))]

    async def export_after(
        self, owner: Principal, session_id: str, number: int, *, limit: int = 100
    ) -> Sequence[tuple[int, JSON]]:
        store = await self._open()
        rows = await store.history.messages(owner, session_id, around=max(number, 1), window=limit)
        behind = [(at, message) for at, message in rows if at > number][:limit]
        return [(at, shape) for at, message in behind for shape in to_openai(message)]

    async def traces(
        self, owner: Principal, word: str = "latest", *, everybody: bool = False
    ) -> Sequence[MessageTrace]:
        store, runtime = await self._open(), self._runtime
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
        """A path without secrets, and without the names of people who are not the asker."""
        masks = self._runtime.settings.masks

        def received(row: Mapping[str, Any]) -> Mapping[str, Any]:
            address, person = row["address"], row["person"] and masks.name("person", row["person"])
            sender = masks.name("person", address["sender"]) if address.get("sender") else ""
            return {**row, "person": person, "address": {"kind": address.get("kind", "dm"), "sender": sender}}

        def shown(rows: Iterable[Mapping[str, Any]]) -> list[Any]:
            return [masks.data(dict(row)) for row in rows]

        came = shown(row if row["mine"] else received(row) for row in path.received)
        return evolve(path, received=came, turns=shown(path.turns), outgoing=shown(path.outgoing))

    async def usage(self, owner: Principal, *, days: int = 30) -> Sequence[UsageRow]:
        return await (await self._open()).spending.usage(owner, days=days)

    async def spent(self, owner: Principal, *, session_id: str = "", since: float = 0.0) -> Spent:
        return await (await self._open()).spending.spent(owner=owner, session_id=session_id, since=since)

    async def _change(self) -> "Store":
        return await self._open("sessions.write", "changed past conversations")

    async def create(
        self,
        owner: Principal,
        session_id: str = "",
        *,
        title: str = "",
        system: str = "",
        history: Sequence[Message] = (),
    ) -> Session:
        store, sessions = await self._change(), self._runtime.sessions
        if session_id and not await store.sessions.is_free(session_id):
            raise UserError(f"The name {session_id} cannot be used here.", hint="Choose another one.")
        state = await sessions.take(session_id or new_session_id(), self._origin, owner, clean(system))
        await sessions.keep(state, store, history)
        return await sessions.rename(state.session, title) if title else state.session

    async def fork(self, owner: Principal, session_id: str, *, upto: str = "", title: str = "") -> Session:
        await self._change()
        return await self._runtime.sessions.fork(session_id, owner, self._origin, upto=upto, title=title)

    async def rename(self, owner: Principal, session_id: str, title: str) -> Session:
        store = await self._change()
        if self._runtime.sessions.holds(session_id):
            return await self._runtime.sessions.rename(await store.sessions.get(session_id, owner), title)
        await store.sessions.rename(session_id, title, owner)
        return await store.sessions.get(session_id, owner)

    async def delete(self, owner: Principal, session_id: str) -> None:
        await self._change()
        await self._runtime.sessions.delete(session_id, owner)

    @property
    def _origin(self) -> str:
        return self._installed.label.partition("/")[2]

    async def prune(self, owner: Principal, *, before: float, dry_run: bool = False) -> Sequence[str]:
        from hermes_core.store.leases import Busy

        gone = []
        for session_id in await (await self._change()).sessions.unused(owner, before):
            with suppress(Busy, UnknownName):  # in use again, or deleted by somebody else meanwhile
                if not dry_run:
                    await self.delete(owner, session_id)
                gone.append(session_id)
        return gone
