"""``/voice only``: a chat that is answered in voice notes alone, and in text where that cannot be."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from gateway_house import context_of

from hermes_core.errors import ProviderError, Undeliverable
from hermes_core.testing import FakePlatform, ScriptedProvider
from hermes_core.types import Blob, Envelope, Feature, MediaResponse, Message, Sent, Text, Usage
from hermes_platform_gateway.gateway import Gateway
from hermes_tool_speech.spoken import spoken, unspoken

WISHES = [Feature.MEDIA, Feature.EDIT]


class Mouth(ScriptedProvider):
    """Speaks, unless it is ``hoarse``."""

    features = frozenset({Feature.SPEAK})

    def __init__(self, *steps):
        super().__init__(steps)
        self.said, self.hoarse = [], False

    async def speak(self, request):
        if self.hoarse:
            raise ProviderError("The voice is hoarse.", provider="mouth", reason="server")
        self.said += request.texts
        return MediaResponse(model="m", blobs=[Blob(media_type="audio/ogg", data=b"OggS")], usage=Usage(calls=1))


class Room(FakePlatform):
    """A chat service; ``got`` is what each chat was sent, in order: a text, or the kind of a file."""

    def __init__(self, features):
        super().__init__(name="room", features=features)
        self.account, self.number, self.got, self.closed = "bot", 0, [], False

    def write(self, text, chat="c1"):
        self.number += 1
        message = Message(role="user", parts=(Text(text=text),))
        known = {"platform": "room", "account": "bot", "event_id": f"e{self.number}", "message_id": f"m{self.number}"}
        self.service.bring(Envelope(chat=chat, sender="anna", message=message, **known))

    async def send(self, chat, message, key):
        sounds = [part for part in message.parts if isinstance(part, Blob)]
        if sounds and self.closed:
            raise Undeliverable("Voice notes are forbidden here.")
        text = "".join(part.text for part in message.parts if isinstance(part, Text))
        if text != "…":
            self.got.append((chat.id, sounds[0].media_type if sounds else text))
        return Sent(chat=chat.id, message_id=key)

    @staticmethod
    def is_sound(message):
        return any(isinstance(part, Blob) for part in message.parts)

    async def edit(self, sent, message):
        text = "".join(part.text for part in message.parts if isinstance(part, Text))
        if not text.endswith(("▌", "…")):
            self.got.append((sent.chat, text))

    async def until(self, *wanted):
        with suppress(TimeoutError):
            async with asyncio.timeout(20):
                while len(self.got) < len(wanted):
                    await asyncio.sleep(0.01)
                await asyncio.sleep(0.1)
        assert len(self.got) == len(wanted), self.got
        assert all(one in got for one, (_, got) in zip(wanted, self.got, strict=True)), self.got


@pytest.fixture
def serving(hermes):
    @asynccontextmanager
    async def served(*steps, features=(*WISHES,)):
        mouth, room, stop = Mouth(*steps), Room(features), asyncio.Event()
        hermes.configure({"gateway.allow_all_users": True})
        hermes.tmp_plugin(mouth)
        hermes.tmp_plugin("hermes_tool_commands")
        hermes.tmp_plugin("hermes_tool_speech")
        task = asyncio.create_task(Gateway(context_of(hermes), [room]).run(stop))
        try:
            yield room, mouth
        finally:
            stop.set()
            await task

    return served


async def test_a_chat_that_wishes_it_gets_the_voice_alone_and_others_their_text(serving):
    async with serving("First.", "It is **nine**.", "Elsewhere.", "Last.") as (room, mouth):
        room.write("hello")
        await room.until("First.")
        room.write("/voice only")
        await room.until("First.", "without their text")
        room.write("what is the time?")
        await room.until("First.", "without their text", "audio/ogg")
        room.write("and here?", chat="c2")
        await room.until("First.", "without their text", "audio/ogg", "Elsewhere.")
        room.write("/voice off")
        await room.until("First.", "without their text", "audio/ogg", "Elsewhere.", "come as text")
        room.write("and now?")
        await room.until("First.", "without their text", "audio/ogg", "Elsewhere.", "come as text", "Last.")
        assert mouth.said == ["It is nine."]


async def test_what_cannot_be_said_is_read_below_the_voice(serving):
    answer = "Run this:\n\n```sh\nmake it\n```\n\nSee https://a.example/b."
    async with serving("First.", answer) as (room, mouth):
        room.write("hello")
        await room.until("First.")
        room.write("/voice only")
        await room.until("First.", "without")
        room.write("how?")
        await room.until("First.", "without", "```sh\nmake it\n```\n\nhttps://a.example/b", "audio/ogg")
        assert mouth.said == ["Run this:\nSee a.example"]


async def test_text_comes_where_nobody_can_speak_and_that_is_told_once(serving):
    async with serving("First.", "Two.", "Three.", "Four.", "Five.") as (room, mouth):
        room.write("hello")
        await room.until("First.")
        room.write("/voice only")
        await room.until("First.", "without")
        mouth.hoarse = True
        room.write("two")
        await room.until("First.", "without", "Two.\n\n(Answers come as text as long as they cannot be spoken: ")
        room.write("three")
        await room.until("First.", "without", "Two.", "Three.")
        assert room.got[-1] == ("c1", "Three.")
        mouth.hoarse = False
        room.write("four")
        await room.until("First.", "without", "Two.", "Three.", "audio/ogg")
        mouth.hoarse = True
        room.write("five")
        await room.until("First.", "without", "Two.", "Three.", "audio/ogg", "Five.\n\n(Answers come")


async def test_a_service_that_refuses_the_note_is_sent_the_words(serving):
    async with serving("First.", "It is nine.") as (room, _):
        room.write("hello")
        await room.until("First.")
        room.write("/voice only")
        await room.until("First.", "without")
        room.closed = True
        room.write("what is the time?")
        await room.until("First.", "without", "Voice notes are forbidden here.)\n\nIt is nine.")


async def test_a_service_without_files_is_sent_the_words(serving):
    async with serving("First.", "It is nine.", features=()) as (room, _):
        room.write("hello")
        await room.until("First.")
        room.write("/voice only")
        await room.until("First.", "without")
        room.write("what is the time?")
        await room.until("First.", "without", "It is nine.")
        assert room.got[-1] == ("c1", "It is nine.")


async def test_what_says_nothing_is_not_spoken(serving):
    async with serving("First.", "[SILENT]", "Then.") as (room, mouth):
        room.write("hello")
        await room.until("First.")
        room.write("/voice only")
        await room.until("First.", "without")
        room.write("you two go on")
        room.write("hello?")
        await room.until("First.", "without", "audio/ogg")
        assert mouth.said == ["Then."]


@pytest.mark.few(1)
@pytest.mark.parametrize("point", ["answered:2", "spoken", "sending"])
def test_an_answer_is_spoken_and_sent_once_whatever_dies_between(tmp_path, point):
    child = [sys.executable, str(Path(__file__).with_name("voice_child.py")), str(tmp_path / "home")]
    env = {**os.environ, "HERMES_TESTING": "1"}
    kernels = {"HERMES_DIE_AT": point} if ":" in point else {}
    dead = subprocess.run([*child, point], env={**env, **kernels}, capture_output=True, timeout=100)
    assert dead.returncode == -signal.SIGKILL, dead.stderr.decode()[-2_000:]
    done = subprocess.run([*child, ""], env=env, capture_output=True, timeout=100)
    told = json.loads(done.stdout or "{}")
    assert told.get("sent") == [["c1", "audio/ogg"]], done.stderr.decode()[-2_000:]
    assert told["said"] == ([] if point == "sending" else ["It is nine."])


SAID = {
    "So it is [1].\n\nSources:\n[1] One https://a.example/one\n[2] https://b.example/": (
        "So it is [1].",
        "Sources:\n[1] One https://a.example/one\n[2] https://b.example/",
    ),
    "Look: MEDIA:/tmp/x.png": ("Look:", "MEDIA:/tmp/x.png"),
    "See [the page](https://a.example/b), and https://a.example/b.": (
        "See the page, and a.example",
        "https://a.example/b",
    ),
    " [SILENT] ": ("", ""),
    "Only words.": ("Only words.", ""),
}


@pytest.mark.parametrize("text", SAID)
def test_what_is_said_and_what_is_read(text):
    assert (spoken(text), unspoken(text)) == SAID[text]
