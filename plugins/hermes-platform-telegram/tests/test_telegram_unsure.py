"""A text whose receipt was lost is there once, when it was said again; nothing else is touched."""

import asyncio

import pytest
from telegram_service import Fault, refused

from hermes_core.errors import DeliveryError
from hermes_core.types import Chat, Message, Text
from hermes_platform_telegram import unsure
from hermes_platform_telegram.unsure import REACH

LOST = Fault(cut=True, after=True)


def said(text):
    return Message(role="assistant", parts=(Text(text=text),))


class Talk:
    """A chat in which somebody wrote, so that it is known how far it is."""

    def __init__(self, platform, service, chat):
        self.platform, self.service, self.chat = platform, service, chat

    def seen(self):
        return [message["text"] for message in self.service.chats[int(self.chat.id)].values()]

    async def lose(self, text):
        self.service.script("sendMessage", LOST)
        with pytest.raises(DeliveryError):
            await self.platform.send(self.chat, said(text), "k")

    async def say(self, text):
        sent = await self.platform.send(self.chat, said(text), "k")
        async with asyncio.timeout(10):
            while any(not task.done() for task in self.platform._tasks if "clear" in repr(task)):
                await asyncio.sleep(0.005)
        return sent


@pytest.fixture
async def talk(opened, service):
    async with opened() as (platform, listener):
        service.write(text="hello")
        envelope = await listener.next()
        yield Talk(platform, service, Chat(envelope.chat))


async def test_what_arrived_without_a_receipt_is_taken_away_once_it_was_said_again(talk):
    await talk.lose("…")
    await talk.lose("…")
    assert talk.seen() == ["…", "…"]
    sent = await talk.say("…")
    assert talk.seen() == ["…"]
    await talk.platform.edit(sent, said("Hello."))
    assert talk.seen() == ["Hello."], "the one that is known is the one that stayed"


async def test_what_says_something_else_or_is_of_somebody_else_stays(talk, service):
    await talk.lose("…")
    chat = int(talk.chat.id)
    for text, more in (("by another program of this bot", {}), ("…", {"from": {"id": 5, "is_bot": False}})):
        service.message_id += 1
        service.chats[chat][service.message_id] = {"message_id": service.message_id, "text": text, **more}
    await talk.say("…")
    assert talk.seen() == ["by another program of this bot", "…", "…"]


async def test_what_is_not_said_again_stays(talk):
    await talk.lose("One.")
    await talk.say("Two.")
    assert talk.seen() == ["One.", "Two."]
    assert not talk.service.made("forwardMessage")


async def test_what_was_sent_surely_is_not_even_looked_at(talk):
    await talk.say("…")
    await talk.lose("…")
    await talk.say("…")
    assert talk.seen() == ["…", "…"]
    assert len(talk.service.made("forwardMessage")) == 1


async def test_a_chat_of_which_nothing_is_known_is_left_alone(opened, service):
    async with opened() as (platform, _):
        talk = Talk(platform, service, Chat("77"))
        await talk.lose("…")
        await talk.say("…")
        assert talk.seen() == ["…", "…"]
        assert not service.made("forwardMessage")


async def test_only_so_many_numbers_are_looked_at(talk, service):
    await talk.lose("…")
    service.message_id += 10 * REACH
    await talk.say("…")
    assert len(service.made("forwardMessage")) == REACH


async def test_faults_while_it_is_looked_for_leave_nothing(talk, service, monkeypatch):
    monkeypatch.setattr(unsure, "PAUSE", 0)
    await talk.lose("…")
    service.script("forwardMessage", refused(429, "Too Many Requests", retry_after=0), Fault(status=502), LOST, LOST)
    service.script("deleteMessage", LOST, Fault(status=502), LOST)
    await talk.say("…")
    assert talk.seen() == ["…"]


async def test_what_is_known_of_other_chats_is_not_looked_at(talk, service):
    await talk.lose("…")
    for number in range(2 * REACH):
        await talk.platform.send(Chat("77"), said(f"number {number}"), "k")
    await talk.say("…")
    assert talk.seen() == ["…"]
    assert len(service.made("forwardMessage")) == 1


async def test_a_supergroup_counts_for_itself(talk, service):
    group = Talk(talk.platform, service, Chat("-1001234567"))
    await group.say("One.")
    await group.lose("…")
    lost = service.message_id
    service.message_id = lost - 1  # the same number, elsewhere
    await talk.say("Two.")
    await group.say("…")
    assert group.seen() == ["One.", "…"]
