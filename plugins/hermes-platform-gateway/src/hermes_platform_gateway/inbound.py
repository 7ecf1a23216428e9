"""The way in: who it is from, which conversation it belongs to, and what happens to it now.

A message is a row before its service hears that it was received, and before anything is done about it. So a death at
any moment loses nothing, and what a service delivers again is known.
"""

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from attrs import evolve

from hermes_core import trace
from hermes_core.codec import plain_text
from hermes_core.context import PluginContext
from hermes_core.errors import Duplicate, HermesError, StoreError
from hermes_core.kinds import Platform, TurnQueue
from hermes_core.slash import QUEUED, STEERED
from hermes_core.types import Blob, Chat, Envelope, Feature, Message, Principal, Text, TurnBounds, TurnOrder, Waiting
from hermes_platform_gateway.asks import Asks
from hermes_platform_gateway.commands.chats import ChatCommands
from hermes_platform_gateway.commands.private import for_all
from hermes_platform_gateway.config import gateway_settings, mask_of
from hermes_platform_gateway.conversations import ChatConversation, Conversations, dressed
from hermes_platform_gateway.introducing import introduce
from hermes_platform_gateway.keyed_queue import KeyedQueue
from hermes_platform_gateway.limits import Over, limits_of
from hermes_platform_gateway.media_in import keep_files
from hermes_platform_gateway.names import called, plain_name, undressed
from hermes_platform_gateway.outside import marked, quotes
from hermes_platform_gateway.outward.outgoing import answer_to, envelope_of, said
from hermes_platform_gateway.pace import Pace
from hermes_platform_gateway.peers import ANSWERS, Peers
from hermes_platform_gateway.people.access import Access
from hermes_platform_gateway.people.leaving import put_out
from hermes_platform_gateway.refusals import refusal
from hermes_platform_gateway.rows.kept import rows_of
from hermes_platform_gateway.rows.values import KnownChat
from hermes_platform_gateway.turns import Turns
from hermes_platform_gateway.whose import is_shared
from hermes_platform_kit.peers import is_peer

__all__ = ["Inbound"]

log = logging.getLogger(f"hermes.{__name__}")
_PAUSE = 1.0  # seconds between two tries to write a message down
_HEARD, _BEHIND = "👀", "⏳"
_COMING = 500  # messages of one sender on their way in, at most
_AT_ONCE = 2  # of their commands that wait for nothing
_BURST, _A_SECOND = 20, 10  # messages of theirs that are taken in at once, and then in a second at most
_FLOOD = "That was too much at once. What came since was not taken; write again when what you wrote before is answered."


class Inbound:
    """Takes what platforms receive. ``admit`` says whose a message is, or None: then it has been seen to.

    ``wake`` tells the sender that something is to be said where a message came from.
    """

    def __init__(
        self,
        ctx: PluginContext,
        queue: TurnQueue,
        turns: Turns,
        asks: Asks,
        commands: ChatCommands,
        peers: Peers,
        admit: Callable[[Platform, Envelope], Awaitable[Access | None]],
        wake: Callable[[Envelope], None],
    ) -> None:
        self._ctx, self._queue, self._commands, self._admit = ctx, queue, commands, admit
        self._turns, self._asks, self._peers = turns, asks, peers
        self._wake = wake
        self._conversations, self._limits = Conversations(ctx), limits_of(ctx)
        self._in_order = KeyedQueue()
        self._coming: Counter[str] = Counter()  # messages of a sender that are on their way in
        self._too_many: set[str] = set()
        self._pace, self._hurried = Pace(_BURST, _A_SECOND), False

    def hear(self, platform: Platform, envelope: Envelope) -> None:
        """Take a message in, after its sender's of the same chat that came before; what ends or answers a turn at once.

        Nobody's messages wait for another's. Of one sender so many may be on their way in, and no more.
        """
        who = f"{envelope.platform} {envelope.account} {envelope.sender or envelope.chat}"
        if self._coming[who] >= _COMING:
            first = who not in self._too_many
            self._too_many.add(who)
            return self._in_order.put(f"{who} over", partial(self._refuse, platform, envelope, first=first))
        self._coming[who] += 1
        work = partial(self._hear, platform, envelope, who)
        if self._commands.at_once(envelope):
            self._in_order.put(f"{who} at once", work, beside=_AT_ONCE)
        else:
            self._in_order.put(f"{who} {envelope.chat} {envelope.thread}", work)
        return None

    async def begin(self, platform: Platform) -> None:
        """Carry out the commands that were heard before a death."""
        for waiting in await self._ctx.host.records.commands_waiting(platform.name, platform.account):
            if waiting.envelope:
                work = partial(self._again, platform, waiting)
                came = waiting.envelope
                self._in_order.put(f"{platform.name} {platform.account} {came.sender} {came.chat} {came.thread}", work)

    async def settle(self) -> None:
        """Wait until everything that was heard has its row."""
        self._hurried = True
        await self._in_order.settle()

    async def close(self) -> None:
        """Stop whatever is being done."""
        await self._in_order.close()

    async def _hear(self, platform: Platform, envelope: Envelope, who: str) -> None:
        try:
            with trace.using(trace.new()):
                if (wait := self._pace.wait(who)) and not self._hurried:
                    await asyncio.sleep(wait)
                with self._pace.taking(who):
                    await self._surely(partial(self._heard, platform, envelope))
        finally:
            self._coming[who] -= 1
            if self._coming[who] <= 0:
                del self._coming[who]
                self._too_many.discard(who)

    async def _refuse(self, platform: Platform, envelope: Envelope, *, first: bool) -> None:
        """Take a message of a flood away, and say so to who may talk, for the ``first`` of them."""

        async def told() -> None:
            if await self._admit(platform, envelope):
                await self._tell(envelope, _FLOOD, mark="over")
                self._wake(envelope)

        await _ack(platform, envelope)
        if first:
            log.warning("more than %d messages of %s at once on %s", _COMING, envelope.sender, platform.name)
            await self._surely(told)

    async def _surely(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do it until the store has it: else nothing can be written down, nor told, and nobody may ask us again."""
        while True:
            try:
                return await work()
            except StoreError as error:
                log.warning("a message waits for the store: %s", error)
                await asyncio.sleep(_PAUSE)

    async def _heard(self, platform: Platform, envelope: Envelope) -> None:
        acked, access = False, None
        try:
            if envelope.what == "removed":  # nobody's words: nobody need be let in for them
                await put_out(self._ctx, envelope.platform, envelope.chat, _removed(envelope))
            elif access := await self._admit(platform, envelope):
                envelope = evolve(envelope, speaker=access.speaker)
                acked = await self._take(platform, envelope, access)
        except Duplicate:  # delivered again; it was seen to, or will be
            log.info("message %s of %s came again", envelope.event_id, platform.name)
        except Over as over:
            if over.text:  # else its sender knows
                await self._tell(envelope, over.text, mark="over")
        except HermesError as error:
            log.warning("message %s of %s was not taken: %s", envelope.event_id, platform.name, error)
            # First: where that cannot be stored, the message comes again.
            await self._tell(envelope, refusal(self._ctx, error, access))
            with contextlib.suppress(Duplicate):  # it fell after it had its row
                await self._ctx.host.records.refuse(self._sender(envelope), envelope, mask_of(self._ctx)(error.text))
        except Exception:  # one that is never acknowledged keeps those behind it from being heard
            log.exception("message %s of %s could not be taken", envelope.event_id, platform.name)
            await self._tell(envelope, "This message could not be taken. The log of the gateway says why.")
        if not acked:
            await _ack(platform, envelope)
        self._wake(envelope)

    async def _take(self, platform: Platform, envelope: Envelope, access: Access) -> bool:
        """See to a message; whether its service was told that it was received."""
        if is_peer(envelope):
            await self._peer(platform, envelope, access)
            return True
        records = self._ctx.host.records
        conversation = await self._conversations.find(envelope, access)
        conversation.platform, owner = platform, conversation.owner
        await introduce(self._ctx, envelope, owner, self._wake)
        await rows_of(self._ctx).chats.remember_chat(owner, envelope, access.principal)
        if self._commands.is_command(envelope):
            row = await records.hear(owner, envelope)
            await _ack(platform, envelope)
            await self._command(platform, envelope, conversation, access, row)
            return True
        if _own_words(envelope) and await self._asks.waits(owner, conversation.wanted, access.principal):
            await self._answer(envelope, conversation, access, await records.hear(owner, envelope))
            return False
        await self._say(platform, conversation, envelope)
        if conversation.begins:
            await self._tell(envelope, f"A new conversation begins: {conversation.begins}.", owner=owner, mark="begins")
        return True

    async def _peer(self, platform: Platform, envelope: Envelope, access: Access) -> None:
        """Let another agent be answered, for the person who began. Its words are no commands, and answer no question.

        They are said in the conversation of that person, after what runs there.
        """
        began, _ = await self._peers.began(envelope)
        try:
            await self._peers.take(envelope, began)
        except Over as over:
            if over.text:  # to the chat, and not to the agent, which might answer
                await self._tell(evolve(envelope, message_id=""), over.text, access.principal, mark="over")
            await _ack(platform, envelope)
            return
        conversation = await self._conversations.find(evolve(envelope, sender=began), access)
        conversation.platform = platform
        outside = evolve(envelope, message=evolve(envelope.message, untrusted=True))
        await self._say(platform, conversation, outside, "queue", ANSWERS)

    async def _say(
        self,
        platform: Platform,
        conversation: ChatConversation,
        envelope: Envelope,
        mode: str = "",
        bounds: TurnBounds | None = None,
    ) -> None:
        """Let a message have its turn, or reach the one that runs, as is set up or is the ``mode``."""
        await self._limits.check(envelope, conversation.access)
        host, session, person = self._ctx.host, await conversation.take_up(), conversation.access.principal.person
        busy = await self._turns.busy(session.id, session.owner)
        mode = (mode or host.section("agent").busy) if busy else "queue"
        if mode == "steer" and not await self._speaks(session.id, envelope):
            mode = "queue"  # what one says is not done with what another may do
        kept = await keep_files(envelope, host.outputs(session.id), partial(host.turns.seen, session))
        whole = dressed(await marked(self._ctx, kept, session), shared=_shared(envelope))
        order = TurnOrder(session=session.id, bounds=bounds)
        if mode == "steer":
            await self._ctx.turns.steer(session.id, whole, owner=session.owner)
        elif not await self._ctx.turns.queue(whole, owner=session.owner, order=order):
            raise Duplicate("This message was received before.")
        await _ack(platform, envelope)
        if busy and mode == "interrupt":
            await self._turns.interrupt(session.id, session.owner)
        self._limits.waits(person, session.id, envelope)
        await self._queue.put(session.id, person)
        words = {"queue": QUEUED, "steer": STEERED}.get(mode, "") if busy else ""
        self._in_order.beside(partial(self._receipt, platform, envelope, session.owner, words))  # nothing waits for it

    async def _speaks(self, session_id: str, envelope: Envelope) -> bool:
        """Whether the turn that runs answers the same person."""
        cut = await self._ctx.host.turns.cut(session_id)
        speaker = cut.envelope.speaker if cut and cut.envelope else None
        mine = envelope.speaker
        return speaker is None or mine is None or speaker.person == mine.person

    async def _receipt(self, platform: Platform, envelope: Envelope, owner: Principal, words: str) -> None:
        """Show that a message was heard, and, where it has to wait, say so in ``words`` if there is no sign for it."""
        if not await self._react(platform, envelope, _BEHIND if words else _HEARD) and words:
            await self._tell(envelope, words, owner=owner, mark="receipt")
            self._wake(envelope)

    async def _command(
        self, platform: Platform, envelope: Envelope, conversation: ChatConversation, access: Access, row: int
    ) -> None:
        """Carry out a command; its answer is stored with the fact that it was."""
        try:
            answer = await self._commands.run(conversation, envelope, access)
        except Duplicate:  # all but its answer was stored before a death
            answer = "This was done before the gateway was started again."
        except HermesError as error:
            answer = refusal(self._ctx, error, access)
        except Exception:  # of a plugin, mostly; not answered, it would be carried out again at every start
            log.exception("a command broke")
            answer = "This command broke. The log of the gateway says how."
        key = f"{envelope.platform}:{envelope.account}:{envelope.event_id}"
        if isinstance(answer, Message) and answer.role == "user":  # what the model is to hear
            again = evolve(envelope, event_id=f"{envelope.event_id}#said", message=undressed(answer))
            again = evolve(again, quote="") if any(isinstance(p, Text) and p.quotes for p in answer.parts) else again
            answer = ""
            try:
                await self._say(platform, conversation, again, conversation.mode)
            except Duplicate:
                pass
            except Over as over:
                answer = over.text
        known: dict[str, Any] = {"key": f"{key}:answer", "trace": trace.current(), "session_id": conversation.wanted}
        shown = said(answer) if isinstance(answer, str) else answer
        answers = [answer_to(envelope, conversation.owner, shown, **known)] if answer else []
        if answers and isinstance(answer, str) and (chat := await self._aside(envelope, conversation, access)):
            aside = said(f"You asked in {_named_chat(envelope)}: {_short(envelope)}\n\n{answer}")
            line = answer_to(envelope, conversation.owner, said("Answered you privately."), key=f"{key}:line")
            answers = [answer_to(envelope_of(chat), chat.owner, aside, **known), line]
        await self._ctx.host.records.done(row, await rows_of(self._ctx).outbox.sending(answers) if answers else None)
        for one in answers:
            self._wake(evolve(envelope, chat=one.chat.id))

    async def _aside(self, envelope: Envelope, conversation: ChatConversation, access: Access) -> KnownChat | None:
        """The private chat in which a command of a group is answered; None where the group may read it, or must."""
        if envelope.kind == "dm" or is_shared(conversation.owner, envelope):
            return None
        if not gateway_settings(self._ctx).private_answers or for_all(self._commands.first_name(envelope)):
            return None
        return await self._asks.private_chat(access.principal, envelope)

    async def _answer(self, envelope: Envelope, conversation: ChatConversation, access: Access, row: int) -> None:
        """Let a message answer the question that waits for words of who wrote it."""
        if question := await self._asks.waits(conversation.owner, conversation.wanted, access.principal):
            text = plain_text(envelope.message.parts).strip()
            await self._asks.answer(question, conversation.owner, text, called(envelope))
        await self._ctx.host.records.done(row)

    async def _again(self, platform: Platform, waiting: Waiting) -> None:
        envelope = waiting.envelope
        assert envelope
        with trace.using(waiting.trace):
            access = await self._admit(platform, envelope)
            if access is None:
                return
            envelope = evolve(envelope, speaker=access.speaker)
            conversation = await self._conversations.find(envelope, access)
            conversation.platform = platform
            if self._commands.is_command(envelope):
                await self._command(platform, envelope, conversation, access, waiting.id)
            else:  # words for a question, which the turn that was cut off puts again
                await self._answer(envelope, conversation, access, waiting.id)

    async def _react(self, platform: Platform, envelope: Envelope, sign: str) -> bool:
        """Show that a message was heard; False where that cannot be seen."""
        if not (gateway_settings(self._ctx).reactions and envelope.message_id):
            return False
        if Feature.REACTIONS not in platform.features:
            return False
        try:
            async with asyncio.timeout(10):
                await platform.react(Chat(envelope.chat, envelope.thread), envelope.message_id, sign)
        except Exception as error:  # noqa: BLE001 - a sign that is not seen is no reason to stop
            log.info("no reaction on %s: %s", platform.name, error)
            return False
        return True

    def _sender(self, envelope: Envelope) -> Principal:
        return Principal(profile=self._ctx.owner.profile, person=f"{envelope.platform}:{envelope.sender}")

    async def _tell(self, envelope: Envelope, text: str, owner: Principal | None = None, mark: str = "failed") -> None:
        """Say something to whoever wrote a message, once."""
        key = f"{envelope.platform}:{envelope.account}:{envelope.event_id}:{mark}"
        owner = owner or self._sender(envelope)
        text = mask_of(self._ctx)(text)
        message = answer_to(envelope, owner, said(text), key=key, trace=trace.current())
        await rows_of(self._ctx).outbox.send_later(message)


def _own_words(envelope: Envelope) -> bool:
    """Whether somebody says something themselves, and nothing else: nobody says yes by what somebody else wrote.

    What a button says, which is not one of the question, answers nothing either.
    """
    message = envelope.message
    if envelope.what == "press":
        return False
    files = any(isinstance(part, Blob) for part in message.parts)
    return bool(plain_text(message.parts).strip()) and not message.untrusted and not files and not quotes(message)


def _removed(envelope: Envelope) -> str:
    """Who put the bot out, with an id beside the name that they gave themselves."""
    account = f"{envelope.platform}:{envelope.sender}"
    name = plain_name(envelope.sender_name)
    return f"{f'{name} ({account})' if name else account} put me out."


def _named_chat(envelope: Envelope) -> str:
    return plain_name(envelope.chat_name) or envelope.chat


def _short(envelope: Envelope) -> str:
    return " ".join(plain_text(envelope.message.parts).split())[:80]


def _shared(envelope: Envelope) -> bool:
    """Whether others may speak in the same conversation."""
    return envelope.kind != "dm"


async def _ack(platform: Platform, envelope: Envelope) -> None:
    """Tell the service that a message has its row. Where that is lost the message comes again, and is known."""
    try:
        await platform.ack(envelope)
    except Exception as error:  # noqa: BLE001 - of a platform; what was heard is seen to all the same
        said = str(error) or type(error).__name__
        log.warning("%s was not told that message %s arrived: %s", platform.name, envelope.event_id, said)
