"""Real programs: espeak-ng speaks, sox measures it, ffmpeg makes a voice note; and faster-whisper is loaded."""

import os
import subprocess
from pathlib import Path

import pytest

import hermes_tool_speech
from hermes_core.errors import HermesError
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import plugin_context
from hermes_core.types import Blob
from hermes_tool_speech.config import Config
from hermes_tool_speech.spoken import as_note
from hermes_tool_speech.ways import hearing, speaking

from .untrained import write_model

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]

MANIFEST = read_manifest(Path(hermes_tool_speech.__file__).with_name("hermes-plugin.toml"))


@pytest.fixture
def make(tmp_path):
    def make(**settings):
        return plugin_context(MANIFEST, tmp_path / "home", config=Config(**settings))

    return make


def measured(path: Path) -> dict[str, float]:
    """What sox says of a sound."""
    said = subprocess.run(["sox", str(path), "-n", "stat"], capture_output=True, text=True, check=True).stderr
    rows = (line.partition(":") for line in said.splitlines())
    return {" ".join(name.split()): float(value) for name, sign, value in rows if sign and value.strip()}


def decoded(note: Path, to: Path) -> None:
    subprocess.run(["ffmpeg", "-v", "error", "-i", note, to], check=True)


async def test_what_espeak_says_is_sound_and_longer_texts_last_longer(make, tmp_path):
    way, lengths = speaking(make(speak_with="espeak-ng")), []
    for text in ("Hello.", "Hello, this is a sentence that takes a while to say aloud; 'quotes' and $(words) too."):
        sound = await way.speak(text)
        assert sound.media_type == "audio/wav"
        path = tmp_path / "said.wav"
        path.write_bytes(sound.data)
        figures = measured(path)
        assert figures["RMS amplitude"] > 0.01, "it is no silence"
        lengths.append(figures["Length (seconds)"])
    assert 0.3 < lengths[0] < lengths[1]
    assert not [one for one in os.listdir("/tmp") if one.startswith("hermes-speech-")], "nothing is left"  # noqa: PTH208


async def test_a_sound_becomes_a_voice_note(make, tmp_path):
    ctx = make(speak_with="espeak-ng")
    note = await as_note(ctx, await speaking(ctx).speak("Good morning, everybody."))
    assert note.media_type == "audio/ogg"
    assert b"OpusHead" in note.data[:80]
    path, back = tmp_path / "note.ogg", tmp_path / "back.wav"
    path.write_bytes(note.data)
    decoded(path, back)
    assert measured(back)["RMS amplitude"] > 0.01
    again = await as_note(ctx, note)
    assert again is note


async def test_what_is_no_sound_stays_what_it_is(make):
    broken = Blob(media_type="audio/mpeg", data=b"not a sound at all")
    assert await as_note(make(), broken) is broken


async def test_a_program_of_the_person_hears_behind_a_wall(make, tmp_path):
    secret, script = tmp_path / "secret", tmp_path / "ears"
    secret.write_text("private")
    script.write_text(
        "#!/bin/sh\n"
        f'cat {secret} 2>/dev/null && exit 3\ntest -n "$HOME" || exit 4\nprintf "%s bytes, %s" "$(wc -c < "$1")" "$2"\n'
    )
    script.chmod(0o755)
    ctx = make(hear_with="ears", language="de", programs={"ears": {"hear": [str(script), "{input}", "{language}"]}})
    assert await hearing(ctx).hear(Blob(media_type="audio/ogg", data=b"OggS" * 5)) == "20 bytes, de"


@pytest.mark.parametrize(
    ("words", "why"),
    [(["false"], "exit 1"), (["sleep", "60"], "within 1 seconds"), (["no-such-program"], "There is no program")],
)
async def test_a_program_that_fails_is_told_in_a_line(make, words, why):
    ctx = make(hear_with="ears", programs={"ears": {"hear": words, "seconds": 1}})
    with pytest.raises(HermesError) as failed:
        await hearing(ctx).hear(Blob(media_type="audio/ogg", data=b"OggS"))
    assert why in str(failed.value)


async def test_a_program_that_writes_no_sound_is_told(make):
    for words, why in ((["true"], "wrote no sound"), (["cp", "{text}", "{output}"], "wrote what is no sound")):
        ctx = make(speak_with="mouth", programs={"mouth": {"speak": words}})
        with pytest.raises(HermesError, match=why):
            await speaking(ctx).speak("Hello")


async def test_whisper_without_a_model_says_what_is_missing(make, tmp_path):
    sound = Blob(media_type="audio/ogg", data=b"OggS")
    with pytest.raises(HermesError, match=r"No model .* tools\.speech\.whisper"):
        await hearing(make(hear_with="faster-whisper")).hear(sound)
    with pytest.raises(HermesError, match=r"holds no model .* model\.bin"):
        await hearing(make(hear_with="faster-whisper", whisper=str(tmp_path))).hear(sound)
    for name in ("model.bin", "tokenizer.json", "config.json"):
        (tmp_path / name).write_bytes(b"{}")
    ctx = make(hear_with="faster-whisper", whisper=str(tmp_path), speak_with="espeak-ng")
    said = await speaking(ctx).speak("Hello")
    with pytest.raises(HermesError, match="faster-whisper could not hear it"):
        await hearing(ctx).hear(said)


async def test_whisper_is_loaded_and_run_on_a_real_voice_note(make, tmp_path):
    model = tmp_path / "model"
    model.mkdir()
    write_model(model)
    ctx = make(speak_with="espeak-ng", hear_with="faster-whisper", whisper=str(model), language="en")
    note = await as_note(ctx, await speaking(ctx).speak("Hello there."))
    assert await hearing(ctx).hear(note), "nobody trained it, so it is nonsense; but it was heard"
    loaded = ctx.state["whisper"]
    await hearing(ctx).hear(note)
    assert ctx.state["whisper"] is loaded, "it is loaded once"
    with pytest.raises(HermesError, match="ffmpeg failed"):
        await hearing(ctx).hear(Blob(media_type="audio/ogg", data=b"not a sound"))
