"""The provider keeps the contract of its kind."""

import json

import pytest

from hermes_core.testing import ProviderContract, SetupContract
from hermes_core.types import Endpoint, MediaRequest
from hermes_provider_ollama.setup import all_steps

CALL = {"function": {"name": "add", "arguments": {"a": 2, "b": 3}}}


class TestOllama(ProviderContract):
    module = "hermes_provider_ollama"

    @pytest.fixture
    def provider(self, service, at, reply):
        async def answer(writer):
            body = service.asked[-1].body
            calling = body.get("tools") and body["messages"][-1]["role"] != "tool"
            said = [{"tool_calls": [CALL]}] if calling else [{"content": "Hel"}, {"content": "lo."}]
            writer.write(reply.said(*said))
            await writer.drain()

        service.by_path["/api/chat"] = answer
        vectors = {"embeddings": [[0.5, 1.0]], "prompt_eval_count": 1}
        service.by_path["/api/embed"] = reply.http(200, json.dumps(vectors))
        return at()

    @pytest.fixture
    def media(self):
        return {"embed": MediaRequest(model="vectors", texts=("a",))}

    @pytest.fixture
    def failing(self, service, at, reply):
        def make(status, body):
            service.always = reply.http(status, body)
            return at()

        return make


class TestSetup(SetupContract):
    module = "hermes_provider_ollama"

    @pytest.fixture
    def step(self, service, keys):
        return all_steps(keys(), {"ollama": Endpoint(name="ollama", base_url=service.url)})[0]

    @pytest.fixture
    def good(self, service):
        return {"base_url": service.url}

    @pytest.fixture
    def wrong(self):
        return {"base_url": "http://127.0.0.1:9"}
