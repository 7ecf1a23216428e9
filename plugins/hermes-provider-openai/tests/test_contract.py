"""The provider keeps the contract of its kind."""

import json

import pytest

from hermes_core.testing import ProviderContract

USAGE = {"prompt_tokens": 9, "completion_tokens": 3}


def _event(delta: dict[str, object], finish: str | None = None) -> str:
    chunk = {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    return f"data: {json.dumps(chunk)}\n\n"


TEXT = _event({"content": "Hel"}) + _event({"content": "lo."}) + _event({}, "stop")
CALL = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "add", "arguments": '{"a": 2, '}}
TOOLS = (
    _event({"tool_calls": [CALL]})
    + _event({"tool_calls": [{"index": 0, "function": {"arguments": '"b": 3}'}}]})
    + _event({}, "tool_calls")
)
END = f"data: {json.dumps({'choices': [], 'usage': USAGE})}\n\ndata: [DONE]\n\n"


class TestOpenai(ProviderContract):
    module = "hermes_provider_openai"

    @pytest.fixture
    def provider(self, service, at, reply):
        async def answer(writer):
            body = service.asked[-1].body
            wants_tool = body.get("tools") and body["messages"][-1]["role"] == "user"
            writer.write(reply.sse((TOOLS if wants_tool else TEXT) + END))
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
