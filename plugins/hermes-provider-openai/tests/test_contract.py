"""The provider keeps the contract of its kind."""

import pytest

from hermes_core.testing import ProviderContract, SetupContract
from hermes_core.testing.wire_replies import Said, SaidCall

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
