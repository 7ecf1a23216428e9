"""Messages that a tool sends to a person's chats: through the outbox, and known to the conversations there."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve

from hermes_core import trace
from hermes_core.agent.runtime import Runtime
from hermes_core.brokers import Mailbox
from hermes_core.database import Prepared
from hermes_core.gateway.conversations import Conversations
from hermes_core.gateway.outward.outgoing import answer_to
from hermes_core.gateway.people.access import Access
from hermes_core.gateway.rows.kept import Rows, rows_of, sent
from hermes_core.gateway.rows.values import KnownChat, Outgoing
from hermes_core.gateway.targets import resolve
from hermes_core.types import Blob, Chat, Envelope, Message, Part, Principal, Session, Target, Text

__all__ = ["Messages", "envelope_of"]


class Messages(Mailbox):
    """What a kernel sends to chats. They need not be served here, or now: what is written down waits."""

    name = "gateway"

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def targets(self, owner: Principal) -> Sequence[Target]:
        """The chats of an owner, last used first."""
        return await self._shown(await (await self._rows()).chats.list_chats(owner))

    async def find(self, owner: Principal, target: str, session: Session | None = None) -> Sequence[Target]:
        """The chats that a target means. Raises UnknownName, UserError."""
        return await self._shown((await self._found(owner, target, session))[0])

    async def send(
        self, owner: Principal, target: str, message: Message, session: Session | None = None, key: str = ""
    ) -> Sequence[Target]:
        """Write a message down to be sent; to which chats. Raises UnknownName, UserError."""
        chats, origin = await self._found(owner, target, session)
        message = evolve(message, untrusted=message.untrusted or bool(session and session.untrusted))
        message = evolve(message, parts=tuple(self._masked(part) for part in message.parts))
        key = f"message:{owner.profile}:{owner.person}:{key or os.urandom(16).hex()}"
        rows, store = await self._rows(), await self._runtime.store()
        for chat in chats:
            same = origin is not None and (chat.address, chat.account) == (origin.address, origin.account)
            there = "" if same else await self._conversation(chat)
            told = _told(message, session) if there and not (session and session.id == there) else None
            outgoing = Outgoing(
                key=f"{key}:{chat.account}:{chat.address}",
                owner=owner,
                platform=chat.platform,
                account=chat.account,
                chat=Chat(chat.chat, chat.thread),
                message=message,
                kind="message",
                trace=trace.current(),
                session_id=session.id if session else "",
                turn_id=session.turn if session else "",
            )
            if told:
                await store.notes.post(there, outgoing.key, told, await rows.outbox.sending([outgoing]))
            else:
                await rows.outbox.send_later(outgoing)
        return await self._shown(chats)

    async def ending(self, owner: Principal, target: str, text: str, turn_id: str) -> Prepared[object]:
        """What tells a target of a turn's end, for the commit that ends it. Raises UnknownName, UserError."""
        chats, _ = await self._found(owner, target, None)
        message = Message(role="assistant", parts=(Text(text=self._runtime.settings.masks.text(text)),))
        known = {"kind": "answer", "trace": trace.current(), "turn_id": turn_id}
        end = [
            answer_to(envelope_of(chat), owner, message, key=f"turn:{turn_id}:{chat.account}:{chat.address}", **known)
            for chat in chats
        ]
        return await (await self._rows()).outbox.sending(end)

    async def named(self, word: str, owner: Principal | None) -> Sequence[tuple[str, str]]:
        """The trace and the turn of each message that a word names."""
        return await (await self._rows()).outbox.named(word, owner)

    async def sent(self, trace: str, turn_id: str, owner: Principal | None) -> Sequence[Mapping[str, Any]]:
        """What went out of a trace or a turn."""
        return await sent(await self._runtime.store(), trace, turn_id, owner)

    async def _rows(self) -> Rows:
        return rows_of(await self._runtime.store())

    async def _found(
        self, owner: Principal, target: str, session: Session | None
    ) -> tuple[list[KnownChat], KnownChat | None]:
        """The chats that are meant, and the one that asks. A conversation that has no row yet was asked in no chat."""
        store = await self._runtime.store()
        asked = session is not None and not await store.sessions.is_free(session.id)
        envelope = await store.inbox.asked_from(session.id, owner) if session and asked else None
        chats = rows_of(store).chats
        origin = await chats.at(owner, envelope) if envelope else None
        return resolve(target, await chats.list_chats(owner), origin), origin

    async def _conversation(self, chat: KnownChat) -> str:
        """The session that a chat talks to now; begun, where the last one is over."""
        access = Access(outcome="in", principal=chat.owner)
        session = await (await Conversations(self._runtime).find(envelope_of(chat), access)).take_up()
        live = await self._runtime.sessions.take(session.id, session.origin, session.owner)
        await self._runtime.sessions.keep(live, await self._runtime.store())
        return session.id

    async def _shown(self, chats: Sequence[KnownChat]) -> Sequence[Target]:
        store = await self._runtime.store()
        accounts = await store.accounts.list() if chats else ()
        served = {(one.platform, one.account) for one in accounts if one.served and one.state == "connected"}
        return [
            Target(
                address=chat.address,
                name=chat.name,
                kind=chat.kind,
                home=chat.home,
                dead=chat.dead,
                served=(chat.platform, chat.account) in served,
            )
            for chat in chats
        ]

    def _masked(self, part: Part) -> Part:
        return evolve(part, text=self._runtime.settings.masks.text(part.text)) if isinstance(part, Text) else part


def envelope_of(chat: KnownChat) -> Envelope:
    """What a message of a chat's owner from there would look like: its conversation is found by that."""
    known = {name: getattr(chat, name) for name in ("platform", "account", "chat", "thread", "kind", "sender")}
    return Envelope(**known, event_id="", message=Message(role="user", parts=()))


def _told(message: Message, session: Session | None) -> Message:
    """What the conversation of a chat is told of a message that came from elsewhere."""
    files = [f"[file: {part.name or part.media_type}]" for part in message.parts if isinstance(part, Blob)]
    text = "".join(part.text for part in message.parts if isinstance(part, Text))
    whence = f" in {session.id}" if session else ""
    head = f"(Written{whence}, and sent to this chat:)"
    return evolve(message, parts=(Text(text="\n".join([head, text, *files]).strip()),))
