"""``/talk``: speech is found in what a microphone gives, silence ends it, and a closed microphone costs a line."""

import asyncio
import io
import math
import struct
import sys
import types
import wave
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hermes_tool_speech
from hermes_core.errors import UserError
from hermes_core.notices import heard_by
from hermes_core.types import Envelope, MediaResponse, Session
from hermes_tool_speech.config import Config
from hermes_tool_speech.conversing import talk_of
from hermes_tool_speech.detector import RATE
from hermes_tool_speech.microphone import microphone
from hermes_tool_speech.talking import listened, talk_command

from .test_speech_services import MANIFEST, plugin_context


def samples(*parts):
    """Sound of these parts: seconds, and how loud."""
    made = bytearray()
    for seconds, loud in parts:
        for at in range(int(seconds * RATE)):
            made += struct.pack("<h", int(loud * math.sin(at / 5)))
    return bytes(made)


def write(path, data, rate=RATE):
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, rate, 0, "NONE", ""))
        file.writeframes(data)
    return str(path)


async def heard(path, **more):
    """How many seconds of it are taken for speech."""
    config = Config(microphone=path, voices=False, **more)
    with wave.open(io.BytesIO(await listened(microphone(config), config))) as file:
        return file.getnframes() / file.getframerate()


async def test_it_begins_with_speech_and_ends_with_silence(tmp_path):
    path = write(tmp_path / "m.wav", samples((2.0, 20), (1.0, 5_000), (0.5, 20), (1.0, 5_000), (6.0, 20)))
    length = await heard(path, silence=1.0)
    assert 3.4 < length < 4.0, "a short pause does not end it, and what was before it is left out"


async def test_who_stops_at_once_is_heard_and_who_never_stops_is_cut(tmp_path):
    assert 0.9 < await heard(write(tmp_path / "a.wav", samples((1.0, 5_000)))) < 1.2
    long = write(tmp_path / "b.wav", samples((1.0, 5_000)) * 140)
    assert await heard(long) <= 121


@pytest.mark.parametrize(
    "parts", [[(11.0, 20)], [(0.03, 9_000), (11.0, 20)], []], ids=["silence", "a click", "nothing at all"]
)
async def test_what_is_no_speech_is_said(tmp_path, parts):
    with pytest.raises(UserError, match="Nothing was heard"):
        await heard(write(tmp_path / "m.wav", samples(*parts)))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.binary(max_size=960), max_size=60))
async def test_whatever_comes_it_ends(blocks):
    async def come():
        for block in blocks:
            yield block

    with suppress(UserError):  # nothing was heard
        assert (await listened(come(), Config(silence=0.3, voices=False))).startswith(b"RIFF")


@pytest.mark.parametrize(("name", "data"), [("gone.wav", None), ("broken.wav", b"RIFF"), ("empty.wav", b"")])
async def test_a_file_that_is_none_is_said(tmp_path, name, data):
    if data is not None:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(UserError, match="The microphone cannot be used"):
        await heard(str(tmp_path / name))
    other = write(tmp_path / "fast.wav", samples((0.1, 50)), rate=48_000)
    with pytest.raises(UserError, match="16,000 samples a second"):
        await heard(other)


async def test_a_machine_without_a_microphone_says_so():
    with pytest.raises(UserError, match="The microphone cannot be used"):
        async for _ in microphone(Config(microphone="no such device")):
            pass


class Device:
    """A microphone that gives some blocks and is unplugged then: its driver says nothing more, and raises nothing."""

    def __init__(self, blocks):
        self.blocks, self.closed = blocks, False

    def __call__(self, *, callback, **_):
        self.callback = callback
        return self

    def __enter__(self):
        for block in self.blocks:
            self.callback(block, len(block), None, None)

    def __exit__(self, *_):
        self.closed = True


async def test_a_microphone_that_is_unplugged_is_said_and_let_go(monkeypatch):
    device = Device([samples((0.03, 20))] * 3)
    module = types.SimpleNamespace(RawInputStream=device, PortAudioError=OSError)
    monkeypatch.setitem(sys.modules, "sounddevice", module)
    monkeypatch.setattr("hermes_tool_speech.microphone._DEAD", 0.1)
    with pytest.raises(UserError, match="The microphone is closed: nothing comes from it"):
        async for _ in microphone(Config(), sign=False):
            pass
    assert device.closed


async def test_what_was_said_is_what_the_person_typed(tmp_path):
    path = write(tmp_path / "m.wav", samples((0.5, 20), (1.0, 5_000), (1.0, 20)))
    ctx = plugin_context(
        MANIFEST,
        tmp_path / "home",
        config=Config(microphone=path, silence=0.5, voices=False),
        replies=[MediaResponse(model="m", texts=["What is the time?"]), MediaResponse(model="m", texts=[" "])],
    )
    talk, session = talk_command(ctx), Session(id="s", origin="cli")
    message = await talk.run(session, "")
    assert (message.role, message.parts[0].text) == ("user", "What is the time?")
    told = list[str]()
    with heard_by(told.append):
        envelope = Envelope(platform="cli", account="", event_id="1", chat="c", sender="me", message=message)
        assert await hermes_tool_speech.transform_incoming(ctx, envelope, "another's") is None
        assert not told
        for _ in range(2):
            assert await hermes_tool_speech.transform_incoming(ctx, envelope, "s") is None
    assert told == ["You said: What is the time?"], "once"
    with pytest.raises(UserError, match="No words were understood"):
        await talk.run(session, "")


async def test_why_a_conversation_ended_is_told_in_it_alone(tmp_path):
    ctx = plugin_context(MANIFEST, tmp_path / "home", config=Config(player=["false"], microphone="/none.wav"))
    session, told = Session(id="s", origin="cli"), list[str]()
    talk = talk_of(ctx)
    with heard_by(told.append):
        talk.turn_over(session, done=True)  # there is nobody who could hear what comes
        await asyncio.wait([talk._round])
        for name in ("another's", "s", "s"):
            await hermes_tool_speech.on_turn_start(ctx, Session(id=name, origin="telegram"))
    assert [line.partition(":")[0] for line in told] == ["The spoken conversation has ended"]
