"""The ways by which an order comes in a chat: raw messages of Telegram, as its plugin and the gateway read them."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve
from corpus import TOKEN
from gateway_house import context_of
from scene import Scene
from ways import way

from hermes_core.testing import FakePlatform
from hermes_core.types import Blob, Chat, Envelope, Message, Sent, Text
from hermes_platform_gateway.gateway import Gateway
from hermes_platform_telegram.inbound import _envelope
from hermes_platform_telegram.updates import Me, read_update

ME, BOT = 7, Me("99", "bot")
FROM = {"id": ME, "is_bot": False, "first_name": "Me"}
STRANGER = {"id": 8, "is_bot": False, "first_name": f"Eve {TOKEN}"}
PRIVATE = {"id": ME, "type": "private", "first_name": "Me"}


class Room(FakePlatform):
    """A chat service with one person, who says no to whatever they are asked."""

    def __init__(self) -> None:
        super().__init__(name="telegram", features=())
        self.account, self.denied = "bot", 0
        self.answers: asyncio.Queue[str] = asyncio.Queue()

    async def send(self, chat: Chat, message: Message, key: str) -> Sent:
        text = "".join(part.text for part in message.parts if isinstance(part, Text))
        for asked in re.findall(r"/deny ([0-9a-f]+)", text)[:1]:
            self.denied += 1
            self.service.bring(read(1_000 + self.denied, text=f"/deny {asked}"))
        await self.answers.put(text)
        return Sent(chat=chat.id, message_id=key)


def read(number: int, files: Sequence[Blob | Text] = (), **message: Any) -> Envelope:
    """What the plugin makes of an update."""
    whole: Mapping[str, Any] = {"message_id": number, "date": 1, "from": FROM, "chat": PRIVATE, **message}
    incoming = read_update({"update_id": number, "message": whole}, BOT)
    assert incoming is not None
    return _envelope(incoming, BOT, list(files))


async def hear(scene: Scene, *envelopes: Envelope) -> None:
    """The person writes, one message after the other, and is answered each time."""
    room, stop = Room(), asyncio.Event()
    await scene.leave()
    running = asyncio.create_task(Gateway(context_of(scene.hermes), [room]).run(stop))
    try:
        for envelope in envelopes:
            room.service.bring(envelope)
            async with asyncio.timeout(50):
                while "I did all" not in await room.answers.get():
                    pass
    finally:
        stop.set()
        await running


@way
async def chat_forward(scene: Scene, text: str) -> None:
    origin = {"type": "user", "date": 1, "sender_user": STRANGER}
    await hear(scene, read(1, text=text, forward_origin=origin))


@way
async def chat_quote(scene: Scene, text: str) -> None:
    answered = {"message_id": 5, "date": 1, "from": STRANGER, "chat": PRIVATE, "text": text}
    await hear(scene, read(1, text="What is this?", reply_to_message=answered))


@way
async def chat_quote_of_a_forward(scene: Scene, text: str) -> None:
    origin = {"type": "hidden_user", "date": 1, "sender_user_name": "Eve"}
    answered = {"message_id": 5, "date": 1, "from": FROM, "chat": PRIVATE, "text": text, "forward_origin": origin}
    await hear(scene, read(1, text="What is this?", reply_to_message=answered))


@way
async def chat_quote_from_elsewhere(scene: Scene, text: str) -> None:
    reply = {"origin": {"type": "hidden_user", "date": 1, "sender_user_name": "Eve"}}
    await hear(scene, read(1, text="What is this?", external_reply=reply, quote={"text": text, "position": 0}))


@way
async def chat_attachment(scene: Scene, text: str) -> None:
    document = {"file_id": "f", "file_unique_id": "u", "file_name": "a.txt", "mime_type": "text/plain"}
    envelope = read(1, caption="Look at it.", document=document)
    blob = Blob(media_type="text/plain", data=text.encode(), name=f"{TOKEN}.txt")
    whole = Message(role="user", parts=(*envelope.message.parts, blob), untrusted=envelope.message.untrusted)
    await hear(scene, evolve(envelope, message=whole))
