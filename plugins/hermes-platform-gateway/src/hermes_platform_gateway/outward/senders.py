"""Who sends for each account that this process serves."""

import asyncio
import logging

from hermes_core.codec import plain_text
from hermes_core.context import PluginContext
from hermes_core.kinds import Platform
from hermes_core.types import Envelope, Feature, Sent
from hermes_platform_gateway.asks import Asked, question_key
from hermes_platform_gateway.config import gateway_settings, mask_of
from hermes_platform_gateway.outward.live_message import LiveMessage
from hermes_platform_gateway.outward.outgoing import answer_to, said
from hermes_platform_gateway.outward.sender import Sender
from hermes_platform_gateway.rows.kept import rows_of

__all__ = ["Senders"]

log = logging.getLogger(f"hermes.{__name__}")


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
        known = {"key": f"turn:{turn_id}", "kind": "answer", "trace": of.trace, "session_id": of.session_id}
        outgoing = answer_to(of.address, of.owner, said(""), turn_id=turn_id, **known)
        return LiveMessage(sender, outgoing, gateway_settings(self._ctx), mask=mask_of(self._ctx))

    def wake(self, address: Envelope) -> None:
        """Something was put into the outbox."""
        if sender := self.of(address):
            sender.wake()

    async def closed(self, address: Envelope, question: str, told: str) -> bool:
        """Show below a question how it was answered, in place of its buttons; False where that cannot be shown."""
        sender = self.of(address)
        if sender is None or Feature.EDIT not in sender.platform.features:
            return False
        outbox = rows_of(self._ctx).outbox
        rows = await outbox.outbox_of(key=question_key(address, question))
        if not rows or not rows[0].receipts or not rows[0].receipts[-1]:
            return False
        out = rows[0].outgoing
        text = plain_text(out.message.parts).rpartition("\n\n")[0]  # without the words that say how to answer
        try:
            async with asyncio.timeout(10):
                await sender.platform.edit(
                    Sent(chat=out.chat.id, message_id=rows[0].receipts[-1]), said(f"{text}\n\n{told}")
                )
        except Exception as error:  # noqa: BLE001 - then it is said in a message of its own
            log.info("question %s could not be closed: %s", question, error)
            return False
        return True
