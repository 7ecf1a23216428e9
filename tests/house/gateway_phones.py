"""A chat service on which an owner, guests and strangers write, and a gateway that serves it."""

import asyncio
import contextlib
from typing import Any

from gateway_house import context_of

from hermes_core.errors import Undeliverable
from hermes_core.testing import FakePlatform
from hermes_core.types import Chat, Envelope, Feature, Message, Sent, Text
from hermes_platform_gateway.gateway import Gateway

OWNER, ANNA = "owner's phone", "anna"


class Phones(FakePlatform):
    """A chat service; ``got`` says what each person was sent in their own chat, or a group as a whole."""

    def __init__(self) -> None:
        super().__init__(name="room", features=(Feature.LEAVE,))
        self.account, self.number = "bot", 0
        self.got: dict[str, list[str]] = {}
        self.left: list[str] = []
        self.closed = ""  # the chat that nothing is taken for any more

    def write(self, sender: str, text: str, **more: Any) -> None:
        self.number += 1
        message = Message(role="user", parts=(Text(text=text),))
        known = {"platform": "room", "account": "bot", "event_id": f"e{self.number}", "chat": sender, **more}
        self.service.bring(Envelope(sender=sender, sender_name=sender.title(), message=message, **known))

    async def send(self, chat: Chat, message: Message, key: str) -> Sent:
        if chat.id == self.closed:
            raise Undeliverable("The bot was kicked from the group.")
        text = "".join(part.text for part in message.parts if isinstance(part, Text))
        self.got.setdefault(chat.id, []).append(text)
        return Sent(chat=chat.id, message_id=key)

    async def leave(self, chat: Chat) -> None:
        self.left.append(chat.id)

    async def last(self, chat: str, words: str) -> str:
        """The message with these words, once it is there."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(20):
                while not (found := [text for text in self.got.get(chat, []) if words in text]):
                    await asyncio.sleep(0.01)
                return found[-1]
        raise AssertionError(f"{words!r} did not come to {chat}; there is: {self.got.get(chat)}")


@contextlib.asynccontextmanager
async def serving(hermes: Any):
    phones, stop = Phones(), asyncio.Event()
    task = asyncio.create_task(Gateway(context_of(hermes), [phones]).run(stop))
    try:
        yield phones
    finally:
        stop.set()
        await task


def house(hermes: Any, *, people: bool = True, **settings: Any) -> None:
    named = {"gateway.people": {"owner": [f"room:{OWNER}"]}, "gateway.unknown": "pair"} if people else {}
    hermes.configure({**named, **settings})
