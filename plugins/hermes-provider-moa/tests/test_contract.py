"""The provider keeps the contract of its kind."""

from contextlib import asynccontextmanager

import pytest

from hermes_core.control import Trial
from hermes_core.testing import ProviderContract
from hermes_core.types import Message, Response, Text, ToolCall, Usage
from hermes_provider_moa.config import Config
from hermes_provider_moa.provider import Mixture

USAGE = Usage(input=10, output=5, calls=1)


class Models:
    """Who answers where the kernel would ask models: a call where tools are on offer, else a word."""

    async def complete(self, request, task="", session=None):
        heard = any(message.role == "tool" for message in request.messages)
        call = ToolCall(id="c1", name="add", arguments={"a": 2, "b": 3})
        calls = bool(request.tools) and not heard
        parts = (call,) if calls else (Text(text="Hello."),)
        message = Message(role="assistant", parts=parts)
        return Response(message=message, reason="tools" if calls else "stop", usage=USAGE)


class Beside:
    """Opens no kernel."""

    @asynccontextmanager
    async def trial(self, settings, secrets):
        yield Trial(Models(), None)


class TestMixture(ProviderContract):
    module = "hermes_provider_moa"

    @pytest.fixture
    def provider(self):
        config = Config(references=["a:x", "b:y"], aggregator="c:z")
        return Mixture(Beside(), config, tell=lambda _text: None)
