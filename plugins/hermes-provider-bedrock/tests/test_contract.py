"""The provider keeps the contract of its kind."""

import json

import pytest

from hermes_core.testing import ProviderContract, SetupContract
from hermes_core.testing.model_service import http
from hermes_core.types import Endpoint
from hermes_provider_bedrock.config import Config
from hermes_provider_bedrock.setup import all_steps

ROW = {"modelId": "amazon.nova-pro-v1:0", "inputModalities": ["TEXT", "IMAGE"], "responseStreamingSupported": True}
MODELS = json.dumps({"modelSummaries": [{**ROW, "inferenceTypesSupported": ["ON_DEMAND"]}]})
PATH = "/model/amazon.nova-pro-v1%3A0/converse-stream"


class TestBedrock(ProviderContract):
    module = "hermes_provider_bedrock"

    @pytest.fixture
    def model(self):
        return "amazon.nova-pro-v1:0"

    @pytest.fixture
    def provider(self, service, at, wire):
        said = wire.streamed(wire.reply(wire.block(0, {"text": "Hel"}, {"text": "lo."})))
        calling = wire.streamed(wire.reply(wire.call(0, "tooluse_1", "add", '{"a": 2,', ' "b": 3}'), reason="tool_use"))

        async def answer(writer):
            body = service.asked[-1].body
            assert not wire.problems(body)
            results = [block for block in body["messages"][-1]["content"] if "toolResult" in block]
            writer.write(calling if "toolConfig" in body and not results else said)
            await writer.drain()

        service.by_path["/foundation-models"] = http(200, MODELS)
        service.by_path["/inference-profiles"] = http(200, '{"inferenceProfileSummaries": []}')
        service.by_path[PATH] = answer
        return at()

    @pytest.fixture
    def failing(self, service, at):
        def make(status, body):
            service.always = http(status, body)
            return at()

        return make

    @pytest.fixture
    def too_long(self):
        return 400, json.dumps({"message": "Input is too long for requested model."})


class TestSetup(SetupContract):
    module = "hermes_provider_bedrock"

    @pytest.fixture
    def step(self, service, keys):
        at = {"bedrock": Endpoint(name="bedrock", base_url=service.url)}
        return all_steps(keys(), at, Config())[0]

    @pytest.fixture
    def good(self, service):
        service.by_path["/foundation-models"] = http(200, MODELS)
        service.by_path["/inference-profiles"] = http(200, "{}")
        return {"region": "eu-central-1", "key": "ABSK-very-secret"}

    @pytest.fixture
    def wrong(self, service, wire):
        said = wire.failed(403, "UnrecognizedClientException", "The security token included in the request is invalid.")
        service.by_path["/foundation-models"] = said
        return {"region": "eu-central-1", "key": "ABSK-very-secret"}
