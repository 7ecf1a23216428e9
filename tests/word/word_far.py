"""A chat service's platform, written after `docs/how-to/platform.md`; the service is `word_service.py`."""

# /// hermes
# api = 1
# name = "far"
# kind = "platform"
# summary = "A chat service of the tests, which fails as services do."
# [contributes]
# platforms = ["far"]
# [permissions]
# network = ["*"]
# ///

import asyncio
import json
import os

from hermes_core import Platform, hookimpl
from hermes_core.errors import NotSent, Undeliverable
from hermes_core.types import Envelope, Feature, Message, Sent, Text

PATIENCE = 1.0  # seconds that the service has to answer


class Far(Platform):
    name, account, limit = "far", "bot", 300

    def __init__(self):
        self.features = frozenset(Feature[word] for word in os.environ["FAR_FEATURES"].split())
        self.place = os.environ["FAR_PORT"]
        self.closed = asyncio.Event()

    async def open(self, console):
        self.closed.clear()  # it may have fallen
        await self.ask(0.0, op="me")

    async def close(self):
        self.closed.set()

    async def ask(self, longer, **what):
        """Ask the service, each time on a line of its own."""
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", int(self.place))
        except OSError as error:
            raise NotSent("the service cannot be reached") from error
        try:
            async with asyncio.timeout(PATIENCE + longer):
                writer.write(json.dumps(what).encode() + b"\n")
                line = await reader.readline()
        finally:
            writer.close()
        if not line:
            raise ConnectionError("the line was cut")
        told = json.loads(line)
        if told.get("refused"):
            raise NotSent(told["refused"], retry_after=told.get("after"), everywhere=told.get("everywhere", False))
        if told.get("never"):
            raise Undeliverable(told["never"])
        return told

    async def receive(self):
        seen = 0
        while not self.closed.is_set():
            told = await self.ask(20.0, op="news", seen=seen)
            seen = told["seen"]
            for event in told["events"]:
                said = Message(role="user", parts=(Text(text=event["text"]),))
                yield Envelope(
                    platform="far", account="bot", event_id=event["id"], chat=event["chat"], sender=event["chat"],
                    message=said,
                )  # fmt: skip

    async def ack(self, envelope):
        await self.ask(0.0, op="ack", id=envelope.event_id)

    async def send(self, chat, message, key):
        text = "".join(part.text for part in message.parts if isinstance(part, Text))
        told = await self.ask(0.0, op="send", chat=chat.id, text=text, key=key)
        return Sent(chat=chat.id, message_id=told["id"])

    async def edit(self, sent, message):
        text = "".join(part.text for part in message.parts if isinstance(part, Text))
        await self.ask(0.0, op="edit", message=sent.message_id, text=text)

    async def delete(self, sent):
        await self.ask(0.0, op="delete", message=sent.message_id)


@hookimpl
def register_platforms():
    return [Far()]
