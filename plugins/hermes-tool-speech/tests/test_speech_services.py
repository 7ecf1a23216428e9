"""Services as rows: what each is asked, where its answer is, and what is said when it fails."""

import base64
import io
import json
import wave
from pathlib import Path

import pytest

import hermes_tool_speech
from hermes_core.errors import HermesError, UserError
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import plugin_context
from hermes_core.types import Blob
from hermes_tool_kit.testing import LoopbackService
from hermes_tool_speech.config import Config
from hermes_tool_speech.services import services
from hermes_tool_speech.ways import hearing, must_sound, speaking

KEY = "k3y-that-nobody-sees"
MANIFEST = read_manifest(Path(hermes_tool_speech.__file__).with_name("hermes-plugin.toml"))
SOUND = b"OggS" + bytes(range(200))


@pytest.fixture
def server():
    made = LoopbackService()
    yield made
    made.close()


@pytest.fixture
def make(tmp_path, server):
    """A context with these settings, whose services are the server."""

    def make(**settings):
        secrets = {row.key: KEY for row in services().values()}
        settings = {"service_url": server.url, **settings}
        return plugin_context(MANIFEST, tmp_path / "home", config=Config(**settings), secrets=secrets)

    return make


PCM = b"\x00\x01" * 240
ANSWERS = {
    # name: the answer, the sound in it, what the body must hold
    "elevenlabs": (b"ID3sound", b"ID3sound", {"text": "Hello, you.", "model_id": "eleven_multilingual_v2"}),
    "deepgram": (b"ID3sound", b"ID3sound", {"text": "Hello, you."}),
    "google": (json.dumps({"audioContent": base64.b64encode(SOUND).decode()}).encode(), SOUND,
               {"input": {"text": "Hello, you."}}),
    "gemini": (json.dumps({"candidates": [{"content": {"parts": [
        {"inlineData": {"mimeType": "audio/L16", "data": base64.b64encode(PCM).decode()}}]}}]}).encode(), PCM,
        {"contents": [{"parts": [{"text": "Hello, you."}]}]}),
    "minimax": (json.dumps({"data": {"audio": b"ID3sound".hex()}}).encode(), b"ID3sound", {"text": "Hello, you."}),
}  # fmt: skip


def test_every_service_that_speaks_is_tried():
    assert ANSWERS.keys() == {name for name, row in services().items() if row.speak}
    assert {row.key for row in services().values()} <= set(MANIFEST.secrets)
    assert all(row.base.removeprefix("https://") in MANIFEST.network for row in services().values())


@pytest.mark.parametrize("name", ANSWERS)
async def test_a_service_speaks(name, make, server):
    said, sound, holds = ANSWERS[name]
    server.answer = (200, "application/octet-stream", said)
    got = await speaking(make(speak_with=name)).speak("Hello, you.")
    if name == "gemini":
        with wave.open(io.BytesIO(got.data)) as file:
            assert (file.getframerate(), file.readframes(1_000)) == (24_000, sound)
    else:
        assert got.data == sound
    assert got.media_type == services()[name].speak["kind"]
    (asked,) = server.asked
    path, headers, body = asked.path, asked.headers, asked.body
    assert holds.items() <= json.loads(body).items()
    assert KEY in " ".join(headers.values())
    assert KEY not in path
    assert "{" not in path + body.decode().replace('{"', "")


async def test_a_service_hears_a_file_in_a_form(make, server):
    server.answer = (200, "application/json", b'{"text": " Buy milk. "}')
    ctx = make(hear_with="elevenlabs", language="en")
    assert await hearing(ctx).hear(Blob(media_type="audio/ogg; codecs=opus", data=SOUND)) == "Buy milk."
    (asked,) = server.asked
    path, headers, body = asked.path, asked.headers, asked.body
    assert path == "/v1/speech-to-text"
    assert headers["Content-Type"].startswith("multipart/form-data; boundary=")
    assert SOUND in body
    for part in (
        b'name="model_id"\r\n\r\nscribe_v2\r\n',
        b'name="language_code"\r\n\r\nen\r\n',
        b'filename="sound.ogg"',
    ):
        assert part in body


async def test_a_service_hears_a_bare_sound_and_what_is_not_set_is_not_asked(make, server):
    heard = {"results": {"channels": [{"alternatives": [{"transcript": "Good morning."}]}]}}
    server.answer = (200, "application/json", json.dumps(heard).encode())
    ctx = make(hear_with="deepgram")
    assert await hearing(ctx).hear(Blob(media_type="audio/ogg", data=SOUND)) == "Good morning."
    (asked,) = server.asked
    path, headers, body = asked.path, asked.headers, asked.body
    assert path == "/v1/listen?smart_format=true&model=nova-3"
    assert (headers["Content-Type"], body) == ("audio/ogg", SOUND)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((401, "text/plain", b"no"), "does not take the key in ELEVENLABS_API_KEY"),
        ((429, "text/plain", b"no"), "HTTP 429"),
        ((500, "text/plain", KEY.encode()), "HTTP 500"),
        ((200, "application/json", b"{"), "cannot be read"),
        ((200, "application/json", b'{"text'), "cannot be read"),
        ((200, "application/json", b"[1, 2]"), "cannot be read"),
        ((200, "application/json", b""), "nothing whole"),
    ],
)
async def test_what_fails_is_said_in_a_line_without_the_key(answer, words, make, server):
    server.answer = answer
    with pytest.raises(HermesError) as failed:
        await hearing(make(hear_with="elevenlabs")).hear(Blob(media_type="audio/ogg", data=SOUND))
    assert words in str(failed.value)
    assert KEY not in str(failed.value)


async def test_without_a_key_nothing_is_asked(tmp_path, server):
    config = Config(speak_with="deepgram", service_url=server.url)
    ctx = plugin_context(MANIFEST, tmp_path / "home", config=config)
    with pytest.raises(UserError, match="needs the secret DEEPGRAM_API_KEY"):
        await speaking(ctx).speak("Hello")
    assert not server.asked


async def test_who_cannot_do_it_and_who_is_nobody_is_said(make):
    with pytest.raises(UserError, match="MiniMax does not hear"):
        await hearing(make(hear_with="minimax")).hear(Blob(media_type="audio/ogg", data=SOUND))
    with pytest.raises(UserError, match="'parrot', which is none") as failed:
        speaking(make(speak_with="parrot"))
    assert "espeak-ng" in failed.value.hint
    with pytest.raises(UserError, match="from 1 to"):
        await hearing(make(hear_with="deepgram")).hear(Blob(media_type="audio/ogg", data=b""))


@pytest.mark.parametrize("said", [b'{"error": "quota"}', b"<html>", "Zu viele Anfragen für heute".encode()])
async def test_who_gives_a_text_when_asked_to_speak_is_no_voice(said, make, server):
    server.answer = (200, "application/json", said)
    with pytest.raises(HermesError, match=r"ElevenLabs was to speak, and gave no sound\."):
        await speaking(make(speak_with="elevenlabs")).speak("Hello, you.")
    for made in (Blob(media_type="audio/mpeg", data=said), Blob(media_type="image/png", data=b"\x89PNG\r\n")):
        with pytest.raises(HermesError, match="gave no sound"):
            must_sound("the model", made)
