"""What survives: kills, restarts, long absences, and sends that are repeated."""

import asyncio
import signal
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from matrix_stage import said, text_of

from hermes_core.testing import FakeConsole
from hermes_core.types import Chat

pytestmark = pytest.mark.real


@asynccontextmanager
async def child(stage, manner: str):
    """A bot in another process, killed at the end without a chance to say goodbye."""
    script = Path(__file__).with_name("matrix_child.py")
    words = [sys.executable, script, stage.synapse.url, stage.user, stage.folder / "data", manner]
    process = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE)

    async def line() -> str:
        return (await asyncio.wait_for(process.stdout.readline(), 30)).decode().strip()

    try:
        assert await line() == "open"
        yield line
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGKILL)
        await process.wait()


@pytest.mark.parametrize("encrypted", [False, True])
async def test_what_was_not_acknowledged_comes_again_after_a_kill(stage, encrypted):
    ada = await stage.person()
    async with stage.listening() as ears:
        room = await stage.room(ears, ada, encrypted=encrypted)
    async with child(stage, "hold") as heard:
        await ada.sync()
        event = await ada.say(room, "do not lose me")
        assert await heard() == f"{event} do not lose me"
    async with child(stage, "ack") as heard:
        assert await heard() == f"{event} do not lose me"
        last = await ada.say(room, "and me")
        assert await heard() == f"{last} and me"
        await asyncio.sleep(0)
    async with stage.listening() as ears:
        await ada.say(room, "the next")
        envelope = await ears.next()
        while text_of(envelope.message) == "and me":  # killed before its acknowledgement was on disk
            envelope = await ears.next()
        assert text_of(envelope.message) == "the next"


@pytest.mark.parametrize("encrypted", [False, True])
async def test_a_send_repeated_with_its_key_is_one_event(stage, encrypted):
    ada = await stage.person()
    async with stage.listening() as ears:
        room = await stage.room(ears, ada, encrypted=encrypted)
        first = await ears.bot.send(Chat(room), said("once"), "key \ud83e /?#")
        assert await ears.bot.send(Chat(room), said("once"), "key \ud83e /?#") == first
    async with stage.listening() as ears:  # the bot was restarted
        assert await ears.bot.send(Chat(room), said("once"), "key \ud83e /?#") == first
        stage.synapse.stop()
        stage.synapse.start()  # and the homeserver
        assert await ears.bot.send(Chat(room), said("once"), "key \ud83e /?#") == first
        other = await ears.bot.send(Chat(room), said("once"), "another key")
        assert other != first
    await ada.quiet()
    assert [m["content"]["body"] for m in ada.heard(stage.user, room)] == ["once", "once"]


async def test_a_long_absence_loses_nothing(stage):
    ada = await stage.person()
    async with stage.listening() as ears:
        room = await stage.room(ears, ada)
    texts = [f"number {n}" for n in range(230)]
    token = ada.client.access_token
    for number, text in enumerate(texts):  # more than a sync gives, and more than a page of history
        stage.synapse.ask(
            "PUT", f"rooms/{room}/send/m.room.message/{number}", token, {"msgtype": "m.text", "body": text}
        )
    async with stage.listening() as ears:
        assert await ears.texts(230) == texts


async def test_the_words_that_come_with_an_invitation_are_heard(stage):
    ada, ben = await stage.person("ada"), await stage.person("ben")
    async with stage.listening() as ears:
        await stage.room(ears, ada)
    room = await ada.room(ben.user, direct=False)
    await ben.client.join(room)
    for n in range(3):
        await ada.say(room, f"before the bot {n}")
    await ada.client.room_invite(room, stage.user)
    await ada.say(room, "bot, are you there?")
    async with stage.listening() as ears:
        assert await ears.texts(1) == ["bot, are you there?"]


async def test_two_kernels_may_hold_one_account_after_the_other(stage):
    """Each goes on where the other stopped: what one acknowledged does not come to the next."""
    ada = await stage.person()
    async with stage.listening() as ears:
        room = await stage.room(ears, ada, encrypted=True)
        standby = stage.bot()
        await standby.open(FakeConsole())
        await ada.say(room, "one")
        assert await ears.texts(1) == ["one"]
    stream = standby.receive()
    await ada.say(room, "two")
    envelope = await asyncio.wait_for(anext(stream), 20)
    assert text_of(envelope.message) == "two"
    await standby.send(Chat(room), said("three"), "k")
    await standby.close()
    await ada.quiet()
    assert [m["content"]["body"] for m in ada.heard(stage.user, room)] == ["three"]
