"""Roles behind a real gateway: who is silent, who is told what, and what becomes of what waited."""

import asyncio
from contextlib import asynccontextmanager
from typing import Any

from gateway_house import context_of
from speaking import House, Vendor

from hermes_core.testing import FakePlatform
from hermes_core.types import Chat, Envelope, Message, Sent, Text
from hermes_platform_gateway.gateway import Gateway

PEOPLE = {
    "gateway.people": {"owner": ["room:me"], "mia": ["room:1"], "leo": ["room:2"]},
    "gateway.allowed_users": ["1", "2", "3"],
    "roles.people": {"mia": "child", "leo": "blocked", "room:4": "blocked"},
    "roles.define": {"child": {"models": ["vendor:small", "vendor:tiny"], "tools": ["talk"], "day": {"calls": 9}}},
}


class Room(FakePlatform):
    """A chat service; ``got`` says what was sent to each chat."""

    gateway: Gateway

    def __init__(self) -> None:
        super().__init__(name="room", features=())
        self.account, self.number = "bot", 0
        self.got: dict[str, list[str]] = {}

    def write(self, sender: str, text: str, **more: Any) -> None:
        self.number += 1
        message = Message(role="user", parts=(Text(text=text),))
        known = {"platform": "room", "account": "bot", "event_id": f"e{self.number}", "chat": sender, **more}
        self.service.bring(Envelope(sender=sender, sender_name=sender, message=message, **known))

    async def send(self, chat: Chat, message: Message, key: str) -> Sent:
        text = "".join(part.text for part in message.parts if isinstance(part, Text))
        self.got.setdefault(chat.id, []).append(text)
        return Sent(chat=chat.id, message_id=key)

    async def last(self, chat: str, words: str) -> str:
        async with asyncio.timeout(20):
            while not (found := [text for text in self.got.get(chat, []) if words in text]):
                await asyncio.sleep(0.01)
        return found[-1]


@asynccontextmanager
async def serving(hermes: Any):
    room, stop = Room(), asyncio.Event()
    room.gateway = Gateway(context_of(hermes), [room])
    task = asyncio.create_task(room.gateway.run(stop))
    try:
        yield room
    finally:
        stop.set()
        await task


def furnished(hermes: Any, settings: dict[str, Any]) -> Vendor:
    house = House(hermes)
    hermes.tmp_plugin("hermes_tool_commands")
    hermes.tmp_plugin("hermes_platform_gateway")
    hermes.configure(settings)
    return house.vendor


async def test_who_is_blocked_is_answered_nothing_in_no_place(hermes: Any) -> None:
    vendor = furnished(hermes, {**PEOPLE, "gateway.unknown": "pair"})
    async with serving(hermes) as room:
        for more in ({}, {"chat": "g", "kind": "group"}, {"chat": "g", "kind": "group", "thread": "t"}):
            for text in ("hello", "/help", "/whoami", "/background hello", "/approve"):
                room.write("2", text, **more)
        room.write("4", "hello")  # nor is a code shown to somebody who was never let in
        room.write("me", "hello")
        await room.last("me", "I am big.")
        assert set(room.got) == {"me"}
        assert vendor.answered == ["big"]


async def test_whoami_says_the_role_and_model_lists_its_models(hermes: Any) -> None:
    vendor = furnished(hermes, PEOPLE)
    async with serving(hermes) as room:
        room.write("1", "/whoami")
        said = await room.last("1", "Your role: child.")
        assert said.splitlines()[2:] == [
            "Tools: talk.",
            "Models: vendor:small, vendor:tiny.",
            "Commands: in an isolated workspace.",
            "Files: those of your own folder.",
            "A day, in all places: 9 model calls.",
        ]
        room.write("1", "/model")
        await room.last("1", "Here small from vendor answers in this chat. You may choose: vendor:small, vendor:tiny.")
        room.write("1", "/model vendor:big")
        await room.last("1", "vendor:big is not for you.")
        room.write("1", "/model vendor:tiny")
        await room.last("1", "From now on tiny from vendor answers in this chat.")
        room.write("1", "hello")
        await room.last("1", "I am tiny.")
        room.write("me", "/model vendor:zzz", chat="g", kind="group", thread="t")
        await room.last("g", "There is no model named 'zzz'")
        room.write("me", "/model vendor:big", chat="g", kind="group", thread="t")
        await room.last("g", "From now on big")
        room.write("1", "hello", chat="g", kind="group", thread="t")
        await room.last("g", "I am small.")
        room.write("me", "/whoami")
        assert "Your role" not in await room.last("me", "You are me")
        assert vendor.answered == ["tiny", "small"]


async def test_what_waited_is_not_played_for_who_was_let_out_or_blocked_since(hermes: Any, tmp_path: Any) -> None:
    from hermes_core.testing.bench import Bench

    vendor, waiting = furnished(hermes, PEOPLE), list[str]()
    async with hermes:
        ctx = context_of(hermes)
        from hermes_core.types import Principal, Speaker, TurnOrder

        for number, sender in enumerate(("1", "3")):
            person = {"1": "mia", "3": "room:3"}[sender]
            owner = Principal(person=person)
            session = await ctx.turns.take_up(owner=owner, origin="room")
            message = Message(role="user", parts=(Text(text="hello"),))
            came = Envelope(
                platform="room", account="bot", event_id=f"w{number}", chat=sender, sender=sender, message=message,
                speaker=Speaker(person=person),
            )  # fmt: skip
            waiting.append(await ctx.turns.queue(came, owner=owner, order=TurnOrder(session=session.id)))
    later = Bench(tmp_path / "home")
    people = {**PEOPLE, "gateway.allowed_users": ["1"], "roles.people": {"mia": "blocked"}}
    vendor = furnished(later, people)
    async with later, serving(later) as room:
        room.number = 50  # no message of before came again
        room.write("me", "hello")
        await room.last("me", "I am big.")
        for session in waiting:
            await room.gateway._worker.play(session)
            assert not await context_of(later).host.turns.waiting(session)
        assert set(room.got) == {"me"}
    assert vendor.answered == ["big"]


async def test_admins_are_told_when_roles_cannot_be_read(hermes: Any) -> None:
    furnished(hermes, PEOPLE)
    async with serving(hermes) as room:
        room.write("me", "hello")
        await room.last("me", "I am big.")
        hermes.runtime._find_roles().config = None
        hermes.runtime.dispatch._strict = False
        room.write("1", "hello")
        room.write("1", "hello again")
        await room.last("1", "nobody but the owner may do anything")
        told = await room.last("me", "nobody but the owner may do anything")
        assert told.endswith("See: hermes doctor")
        assert sum("nobody but" in text for text in room.got["me"]) == 1
