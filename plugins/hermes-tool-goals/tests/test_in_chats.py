"""A goal that is set in a chat: a real gateway pursues it, tells of it there, and goes on with it after a stop."""

import asyncio
from contextlib import asynccontextmanager

from gateway_house import context_of

from hermes_core.testing import FakePlatform
from hermes_core.types import Envelope, Message, Text
from hermes_platform_gateway.gateway import Gateway
from hermes_tool_goals.shared import goals_of

from .conftest import verdict, write


class Chat(FakePlatform):
    """A chat with one person; ``told`` is what they were sent."""

    account = "bot"

    def __init__(self):
        super().__init__(features=())
        self.told, self.number = [], 0

    def write(self, text):
        self.number += 1
        message = Message(role="user", parts=(Text(text=text),))
        known = {"platform": self.name, "account": "bot", "chat": "here", "sender": "anna"}
        self.service.bring(Envelope(**known, event_id=f"{id(self)} {self.number}", message=message))

    async def send(self, chat, message, key):
        self.told.append("".join(part.text for part in message.parts if isinstance(part, Text)))
        return await super().send(chat, message, key)

    async def until(self, words):
        async with asyncio.timeout(30):
            while not any(words in text for text in self.told):
                await asyncio.sleep(0.02)
                await asyncio.sleep(0.02)


@asynccontextmanager
async def serving(one):
    chat, stop = Chat(), asyncio.Event()
    running = asyncio.create_task(Gateway(context_of(one.hermes), [chat]).run(stop))
    try:
        yield chat
    finally:
        stop.set()
        await running


def gateway(house, *steps, **more):
    people = {"gateway.people": {"owner": ["fake:anna"]}}
    quick = {"workers.poll_seconds": 0.05, "gateway.drain_seconds": 0.1, "policy.mode": "off"}
    return house(*steps, plugins=["hermes_platform_gateway"], **people, **quick, **more)


async def test_a_goal_of_a_chat_is_pursued_and_told_there(house):
    one = gateway(house, "Done!", write("made"), "Now it is done.")
    async with serving(one) as chat:
        chat.write("/goal Make it | check: test -e made")
        await chat.until("active · 0 of 20 turns")
        await chat.until("The goal is done after 2 turns")
    assert [text for text in chat.told if "one." in text or "Done!" in text] == ["Done!", "Now it is done."]
    one.model.check()


async def test_a_gateway_that_begins_again_goes_on_with_a_goal(house):
    one = gateway(house, "Done!", "Hello, anna.", judge=[verdict("done")])
    async with serving(one) as chat:
        chat.write("/goal Write a poem")
        await chat.until("active · 0 of 20 turns")
        await goals_of(one.ctx).change((await one.goal()).id, ("active",), at=2e10)  # not now
    async with serving(one) as chat:
        await goals_of(one.ctx).change((await one.goal()).id, ("active",), at=0.0)
        await chat.until("The goal is done after")
