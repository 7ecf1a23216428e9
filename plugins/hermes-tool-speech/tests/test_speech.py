"""Voice notes become text before their row, and texts become sounds."""

from pathlib import Path

import pytest

from hermes_core.errors import ToolError
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import FakeToolContext, FakeWorkspace, ScriptedProvider, plugin_context
from hermes_core.types import Blob, Feature, MediaResponse, Message, Text, Usage
from hermes_tool_speech.config import Config
from hermes_tool_speech.tool import Speak, speak_tool

NOTE = Message(role="user", parts=(Text(text="Listen:"), Blob(media_type="audio/ogg", data=b"OggS", name="n.ogg")))


class Ears(ScriptedProvider):
    """Writes down what it is given."""

    features = frozenset({Feature.TRANSCRIBE})

    def __init__(self, *steps, said="Buy milk."):
        super().__init__(steps)
        self.said, self.options = said, []

    async def transcribe(self, request):
        self.options.append(dict(request.options))
        return MediaResponse(model="ears-1", texts=[self.said for _ in request.blobs], usage=Usage(calls=1))


@pytest.fixture
def stored(hermes):
    """Play one turn with a voice note; what its session keeps of it."""

    async def play(provider):
        hermes.tmp_plugin(provider)
        hermes.tmp_plugin("hermes_tool_speech")
        async for _ in hermes.turn(NOTE, session="s"):
            pass
        return (await (await hermes.runtime.store()).history.load("s"))[0].parts

    return play


async def test_a_voice_note_is_text_in_the_session_and_for_the_model(hermes, stored) -> None:
    hermes.configure({"tools.speech.language": "en"})
    provider = Ears("Done.")
    kept = await stored(provider)
    assert [part.text for part in kept] == ["Listen:", "Buy milk."]
    assert provider.requests[0].messages[-1].parts == kept
    assert provider.options == [{"language": "en"}]


@pytest.mark.parametrize("provider", [ScriptedProvider(["I hear nothing."]), Ears("Silence.", said=" ")])
async def test_a_note_that_nobody_can_write_down_stays_as_it_is(stored, provider) -> None:
    kept = await stored(provider)
    assert [getattr(part, "name", "") for part in kept] == ["", "n.ogg"]


async def test_writing_down_can_be_switched_off(hermes, stored) -> None:
    hermes.configure({"tools.speech.write_down": False})
    provider = Ears("Done.")
    assert len(await stored(provider)) == 2
    assert provider.options == []


async def test_a_text_is_spoken_into_a_file(tmp_path) -> None:
    import hermes_tool_speech

    sound = MediaResponse(model="voice", blobs=[Blob(media_type="audio/mpeg", data=b"ID3")])
    manifest = read_manifest(Path(hermes_tool_speech.__file__).with_name("hermes-plugin.toml"))
    ctx = plugin_context(manifest, tmp_path / "home", config=Config(voice="nova"), replies=[sound])
    speak, place = speak_tool(ctx), FakeWorkspace(folder=tmp_path)
    assert await speak.run(FakeToolContext(place), Speak(text="Hello", path="out/hi")) == "Written: out/hi.mp3"
    assert (tmp_path / "out" / "hi.mp3").read_bytes() == b"ID3"
    with pytest.raises(ToolError, match="Nobody could speak"):
        await speak.run(FakeToolContext(place), Speak(text="Hello"))
