"""The provider keeps the contract of its kind."""

import json

import pytest

from hermes_core.testing import ProviderContract, SetupContract
from hermes_core.testing.protocol_replies import Said, SaidCall
from hermes_core.types import Blob, MediaRequest

TEXT = Said(pieces=("Hel", "lo."))
TOOLS = Said(calls=(SaidCall("add", '{"a": 2, "b": 3}'),))


class TestOpenai(ProviderContract):
    module = "hermes_provider_openai"

    @pytest.fixture
    def provider(self, service, at, reply):
        async def answer(writer):
            body = service.asked[-1].body
            wants_tool = body.get("tools") and body["messages"][-1]["role"] == "user"
            writer.write(reply.said("chat", TOOLS if wants_tool else TEXT))
            await writer.drain()

        service.by_path["/v1/models"] = reply.http(200, '{"data": [{"id": "fake-1", "context_length": 4096}]}')
        service.by_path["/v1/chat/completions"] = answer
        return at()

    @pytest.fixture
    def media(self, service, reply):
        vectors = [{"index": 1, "embedding": [0.5, 1]}, {"index": 0, "embedding": [0.25, 0]}]
        used = {"prompt_tokens": 2, "total_tokens": 2}
        service.by_path["/v1/embeddings"] = reply.http(200, json.dumps({"data": vectors, "usage": used}))
        service.by_path["/v1/audio/transcriptions"] = reply.http(200, '{"text": "Hello."}')
        service.by_path["/v1/images/generations"] = reply.http(200, '{"data": [{"b64_json": "iVBORw=="}]}')
        service.by_path["/v1/audio/speech"] = reply.http(200, "ID3", "audio/mpeg")
        sound = Blob(media_type="audio/ogg", data=b"OggS", name="note.ogg")
        picture = Blob(media_type="image/png", data=b"\x89PNG", name="fox.png")
        return {
            "embed": MediaRequest(model="vectors-1", texts=("a", "b")),
            "transcribe": MediaRequest(model="ears-1", blobs=(sound,)),
            "see": MediaRequest(model="fake-1", texts=("What is this?",), blobs=(picture,)),
            "draw": MediaRequest(model="hands-1", texts=("A fox.",)),
            "speak": MediaRequest(model="mouth-1", texts=("Hello.",)),
        }

    @pytest.fixture
    def failing(self, service, at, reply):
        def make(status, body):
            service.always = reply.http(status, body)
            return at()

        return make


class TestSetup(SetupContract):
    module = "hermes_provider_openai"

    @pytest.fixture
    def step(self, contributed):
        return next(step for step in contributed["setup"] if step.name == "custom")

    @pytest.fixture
    def good(self, service, reply):
        service.by_path["/v1/models"] = reply.http(200, '{"data": [{"id": "fake-1"}]}')
        return {"base_url": service.url, "key": "sk-very-secret"}

    @pytest.fixture
    def wrong(self, service, reply):
        service.by_path["/v1/models"] = reply.http(401, '{"error": {"message": "no such key: sk-very-secret"}}')
        return {"base_url": service.url, "key": "sk-very-secret"}
