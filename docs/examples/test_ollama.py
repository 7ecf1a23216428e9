"""The wire of a page keeps the contract of providers, against a server that speaks as Ollama does."""

import json
from pathlib import Path

import ollama
import pytest
from ollama.wire import Native

from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import ProviderContract, plugin_context
from hermes_core.testing.model_service import http, model_service
from hermes_core.types import Endpoint

MODELS = http(200, json.dumps({"models": [{"name": "tiny:1b", "size": 1}]}))
LAST = {"model": "tiny:1b", "done": True, "done_reason": "stop", "prompt_eval_count": 7, "eval_count": 3}
CALL = {"function": {"name": "add", "arguments": {"a": 2, "b": 3}}}


def lines(*messages, last=LAST):
    said = [{"model": "tiny:1b", "message": {"role": "assistant", **one}, "done": False} for one in messages]
    return http(200, "".join(json.dumps(one) + "\n" for one in [*said, last]), "application/x-ndjson")


@pytest.fixture
async def service():
    async with model_service() as made:
        yield made


@pytest.fixture
async def at(service, tmp_path):
    secrets = plugin_context(read_manifest(Path(ollama.__file__).with_name("hermes-plugin.toml")), tmp_path).secrets
    made = Native(secrets, Endpoint(name="ollama-native", base_url=service.url))
    yield made
    await made.close()


class TestOllama(ProviderContract):
    module = "ollama"

    @pytest.fixture
    def provider(self, service, at):
        async def answer(writer):
            calling = (body := service.asked[-1].body)["tools"] and body["messages"][-1]["role"] != "tool"
            said = [{"tool_calls": [CALL]}] if calling else [{"content": "Hel"}, {"content": "lo."}]
            writer.write(lines(*said))
            await writer.drain()

        service.by_path["/api/tags"], service.by_path["/api/chat"] = MODELS, answer
        return at

    @pytest.fixture
    def failing(self, service, at):
        def make(status, body):
            service.always, service.by_path["/api/tags"] = http(status, body), MODELS
            return at

        return make
