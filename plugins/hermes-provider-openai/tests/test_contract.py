"""The provider keeps the contract of its kind."""

import pytest

from hermes_core.testing import ProviderContract
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
