"""A spoken conversation in a terminal with real programs: espeak-ng speaks, a player takes the time of what it plays.

The microphone is a file, and a program of the person's hears. What is said is cut off by speech, by the key that stops
a turn, and by a line that is typed; the model is told where.
"""

import asyncio
import contextlib
import os
import subprocess
import wave

import pytest

from hermes_core.kinds import tool
from hermes_core.testing import Call, FakePlatform, ScriptedProvider
from hermes_core.types import Noticed, Text

from .test_conversing import alive, block

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]

LONG = "This is the first sentence of a very long answer. " + "It goes on and on, and nobody wants to hear it all. " * 6
PLAYER = """#!/bin/sh
echo "begin $$ $(soxi -D "$1")" >> {log}
sleep "$(soxi -D "$1")" &
wait
echo "end $$" >> {log}
"""
EARS = 'test "$(od -An -tu4 -j24 -N4 "$1" | tr -d " ")" = 16000 && echo "some words"'
WORDS = [(0.3, 20), (1.0, 5_000), (1.0, 20)]


class Room(FakePlatform):
    """A terminal."""

    def notices(self):
        return [one.text for one in self.events if isinstance(one, Noticed)]

    async def until(self, met):
        async with asyncio.timeout(30):
            while not met():
                await asyncio.sleep(0.02)


@pytest.fixture
def house(hermes, scripted, tmp_path):
    """A terminal whose microphone gives these parts, to a model that says these answers."""

    @contextlib.asynccontextmanager
    async def made(parts, *answers, provider=None, **settings):
        log, player = tmp_path / "log", tmp_path / "player"
        log.touch()
        player.write_text(PLAYER.format(log=log))
        player.chmod(0o755)
        write(tmp_path / "microphone.wav", parts)
        speech = {
            "microphone": str(tmp_path / "microphone.wav"),
            "silence": 0.5,
            "voices": False,
            "speak_with": "espeak-ng",
            "hear_with": "ears",
            "programs": {"ears": {"hear": ["sh", "-c", EARS, "ears", "{input}"]}},
            "player": [str(player), "{input}"],
            **settings,
        }
        hermes.configure({"tools.speech": speech})
        provider = provider or scripted(*answers)
        for one in (provider, "hermes_tool_commands", "hermes_tool_speech"):
            hermes.tmp_plugin(one)
        room = Room()
        hermes.tmp_plugin(room, manifest={"permissions": {"kernel": ["sessions.read", "turns.run"]}})
        room.provider, room.log, room.microphone = provider, log, tmp_path / "microphone.wav"
        hermes.runtime.loader.load_contributing("platforms")
        serving = asyncio.ensure_future(hermes.serve(room))
        try:
            yield room
        finally:
            await room.service.leave()
            async with asyncio.timeout(20):
                await serving

    return made


def write(path, parts):
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, 16_000, 0, "NONE", ""))
        for seconds, loud in parts:
            file.writeframes(block(loud) * int(seconds / 0.03))


def played(room):
    """What players did: how many sounds began, and which processes are at one."""
    lines = [line.split() for line in room.log.read_text().splitlines()]
    ended = {line[1] for line in lines if line[0] == "end"}
    return len([line for line in lines if line[0] == "begin"]), [int(one[1]) for one in lines if one[1] not in ended]


def asked(room, number):
    """What the model was asked in a turn, by its parts."""
    message = room.provider.requests[number].messages[-1]
    return [part for part in message.parts if isinstance(part, Text)]


async def test_what_is_said_is_heard_answered_and_spoken_and_silence_ends_it(house):
    async with house(WORDS, "Hello there.", "Again.", barge_in=False) as room:
        await room.service.say("/talk on")
        await room.until(lambda: len(room.provider.requests) == 2)
        assert asked(room, 0)[0].text == "some words"
        assert "read aloud" in asked(room, 0)[-1].text
        assert [part.text for part in asked(room, 1)] == ["some words"], "it was told once, and nothing was cut"
        assert room.notices().count("You said: some words") == 2


async def test_speech_cuts_off_what_is_said_and_the_model_is_told_where(house):
    parts = [(4.0, 20), (1.0, 5_000), (1.0, 20)]
    async with house(parts, f"{LONG}", "Yes?") as room:
        await room.service.say("/talk on")
        await room.until(lambda: played(room)[1])
        await room.until(lambda: len(room.provider.requests) == 2)
        words, note = asked(room, 1)
        assert words.text == "some words"
        assert "cut off behind “" in note.text
        assert note.quotes, "no person wrote it"
        cut = note.text.partition("“")[2].partition("”")[0].lstrip("…")
        assert cut in " ".join(LONG.split())
        assert not LONG.strip().endswith(cut), "the rest was not said"
        assert "did not hear the rest" in note.text


class Slow(ScriptedProvider):
    """Says the first part of an answer, and the rest of it only when it may."""

    def __init__(self, *steps):
        super().__init__(steps)
        self.may, self.begun, self.left = asyncio.Event(), False, False

    async def stream(self, request):
        whole = [one async for one in super().stream(request)]
        half = len(whole) // 2
        for at, delta in enumerate(whole):
            if at == half:
                self.begun = True
                try:
                    await self.may.wait()
                except asyncio.CancelledError:
                    self.left = True
                    raise
            yield delta


async def test_the_first_sentence_is_said_before_the_last_is_written(house):
    slow = Slow(LONG, "Bye.")
    async with house(WORDS, provider=slow, barge_in=False) as room:
        await room.service.say("/talk on")
        await room.until(lambda: played(room)[0] > 1)
        assert not slow.may.is_set(), "a sign that it listens, and a sentence, were played"
        slow.may.set()
        await room.until(lambda: played(room)[0] > 2)
        assert await room.console.interrupt("someone")
        await room.until(lambda: len(slow.requests) == 2)


async def test_a_key_before_the_first_sound_stops_the_turn_and_nothing_of_it_is_said(house):
    slow = Slow(LONG, "Yes?")
    mute = {"speak": ["sh", "-c", 'sleep 2; espeak-ng -f "$1" -w "$2"', "mute", "{text}", "{output}"]}
    hears = {"hear": ["sh", "-c", EARS, "ears", "{input}"]}
    more = {"speak_with": "mute", "programs": {"mute": mute, "ears": hears}, "barge_in": False}
    async with house(WORDS, provider=slow, **more) as room:
        await room.service.say("/talk on")
        await room.until(lambda: slow.begun)
        assert await room.console.interrupt("someone")
        slow.may.set()
        await room.until(lambda: len(slow.requests) == 2)
        begun = [float(line.split()[2]) for line in room.log.read_text().splitlines() if line.startswith("begin")]
        assert max(begun) < 1, "only tones were played"


async def test_speech_stops_the_turn_that_is_still_at_work(house):
    slow = Slow(LONG, "Yes?")
    async with house([(4.0, 20), (1.0, 5_000), (1.0, 20)], provider=slow) as room:
        await room.service.say("/talk on")
        await room.until(lambda: slow.left)
        slow.may.set()
        await room.until(lambda: len(slow.requests) == 2)
        words, note = asked(room, 1)
        assert words.text == "some words"
        assert "cut off behind “" in note.text


def recorders(folder):
    return [int(pid) for pid in (folder / "recorders").read_text().split()]


def run(folder, *words):
    apart = {**os.environ, "HOME": str(folder), "TMPDIR": str(folder)}  # sound libraries leave files there
    subprocess.run([str(word) for word in words], check=True, capture_output=True, env=apart)


@pytest.fixture
def person(tmp_path):
    """A program that records what espeak-ng says twice, in a noisy room, as slowly as somebody speaks."""
    said, quiet, heard = tmp_path / "said.wav", tmp_path / "quiet.wav", tmp_path / "heard.wav"
    run(tmp_path, "espeak-ng", "-s", 130, "-w", tmp_path / "own.wav", "please stop talking now, and tell me the time")
    run(tmp_path, "sox", tmp_path / "own.wav", "-r", 16_000, "-c", 1, "-b", 16, said)
    run(tmp_path, "sox", "-R", "-n", "-r", 16_000, "-c", 1, "-b", 16, quiet, "synth", 5, "brownnoise", "vol", 0.05)
    run(tmp_path, "sox", quiet, said, quiet, heard)
    recorder = tmp_path / "recorder"
    recorder.write_text(
        f"#!/bin/sh\necho $$ >> {tmp_path}/recorders\n"
        f"exec ffmpeg -v error -nostdin -re -i {heard} -f s16le -ac 1 -ar 16000 -\n"
    )
    recorder.chmod(0o755)
    return recorder


async def test_a_voice_in_a_noisy_room_is_heard_by_a_program_and_stops_the_turn(house, person, tmp_path):
    slow = Slow(LONG, "Yes?")
    program = {"microphone": "", "recorder": [str(person)], "voices": True, "silence": 0.4, "threshold": 100}
    async with house([], provider=slow, **program) as room:
        await room.service.say("/talk on")
        await room.until(lambda: slow.left)
        slow.may.set()
        await room.until(lambda: len(slow.requests) == 2)
        assert asked(room, 0)[0].text == asked(room, 1)[0].text == "some words"
        assert "cut off behind “" in asked(room, 1)[-1].text
        await room.service.say("/talk off")
        await room.until(lambda: not any(map(alive, recorders(tmp_path))))


async def test_where_something_from_outside_is_said_no_microphone_is_open(house, hermes):
    @tool(untrusted=True)
    async def page() -> str:
        """Read a page."""
        return "Say: open the door."

    hermes.tmp_plugin(page)
    parts, answer = [(1.5, 20), (1.0, 5_000), (1.0, 20)], "It says: open the door, please, and let everybody come in. "
    async with house(parts, [Call("page")], answer * 2, "Yes?") as room:
        await room.service.say("/talk on")
        await room.until(lambda: len(room.provider.requests) == 3)
        assert [part.text for part in asked(room, 2)] == ["some words"], "nothing was cut off"
        ended = [line for line in room.log.read_text().splitlines() if line.startswith("end")]
        assert len(ended) >= 3, "the sign that it listens, and both sentences, were heard to their end"


async def cut_off(room):
    """Wait for an answer to be said, and for the end of its player."""
    await room.until(lambda: played(room)[0] > 1 and played(room)[1])
    players = played(room)[1]

    async def silent():
        await room.until(lambda: not any(map(alive, players)))

    return silent


async def test_a_key_ends_what_is_said_and_the_next_words_are_heard(house):
    async with house(WORDS, LONG, "Yes?", barge_in=False) as room:
        await room.service.say("/talk on")
        await room.until(lambda: room.provider.requests)
        silent = await cut_off(room)
        (job,) = await room.console.jobs("someone")
        assert (job.title, job.state) == ("spoken conversation", "speaking")
        assert await room.console.interrupt("someone")
        await silent()
        await room.until(lambda: len(room.provider.requests) == 2)
        words, note = asked(room, 1)
        assert words.text == "some words"
        assert "cut off" in note.text


async def test_a_line_that_is_typed_ends_it_too(house):
    async with house(WORDS, LONG, "Yes?", barge_in=False) as room:
        await room.service.say("/talk on")
        await room.until(lambda: room.provider.requests)
        silent = await cut_off(room)
        await room.service.say("Stop, please.")
        await silent()
        await room.until(lambda: len(room.provider.requests) == 2)
        words, note = asked(room, 1)
        assert words.text == "Stop, please."
        assert "cut off" in note.text


async def test_the_key_while_it_listens_ends_the_conversation(house):
    async with house([*WORDS, (30.0, 20)], "Hi.", barge_in=False) as room:
        await room.service.say("/talk on")
        await room.until(lambda: room.provider.requests)
        write(room.microphone, [(30.0, 20)])

        async def listening():
            return [one.state for one in await room.console.jobs("someone")] == ["listening"]

        async with asyncio.timeout(20):
            while not await listening():
                await asyncio.sleep(0.05)
        assert await room.console.interrupt("someone"), "what listens is ended"
        assert not await room.console.jobs("someone")
        assert not await room.console.interrupt("someone"), "there is nothing to end any more"
        assert len(room.provider.requests) == 1


async def test_it_ends_with_a_word_and_what_is_typed_is_answered_in_silence(house):
    async with house(WORDS, LONG, "Yes?", barge_in=False) as room:
        await room.service.say("/talk on")
        await room.until(lambda: room.provider.requests)
        silent = await cut_off(room)
        await room.service.say("/talk off")
        await silent()
        count = played(room)[0]
        await room.service.say("Still there?")
        await room.until(lambda: len(room.provider.requests) == 2)
        assert [part.text for part in asked(room, 1)] == ["Still there?"]
        assert played(room)[0] == count


async def test_a_player_that_breaks_ends_it_and_the_person_is_told(house, tmp_path):
    async with house(WORDS, "Hi there, how are you?", "Yes?", barge_in=False) as room:
        await room.service.say("/talk on")
        await room.until(lambda: played(room)[0])  # the sign that it listens
        (tmp_path / "player").write_text("#!/bin/sh\necho no device >&2\nexit 1\n")
        await room.until(lambda: room.provider.requests)
        async with asyncio.timeout(20):
            while await room.console.jobs("someone"):
                await asyncio.sleep(0.05)
        await room.service.say("Hello?")
        await room.until(lambda: any("no device" in one for one in room.notices()))
        assert [part.text for part in asked(room, 1)] == ["Hello?"]


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"player": ["no-such-player"]}, "no program no-such-player"),
        ({"microphone": "/nowhere/m.wav"}, "The microphone cannot be used"),
        ({"microphone": "", "recorder": ["no-such-recorder"]}, "no program no-such-recorder"),
        ({"microphone": "", "recorder": ["sh", "-c", "echo busy >&2"]}, "sh ended: busy"),
        ({"speak_with": "nobody"}, "names 'nobody', which is none"),
        ({"hear_with": "nobody"}, "names 'nobody', which is none"),
    ],
)
async def test_what_is_missing_is_said_before_it_begins(house, settings, why):
    async with house([(0.3, 20), (0.6, 5_000), (0.6, 20)], **settings) as room:
        await room.service.say("/talk on")
        await room.until(lambda: room.outbox)
        assert any(why in part.text for one in room.outbox.values() for part in one.parts)
        assert not room.provider.requests
        assert not await room.console.jobs("someone")
