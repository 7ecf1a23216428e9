"""The provider keeps the contract of its kind."""

import json

import pytest

from hermes_core.testing import ProviderContract, SetupContract
from hermes_core.types import Endpoint
from hermes_provider_gemini.setup import all_steps

ROW = {"name": "models/gemini-3-pro", "inputTokenLimit": 4096, "outputTokenLimit": 512, "thinking": True}
MODELS = json.dumps({"models": [{**ROW, "supportedGenerationMethods": ["generateContent", "countTokens"]}]})


class TestGemini(ProviderContract):
    module = "hermes_provider_gemini"

    @pytest.fixture
    def provider(self, service, at, reply):
        said = reply.sse(reply.piece({"text": "Hel"}), reply.piece({"text": "lo."}, reason="STOP"))
        call = {"functionCall": {"name": "add", "args": {"a": 2, "b": 3}}, "thoughtSignature": "c2lnbmVk"}
        calling = reply.sse(reply.piece(call, reason="STOP"))

        async def answer(writer):
            body = service.asked[-1].body
            results = [part for part in body["contents"][-1]["parts"] if "functionResponse" in part]
            writer.write(calling if body.get("tools") and not results else said)
            await writer.drain()

        service.by_path["/models"] = reply.http(200, MODELS)
        service.by_path["/models/gemini-3-pro:streamGenerateContent"] = answer
        return at()

    @pytest.fixture
    def failing(self, service, at, reply):
        def make(status, body):
            service.always = reply.http(status, body)
            return at()

        return make

    @pytest.fixture
    def too_long(self):
        said = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
        return 400, json.dumps({"error": {"code": 400, "message": said, "status": "INVALID_ARGUMENT"}})


class TestSetup(SetupContract):
    module = "hermes_provider_gemini"

    @pytest.fixture
    def step(self, service, keys):
        return all_steps(keys(), {"gemini": Endpoint(name="gemini", base_url=service.url)})[0]

    @pytest.fixture
    def good(self, service, reply):
        service.by_path["/models"] = reply.http(200, MODELS)
        return {"key": "AIza-very-secret"}

    @pytest.fixture
    def wrong(self, service, reply):
        said = {"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT"}}
        service.by_path["/models"] = reply.http(400, json.dumps(said))
        return {"key": "AIza-very-secret"}
