"""A voice note without a model behind it, and one that nobody can write down."""

import voice

from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import plugin_context
from hermes_core.types import Blob, Envelope, MediaResponse, Message, Text

NOTE = Message(role="user", parts=(Text(text="Listen:"), Blob(media_type="audio/ogg", data=b"OggS")))
SAID = Envelope(platform="fake", account="", event_id="1", chat="c", sender="s", message=NOTE)


async def heard(tmp_path, *replies):
    ctx = plugin_context(read_manifest(voice.__file__), tmp_path, replies=replies)
    return await voice.transform_incoming(ctx, SAID)


async def test_a_voice_note_becomes_text(tmp_path):
    changed = await heard(tmp_path, MediaResponse(model="m", texts=["Buy milk."]))
    assert [part.text for part in changed.message.parts] == ["Listen:", "Buy milk."]


async def test_a_note_that_nobody_can_write_down_is_left_as_it_is(tmp_path):
    assert await heard(tmp_path) is None
