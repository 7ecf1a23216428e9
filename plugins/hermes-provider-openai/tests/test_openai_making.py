"""Pictures seen and drawn, texts read aloud: what is sent, what is understood, and what goes wrong."""

import base64
import json

import pytest

from hermes_core.errors import AuthError, Refused, Unavailable, UserError
from hermes_core.testing.protocol_replies import Said
from hermes_core.types import Blob, MediaRequest

PNG = b"\x89PNG\r\n"
FOX = MediaRequest(model="hands", texts=("A fox.",), options={"size": "1024x1024"})
PICTURE = Blob(media_type="image/png", data=PNG, name="fox.png")


def drawn(*pictures, **more):
    return json.dumps({"data": [{"b64_json": base64.b64encode(p).decode()} for p in pictures], **more})


async def test_a_picture_is_drawn_from_words(service, at, reply):
    used = {"input_tokens": 5, "output_tokens": 1000, "total_tokens": 1005}
    service.always = reply.http(200, drawn(PNG, output_format="webp", usage=used))
    found = await at().draw(FOX)
    [blob] = found.blobs
    assert (blob.media_type, blob.data, blob.name) == ("image/webp", PNG, "picture.webp")
    assert (found.model, found.usage.input, found.usage.output, found.usage.calls) == ("hands", 5, 1000, 1)
    (asked,) = service.asked
    assert asked.path == "/v1/images/generations"
    assert asked.body == {"model": "hands", "prompt": "A fox.", "size": "1024x1024"}


async def test_an_older_model_is_told_to_answer_with_the_picture(service, at, reply):
    service.always = reply.http(200, drawn(PNG))
    await at().draw(MediaRequest(model="dall-e-3", texts=("A fox.",)))
    assert service.asked[0].body["response_format"] == "b64_json"


async def test_given_pictures_are_sent_to_be_changed(service, at, reply):
    service.always = reply.http(200, drawn(PNG))
    await at().draw(MediaRequest(model="hands", texts=("Make it", "blue."), blobs=(PICTURE, PICTURE)))
    (asked,) = service.asked
    assert asked.path == "/v1/images/edits"
    assert asked.raw.count(b'name="image[]"; filename="fox.png"') == 2
    assert b"Make it\n\nblue." in asked.raw


@pytest.mark.parametrize(
    "body", ['{"data": []}', "{}", '{"data": [{"url": "https://x"}]}', '{"data": [{"b64_json": "?"}]}']
)
async def test_what_is_no_picture_is_no_answer(service, at, reply, body):
    service.always = reply.http(200, body)
    with pytest.raises(Unavailable):
        await at().draw(FOX)


async def test_texts_are_read_aloud_one_by_one(service, at, reply):
    service.script = [reply.http(200, b"ID3one", "audio/mpeg"), reply.http(200, b"two", "application/octet-stream")]
    found = await at().speak(MediaRequest(model="mouth", texts=("One.", "Two."), options={"voice": "sage"}))
    assert [(b.data, b.media_type) for b in found.blobs] == [(b"ID3one", "audio/mpeg"), (b"two", "audio/mpeg")]
    assert (found.model, found.usage.calls) == ("mouth", 2)
    assert service.asked[0].path == "/v1/audio/speech"
    assert service.asked[0].body == {"model": "mouth", "input": "One.", "voice": "sage", "response_format": "mp3"}


@pytest.mark.parametrize(("body", "kind"), [(b"", "audio/mpeg"), (b"{}", "application/json"), (b"<p>", "text/html")])
async def test_what_is_no_sound_is_no_answer(service, at, reply, body, kind):
    service.always = reply.http(200, body, kind)
    with pytest.raises(Unavailable):
        await at().speak(MediaRequest(model="mouth", texts=("One.",)))


async def test_a_picture_is_seen_in_a_conversation_of_one_question(service, at, reply):
    service.always = reply.said("chat", Said(pieces=("A ", "fox.")))
    found = await at().see(MediaRequest(model="eyes", texts=("What is it?",), blobs=(PICTURE,)))
    assert (found.texts, found.model, found.usage.calls) == (("A fox.",), "eyes", 1)
    [message] = service.asked[0].body["messages"]
    assert [part["type"] for part in message["content"]] == ["text", "image_url"]
    assert message["content"][1]["image_url"]["url"].startswith("data:image/png;base64,")


async def test_without_a_question_it_is_described_and_nothing_is_no_description(service, at, reply):
    service.always = reply.said("chat", Said(pieces=()))
    with pytest.raises(Refused, match="said nothing"):
        await at().see(MediaRequest(model="eyes", blobs=(PICTURE,)))
    assert "Say what this shows" in json.dumps(service.asked[0].body["messages"])


async def test_failures_are_those_of_conversations(service, at, reply):
    service.always = reply.http(401, '{"error": {"message": "Incorrect API key provided"}}')
    asked = MediaRequest(model="m", texts=("x",), blobs=(PICTURE,))
    for verb in ("see", "draw", "speak"):
        with pytest.raises(AuthError):
            await getattr(at(), verb)(asked)


@pytest.mark.parametrize("verb", ["draw", "speak"])
async def test_a_model_is_named_or_the_services_own(at, verb):
    with pytest.raises(UserError, match=f"no model of its own to {verb}"):
        await getattr(at(), verb)(MediaRequest(texts=("x",)))
