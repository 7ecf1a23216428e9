"""Who sends for each account that this process serves."""

import asyncio
import logging
import time
from collections.abc import Sequence
from typing import Any

from attrs import evolve

from hermes_core.codec import plain_text
from hermes_core.context import PluginContext
from hermes_core.kinds import Platform
from hermes_core.types import Chat, Envelope, Feature, Message, Sent
from hermes_platform_gateway.config import gateway_settings, mask_of
from hermes_platform_gateway.outward.live_message import LiveMessage
from hermes_platform_gateway.outward.outgoing import answer_to, said
from hermes_platform_gateway.outward.sender import Sender
from hermes_platform_gateway.peers import peers_of
from hermes_platform_gateway.questions import Asked
from hermes_platform_gateway.rows.kept import rows_of
from hermes_platform_gateway.rows.values import KnownChat, OutboxRow

__all__ = ["Senders"]

log = logging.getLogger(f"hermes.{__name__}")
_ARRIVES = 3.0  # seconds in which what is on its way is waited for, to be changed


class Senders:
    """The senders at work, by platform and account."""

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx = ctx
        self._at_work: dict[tuple[str, str], Sender] = {}

    async def send(self, platform: Platform) -> None:
        """Send for an account until cancelled."""
        sender = Sender(self._ctx, platform, mask=mask_of(self._ctx))
        self._at_work[platform.name, platform.account] = sender
        try:
            await sender.run()
        finally:
            del self._at_work[platform.name, platform.account]

    def of(self, address: Envelope) -> Sender | None:
        """Who sends to where a message came from, if this process does."""
        return self._at_work.get((address.platform, address.account))

    def show(self, of: Asked, turn_id: str) -> LiveMessage | None:
        """What shows a turn in the chat it came from; None where another process sends to that."""
        if of.address is None or (sender := self.of(of.address)) is None:
            return None
        known: dict[str, Any] = {
            "key": f"turn:{turn_id}",
            "kind": "answer",
            "trace": of.trace,
            "session_id": of.session_id,
        }
        outgoing = answer_to(of.address, of.owner, said(""), turn_id=turn_id, **known)
        config: Any = gateway_settings(self._ctx)
        if of.address.kind != "dm" and peers_of(self._ctx, of.address.platform):
            config = evolve(config, streaming=False, tool_progress="off")  # other agents do not hear of edits
        return LiveMessage(sender, outgoing, config, mask=mask_of(self._ctx))

    def wake(self, address: Envelope) -> None:
        """Something was put into the outbox."""
        if sender := self.of(address):
            sender.wake()

    async def alone(self, chat: KnownChat) -> bool:
        """Whether nobody but its person and the bot is in a private chat, as far as its service tells."""
        sender = self._at_work.get((chat.platform, chat.account))
        if sender is None or Feature.MEMBERS not in sender.platform.features:
            return True
        try:
            async with asyncio.timeout(10):
                return len(await sender.platform.members(Chat(chat.chat))) <= 2
        except Exception as error:  # noqa: BLE001 - of a platform; what cannot be told is no private chat
            log.info("who is in a chat of %s cannot be told: %s", chat.platform, error)
            return False

    async def closed(self, keys: Sequence[str], told: str, here: Envelope | None = None) -> bool:
        """Show below the messages of a question what became of it, in place of their buttons.

        Whether that is seen in the chat that an envelope came from: then nothing else needs to say it there.
        """
        seen = False
        for key in keys:
            rows = await rows_of(self._ctx).outbox.outbox_of(key=key)
            if rows and await self._closed(rows[0], told):
                out = rows[0].outgoing
                where = (out.platform, out.account, out.chat.id)
                seen = seen or (here is not None and where == (here.platform, here.account, here.chat))
        return seen

    async def replaced(self, key: str, message: Message, here: Envelope | None = None) -> bool:
        """Show a message in place of one that was sent; whether that is in the chat that an envelope came from."""
        rows = await rows_of(self._ctx).outbox.outbox_of(key=key)
        if not rows or not await self._edited(rows[0], message):
            return False
        out = rows[0].outgoing
        where = (out.platform, out.account, out.chat.id)
        return here is not None and where == (here.platform, here.account, here.chat)

    async def _closed(self, row: OutboxRow, told: str) -> bool:
        text = plain_text(row.outgoing.message.parts)
        if "\n\n" in text:
            text = text.rpartition("\n\n")[0]  # without the words that say how to answer
        return await self._edited(row, said(f"{text}\n\n{told}"))

    async def _edited(self, row: OutboxRow, message: Message) -> bool:
        out = row.outgoing
        sender = self._at_work.get((out.platform, out.account))
        if sender is None or Feature.EDIT not in sender.platform.features:
            return False
        try:
            async with asyncio.timeout(10):
                receipts = await self._receipts(row)
                if not (receipts and receipts[-1]):
                    return False
                await sender.platform.edit(Sent(chat=out.chat.id, message_id=receipts[-1]), message)
        except Exception as error:  # noqa: BLE001 - then it is said in a message of its own
            log.info("question %s could not be closed: %s", out.key, error)
            return False
        return True

    async def _receipts(self, row: OutboxRow) -> Sequence[str]:
        """The receipts of a message, waited for a moment while it is on its way: some answer before it arrived."""
        until = time.monotonic() + _ARRIVES
        while row.state in ("waiting", "sending") and time.monotonic() < until:
            await asyncio.sleep(0.02)
            rows = await rows_of(self._ctx).outbox.outbox_of(key=row.outgoing.key)
            if not rows:
                break
            row = rows[0]
        return row.receipts
