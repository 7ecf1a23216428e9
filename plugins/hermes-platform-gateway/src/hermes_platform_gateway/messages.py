"""Messages that a tool sends to a person's chats: through the outbox, and known to the conversations there."""

import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

from attrs import evolve

from hermes_core import trace
from hermes_core.brokers import Mailbox
from hermes_core.context import PluginContext
from hermes_core.database import Prepared
from hermes_core.errors import UnknownName
from hermes_core.types import Blob, Chat, Message, Part, Principal, Question, Session, Target, Text
from hermes_platform_gateway.config import mask_of
from hermes_platform_gateway.conversations import Conversations
from hermes_platform_gateway.outward.outgoing import answer_to, envelope_of
from hermes_platform_gateway.people.access import Access
from hermes_platform_gateway.people.blocks import blocks
from hermes_platform_gateway.questions import Asked, put
from hermes_platform_gateway.rows.kept import is_order_of, rows_of, sent
from hermes_platform_gateway.rows.values import KnownChat, Outgoing
from hermes_platform_gateway.targets import is_chats, resolve
from hermes_tool_kit.telling import Continues, Outlets, sending

__all__ = ["Messages"]


class Messages(Mailbox, Continues):
    """What a kernel sends to chats. They need not be served here, or now: what is written down waits."""

    name = "gateway"

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx = ctx

    async def targets(self, owner: Principal) -> Sequence[Target]:
        """The chats of an owner, last used first."""
        chats = await self._shown(await rows_of(self._ctx).chats.list_chats(owner))
        return [*chats, *[evolve(to, served=await self._serves(name)) for name, _, to in self._outlets(owner)]]

    async def find(self, owner: Principal, target: str, session: Session | None = None) -> Sequence[Target]:
        """The chats that a target means. Raises UnknownName, UserError."""
        if outlet := await self._outlet(owner, target):
            return [outlet[1]]
        return await self._shown((await self._found(owner, target, session))[0])

    async def send(
        self,
        owner: Principal,
        target: str,
        message: Message,
        session: Session | None = None,
        key: str = "",
    ) -> Sequence[Target]:
        """Write a message down to be sent; to which chats. Raises UnknownName, UserError."""
        return await self._send(owner, target, message, session, key)

    async def carry_on(
        self, owner: Principal, target: str, message: Message, session: Session, *, topic: str, name: str, key: str
    ) -> Sequence[Target]:
        return await self._send(owner, target, message, session, key, (topic, name))

    async def _send(
        self,
        owner: Principal,
        target: str,
        message: Message,
        session: Session | None,
        key: str,
        goes_on: tuple[str, str] | None = None,
    ) -> Sequence[Target]:
        outlet = await self._outlet(owner, target)
        chats, origin = ([], None) if outlet else await self._found(owner, target, session)
        message = evolve(message, untrusted=message.untrusted or bool(session and session.untrusted))
        message = evolve(message, parts=tuple(self._masked(part) for part in message.parts))
        key = f"message:{owner.profile}:{owner.person}:{key or os.urandom(16).hex()}"
        if outlet:
            await outlet[0].post(outlet[1].name, message, key)
            return [outlet[1]]
        rows, ordered = rows_of(self._ctx), await self._ordered(owner, session)
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
                unasked=ordered,
            )
            if goes_on:
                topic, name = goes_on
                outgoing = evolve(outgoing, opens="" if chat.thread else name)
            if told:
                store = await (rows.threads.sending(outgoing, topic) if goes_on else rows.outbox.sending([outgoing]))
                await self._ctx.host.turns.tell(there, outgoing.key, told, store)
            elif goes_on:
                await rows.threads.send(outgoing, topic)
            else:
                await rows.outbox.send_later(outgoing)
        return await self._shown(chats)

    async def ending(self, owner: Principal, target: str, message: Message, turn_id: str) -> Prepared[object]:
        """What tells a target of a turn's end, for the commit that ends it. Raises UnknownName, UserError."""
        outlet = await self._outlet(owner, target)
        chats, _ = ([], None) if outlet else await self._found(owner, target, None)
        message = evolve(message, parts=tuple(self._masked(part) for part in message.parts))
        if outlet:
            return await outlet[0].posting(outlet[1].name, message, f"turn:{turn_id}")
        known: dict[str, Any] = {"kind": "answer", "trace": trace.current(), "turn_id": turn_id, "unasked": True}
        end = [
            answer_to(envelope_of(chat), owner, message, key=f"turn:{turn_id}:{chat.account}:{chat.address}", **known)
            for chat in chats
        ]
        return await rows_of(self._ctx).outbox.sending(end)

    async def ask(self, owner: Principal, target: str, question: Question) -> None:
        """Put a question to the chats of a target, once for its id. Raises UnknownName, UserError."""
        if outlet := await self._outlet(owner, target):
            text = mask_of(self._ctx)("\n".join(filter(None, (question.subject, question.risk))))
            words = f"**A question waits**\n\n{text}\n\nAnswer it with: {self._ctx.program} approvals"
            told = Message(role="assistant", parts=(Text(text=words),))
            await outlet[0].post(outlet[1].name, told, f"question:{question.id}")
            return
        known: dict[str, Any] = {"owner": owner, "session_id": "", "trace": trace.current(), "unasked": True}
        with suppress(UnknownName):
            known["session_id"] = (await self._ctx.approvals.find(owner, question.id, admin=True)).session_id
        for chat in (await self._found(owner, target, None))[0]:
            await put(self._ctx, Asked(address=envelope_of(chat), **known), question, _as_known)

    async def blocked(self, people: Collection[str]) -> Collection[str]:
        """Return which of these persons, accounts or groups are blocked now; the owner never is.

        Who says what people may do asks it: the rows of blocks alone decide, for chats and for all other doors. A mute
        closes chats only.
        """
        return (await blocks(self._ctx)).intersection(people)

    async def named(self, word: str, owner: Principal | None) -> Sequence[tuple[str, str]]:
        """The trace and the turn of each message that a word names."""
        return await rows_of(self._ctx).traced.named(word, owner)

    async def sent(self, trace: str, turn_id: str, owner: Principal | None) -> Sequence[Mapping[str, Any]]:
        """What went out of a trace or a turn."""
        return await sent(self._ctx, trace, turn_id, owner)

    async def _found(
        self, owner: Principal, target: str, session: Session | None
    ) -> tuple[list[KnownChat], KnownChat | None]:
        """The chats that are meant, and the one that asks. A conversation that has no row yet was asked in no chat."""
        turns, chats = self._ctx.host.turns, rows_of(self._ctx).chats
        asked = session is not None and await turns.owner(session.id) is not None
        envelope = await self._ctx.sessions.asked_from(session.id, owner) if session and asked else None
        origin = await chats.at(owner, envelope) if envelope else None
        known = await chats.list_chats(owner)
        try:
            return resolve(target, known, origin), origin
        except UnknownName:  # what else there is costs looking for it
            return resolve(target, known, origin, [to.name for _, _, to in self._outlets(owner)]), origin

    async def _outlet(self, owner: Principal, target: str) -> tuple[Outlets, Target] | None:
        """The place that is no chat which a target means: the owner named it, so no chat that is called so is meant."""
        words = " ".join(target.split())
        if is_chats(words) or owner != self._ctx.owner:
            return None
        platform = words.partition(":")[0].casefold()
        if any(chat.platform.casefold() == platform for chat in await rows_of(self._ctx).chats.list_chats(owner)):
            return None  # before plugins are loaded that have services
        for name, service, one in self._outlets(owner):
            if words in (one.name, one.address):
                return service, evolve(one, served=await self._serves(name))
        return None

    def _outlets(self, owner: Principal) -> Sequence[tuple[str, Outlets, Target]]:
        """Places that are no chats, each with the service that sends there. They are the owner's of this Hermes."""
        if owner != self._ctx.owner:
            return ()
        there = sending(self._ctx)
        return [(name, service, one) for name, service in there.items() for one in service.outlets()]

    async def _serves(self, service: str) -> bool:
        """Whether a service runs now, in whatever process."""
        accounts = await rows_of(self._ctx).accounts.list()
        return any(one.served for one in accounts if (one.platform, one.account) == ("service", service))

    async def _ordered(self, owner: Principal, session: Session | None) -> bool:
        """Whether nobody asked for what is sent: it is of no turn, or of one that a plugin ordered."""
        turns = self._ctx.host.turns
        if session is None or await turns.owner(session.id) is None:
            return True
        begun = await turns.cut(session.id)
        came = begun.envelope if begun and begun.envelope else await self._ctx.sessions.asked_from(session.id, owner)
        return came is not None and is_order_of(came, owner)  # what is asked in a terminal comes from no account

    async def _conversation(self, chat: KnownChat) -> str:
        """The session that a chat talks to now; begun, where the last one is over."""
        access = Access(outcome="in", principal=chat.owner)
        session = await (await Conversations(self._ctx).find(envelope_of(chat), access)).take_up()
        await self._ctx.host.turns.keep(session)
        return session.id

    async def _shown(self, chats: Sequence[KnownChat]) -> Sequence[Target]:
        accounts = await rows_of(self._ctx).accounts.list() if chats else ()
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
        if isinstance(part, Blob):
            return evolve(part, words=mask_of(self._ctx)(part.words))
        return evolve(part, text=mask_of(self._ctx)(part.text)) if isinstance(part, Text) else part


async def _as_known(_chat: KnownChat) -> bool:
    """Whether a private chat still is one: no service is connected here, so it is taken as it was known."""
    return True


def _told(message: Message, session: Session | None) -> Message:
    """What the conversation of a chat is told of a message that came from elsewhere."""
    files = [f"[file: {_called(part)}]" for part in message.parts if isinstance(part, Blob)]
    text = "".join(part.text for part in message.parts if isinstance(part, Text))
    whence = f" in {session.id}" if session else ""
    head = f"(Written{whence}, and sent to this chat:)"
    return evolve(message, parts=(Text(text="\n".join([head, text, *files]).strip()),))


def _called(blob: Blob) -> str:
    name = "".join(" " if c in "[]" or not c.isprintable() else c for c in blob.name or blob.media_type)
    return " ".join(name.split())
