"""The provider keeps the contract of its kind."""

import pytest

from hermes_core.testing import ProviderContract, SetupContract
from hermes_core.types import Endpoint
from hermes_provider_anthropic.setup import all_steps

MODELS = '{"data": [{"type": "model", "id": "claude-fake-1", "max_input_tokens": 4096, "max_tokens": 512}]}'


class TestAnthropic(ProviderContract):
    module = "hermes_provider_anthropic"

    @pytest.fixture
    def provider(self, service, at, reply):
        said = reply.sse(reply.begin(), *reply.text(0, "Hel", "lo."), *reply.finish())
        called = reply.call(0, "toolu_1", "add", '{"a": 2, ', '"b": 3}')
        calling = reply.sse(reply.begin(), *called, *reply.finish("tool_use"))

        async def answer(writer):
            body = service.asked[-1].body
            last = body["messages"][-1]["content"][0]["type"]
            writer.write(calling if body.get("tools") and last != "tool_result" else said)
            await writer.drain()

        service.by_path["/v1/models"] = reply.http(200, MODELS)
        service.by_path["/v1/messages"] = answer
        return at()

    @pytest.fixture
    def failing(self, service, at, reply):
        def make(status, body):
            service.always = reply.http(status, body)
            return at()

        return make


class TestSetup(SetupContract):
    module = "hermes_provider_anthropic"

    @pytest.fixture
    def step(self, service, keys):
        return all_steps(keys(), {"anthropic": Endpoint(name="anthropic", base_url=service.url)})[0]

    @pytest.fixture
    def good(self, service, reply):
        service.by_path["/v1/models"] = reply.http(200, MODELS)
        return {"key": "sk-ant-very-secret"}

    @pytest.fixture
    def wrong(self, service, reply):
        service.by_path["/v1/models"] = reply.http(401, '{"error": {"message": "no such key"}}')
        return {"key": "sk-ant-very-secret"}
