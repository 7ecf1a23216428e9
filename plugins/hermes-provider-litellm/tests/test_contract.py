"""The provider keeps the contract of its kind, with the library itself."""

import json

import pytest

from hermes_core.testing import ProviderContract
from hermes_core.testing.model_service import http
from hermes_core.testing.protocol_replies import Said, SaidCall, events_of, stream_of

pytestmark = [pytest.mark.real, pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(120)]


def streamed(said):
    return http(200, stream_of("chat", events_of("chat", said)), "text/event-stream")


class TestLiteLLM(ProviderContract):
    module = "hermes_provider_litellm"

    @pytest.fixture
    def model(self):
        return "openai/gpt-4o"

    @pytest.fixture
    def provider(self, service, at, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", "sk-env")

        async def answer(writer):
            body = service.asked[-1].body
            calling = body.get("tools") and body["messages"][-1]["role"] != "tool"
            call = SaidCall(name="add", arguments='{"a": 2, "b": 3}')
            writer.write(streamed(Said(calls=(call,)) if calling else Said(pieces=("Hel", "lo."))))
            await writer.drain()

        service.by_path["/v1/chat/completions"] = answer
        return at("/v1")

    @pytest.fixture
    def failing(self, service, at):
        def make(status, body):
            service.always = http(status, body)
            return at("/v1")

        return make

    @pytest.fixture
    def too_long(self):
        said = "This model's maximum context length is 4096 tokens. However, your messages resulted in 9000 tokens."
        error = {"message": said, "type": "invalid_request_error", "param": "messages"}
        return 400, json.dumps({"error": {**error, "code": "context_length_exceeded"}})
