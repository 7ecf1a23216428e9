"""Texts as vectors and sounds as texts: what is sent, what is understood, and what goes wrong."""

import json

import pytest

from hermes_core.errors import AuthError, Refused, Unavailable, UserError
from hermes_core.types import Blob, Feature, MediaRequest

TWO = MediaRequest(model="v", texts=("one", "two"))
SOUND = Blob(media_type="audio/ogg", data=b"OggS\0\xff", name="note.ogg")


def rows(*vectors):
    return [{"object": "embedding", "index": at, "embedding": vector} for at, vector in enumerate(vectors)]


def embedded(*vectors, **more):
    return json.dumps({"object": "list", "data": rows(*vectors), "model": "v", **more})


async def test_vectors_come_in_the_order_of_the_texts(service, at, reply):
    body = {"data": rows([1, 2], [3.5, 4])[::-1], "usage": {"prompt_tokens": 7, "total_tokens": 7}}
    service.always = reply.http(200, json.dumps(body))
    found = await at().embed(TWO)
    assert [list(vector) for vector in found.vectors] == [[1.0, 2.0], [3.5, 4.0]]
    assert (found.model, found.usage.input, found.usage.calls) == ("v", 7, 1)
    (asked,) = service.asked
    assert asked.path == "/v1/embeddings"
    assert asked.body == {"model": "v", "input": ["one", "two"], "encoding_format": "float"}
    assert asked.headers["authorization"] == "Bearer sk-test-1234567890"
    assert asked.headers["content-type"] == "application/json"


async def test_fewer_dimensions_are_asked_for_and_nothing_is_asked_for_nothing(service, at, reply):
    service.always = reply.http(200, embedded([1]))
    await at().embed(MediaRequest(model="v", texts=("x",), options={"dimensions": 1, "voice": "unknown"}))
    assert service.asked[0].body["dimensions"] == 1
    assert not (await at().embed(MediaRequest(model="v"))).vectors
    assert len(service.asked) == 1


@pytest.mark.parametrize(
    "body",
    [
        embedded([1]),
        embedded([1], [2], [3]),
        embedded([1], "AAAA"),
        embedded([1], [True]),
        json.dumps({"data": None}),
        json.dumps({"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [2]}]}),
        "[]",
        "all is well",
    ],
)
async def test_what_is_no_list_of_vectors_is_no_answer(service, at, reply, body):
    service.always = reply.http(200, body)
    with pytest.raises(Unavailable):
        await at().embed(TWO)


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (401, '{"error": {"message": "Incorrect API key provided"}}', AuthError),
        (400, '{"error": {"message": "input[0] is empty"}}', Refused),
        (404, '{"error": {"message": "no such route"}}', Unavailable),
        (503, "upstream connect error", Unavailable),
        (200, '{"error": {"message": "The server is overloaded"}}', Unavailable),
    ],
)
async def test_failures_are_those_of_conversations(service, at, reply, status, body, error):
    service.always = reply.http(status, body)
    for asks in (at().embed(TWO), at().transcribe(MediaRequest(model="e", blobs=(SOUND,)))):
        with pytest.raises(error):
            await asks


async def test_sounds_are_sent_as_files_one_by_one(service, at, reply, tmp_path):
    used = {"type": "tokens", "input_tokens": 9, "output_tokens": 2}
    service.script = [
        reply.http(200, json.dumps({"text": " Hello. ", "usage": used})),
        reply.http(200, json.dumps({"text": "Again.", "usage": {"type": "duration", "seconds": 3}})),
    ]
    (tmp_path / "again.mp3").write_bytes(b"ID3")
    kept = Blob(media_type="audio/mpeg", path=str(tmp_path / "again.mp3"))
    found = await at().transcribe(MediaRequest(model="e", blobs=(SOUND, kept), options={"language": "de"}))
    assert found.texts == ["Hello.", "Again."]
    assert (found.usage.input, found.usage.output, found.usage.calls) == (9, 2, 2)
    first, second = service.asked
    assert first.path == "/v1/audio/transcriptions"
    assert first.headers["content-type"].startswith("multipart/form-data; boundary=")
    for piece in (
        b'name="model"\r\n\r\ne\r\n',
        b'name="language"\r\n\r\nde\r\n',
        b'filename="note.ogg"',
        b"OggS\0\xff",
    ):
        assert piece in first.raw
    assert b"ID3" in second.raw


async def test_a_sound_that_is_gone_is_told(at):
    with pytest.raises(Refused, match="cannot be read"):
        await at().transcribe(MediaRequest(model="e", blobs=(Blob(media_type="audio/ogg", path="/no/such.ogg"),)))


async def test_a_service_has_its_own_models_for_it_or_wants_one_named(named, at):
    with pytest.raises(UserError, match="no model of its own to embed") as refused:
        await at().embed(MediaRequest(texts=("x",)))
    assert "auxiliary.embed.model" in refused.value.hint
    entry = named("openai", OPENAI_API_KEY="sk-x")._line().entry
    assert set(entry.media_models) == {"embed", "transcribe", "draw", "speak"}
    assert {Feature.EMBED, Feature.SEE, Feature.DRAW, Feature.SPEAK, Feature.TRANSCRIBE} == at().features
