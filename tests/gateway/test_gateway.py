"""The gateway as people meet it: a message comes in, an answer goes out, once, whatever happens between."""

import asyncio
from contextlib import asynccontextmanager

from hermes_core.embed import Hermes
from hermes_core.gateway.service import Gateway
from hermes_core.testing import FakePlatform
from hermes_core.types import Envelope, Message, Text


class Room(FakePlatform):
    """A chat service that shows what it is sent, and can say everything an envelope can."""

    def __init__(self, **options) -> None:
        super().__init__(features=options.pop("features", ()), **options)
        self.account = "bot"
        self.number = 0

    def write(self, text: str, **known) -> None:
        self.number += 1
        values = {
            "platform": self.name,
            "account": "bot",
            "event_id": f"e{self.number}",
            "chat": "c1",
            "sender": "anna",
        }
        values |= {"message_id": f"m{self.number}", **known}
        self._inbox.put_nowait(Envelope(**values, message=Message(role="user", parts=(Text(text=text),))))

    async def until(self, *texts: str) -> list[str]:
        """What was sent, once as much was as is wanted."""
        async with asyncio.timeout(20):
            while len(await self.seen()) < len(texts):
                await asyncio.sleep(0.01)
        seen = list(await self.seen())
        for wanted, got in zip(texts, seen, strict=False):
            assert wanted in got, seen
        return seen


@asynccontextmanager
async def serving(hermes: Hermes, *platforms: Room):
    gateway, stop = Gateway(hermes.runtime, platforms), asyncio.Event()
    task = asyncio.create_task(gateway.run(stop))
    try:
        yield gateway
    finally:
        stop.set()
        await task


OPEN = {"gateway.allow_all_users": True}


async def test_a_message_is_answered_where_it_came_from(hermes, scripted):
    hermes.configure(OPEN)
    hermes.tmp_plugin(scripted("Hello Anna.", "Hello Ben."))
    room = Room()
    async with serving(hermes, room):
        room.write("Hi.")
        await room.until("Hello Anna.")
        room.write("Hi.", chat="c2", sender="ben")
        await room.until("Hello Anna.", "Hello Ben.")
    assert room.acked == ["e1", "e2"]


async def test_what_is_delivered_again_is_answered_once(hermes, scripted):
    hermes.configure(OPEN)
    hermes.tmp_plugin(scripted("Once.", "Twice."))
    room = Room()
    async with serving(hermes, room):
        for _ in range(3):
            room.write("Hi.", event_id="same")
        await room.until("Once.")
        room.write("And now?")
        await room.until("Once.", "Twice.")
    assert room.acked == ["same", "same", "same", "e4"]


async def test_strangers_get_nothing(hermes, scripted):
    hermes.configure({"gateway.allowed_users": ["anna"]})
    hermes.tmp_plugin(scripted("Hello Anna."))
    room = Room()
    async with serving(hermes, room):
        room.write("Let me in.", sender="mallory", chat="c9")
        room.write("Hi.")
        assert await room.until("Hello Anna.") == ["Hello Anna."]
    assert room.acked == ["e1", "e2"]


async def test_commands_work_where_a_slash_does_and_where_it_does_not(hermes, scripted):
    hermes.configure(OPEN)
    hermes.tmp_plugin(scripted())
    room = Room()
    async with serving(hermes, room):
        room.write("/whoami@bot", sender_name="Anna")
        room.write("!status")
        room.write("/nothing")
        seen = await room.until("You are anna (Anna) on fake", "Conversation: ", "There is no command /nothing.")
    assert len(seen) == 3


async def test_a_new_conversation_knows_nothing_of_the_last(hermes, scripted):
    hermes.configure(OPEN)
    provider = scripted("One.", "Two.", "Three.")
    hermes.tmp_plugin(provider)
    room = Room()
    async with serving(hermes, room):
        room.write("First.")
        await room.until("One.")
        room.write("Second.")
        await room.until("One.", "Two.")
        room.write("/new")
        await room.until("One.", "Two.", "New session")
        room.write("Third.")
        await room.until("One.", "Two.", "New session", "Three.")
    lengths = [len(request.messages) for request in provider.requests]
    assert lengths == [2, 4, 2]
