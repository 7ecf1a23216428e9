"""A bot, people and rooms for one test against the real homeserver."""

import asyncio
from contextlib import asynccontextmanager

from matrix_people import Person, bot_for

from hermes_core.testing import FakeConsole
from hermes_core.types import Blob, Envelope, Message, Text
from hermes_platform_matrix.platform import Matrix


class Ears:
    """What a bot hears. Acknowledges like the kernel, unless told not to."""

    def __init__(self, bot: Matrix, ack: bool) -> None:
        self.bot, self._ack = bot, ack
        self._stream = bot.receive()

    async def next(self, seconds: float = 20.0) -> Envelope:
        async with asyncio.timeout(seconds):
            envelope = await anext(self._stream)
        if self._ack:
            await self.bot.ack(envelope)
        return envelope

    async def texts(self, count: int) -> list[str]:
        return [text_of((await self.next()).message) for _ in range(count)]


class Stage:
    """One bot account on a homeserver, and people."""

    def __init__(self, synapse, folder) -> None:
        self.synapse, self.folder = synapse, folder
        self.user = synapse.register("bot")
        self._people: list[Person] = []

    def bot(self, **settings) -> Matrix:
        return bot_for(settings.pop("url", self.synapse.url), self.user, self.folder / "data", **settings)

    @asynccontextmanager
    async def listening(self, ack: bool = True, **settings):
        """A bot that is open and hears; it has synced once, so what comes from now on is news."""
        bot = self.bot(**settings)
        await bot.open(FakeConsole())
        ears = Ears(bot, ack)
        try:
            yield ears
        finally:
            await bot.close()

    async def person(self, name: str = "ada") -> Person:
        person = Person(self.synapse.url, self.synapse.register(name), self.folder / f"{name}{len(self._people)}")
        self._people.append(person)
        return await person.login()

    async def room(self, ears: Ears, person: Person, *others: Person, **options) -> str:
        """A room with the bot and others in it."""
        hearing = asyncio.ensure_future(anext(ears._stream))  # the bot answers invitations while it listens
        room = await person.room(self.user, *(o.user for o in others), **options)
        for other in others:
            await other.client.join(room)
            await other.sync()
        await person.joined(room, self.user)
        await person.say(room, "hello")
        envelope = await asyncio.wait_for(hearing, 20)
        await ears.bot.ack(envelope)
        return room

    async def close(self) -> None:
        for person in self._people:
            await person.close()


def text_of(message: Message) -> str:
    return "".join(p.text for p in message.parts if isinstance(p, Text))


def blob_of(message: Message) -> Blob:
    return next(p for p in message.parts if isinstance(p, Blob))


def said(text: str, *more) -> Message:
    return Message(role="assistant", parts=(Text(text=text), *more))
