"""The providers and their setup steps keep the contracts of their kinds."""

import pytest

from hermes_core.testing import MaskerContract, ProviderContract, SetupContract
from hermes_core.testing.model_service import http
from hermes_provider_subscriptions.setup import Step


class TestCopilot(ProviderContract):
    module = "hermes_provider_subscriptions"
    name = "copilot"

    @pytest.fixture
    async def provider(self, enter, provider):
        await enter(self.name)
        return provider(self.name)

    @pytest.fixture
    async def failing(self, server, enter, provider):
        await enter(self.name)
        path = "/chat/completions" if self.name == "copilot" else "/codex/responses"

        def make(status, body):
            server.service.by_path[path] = http(status, body)
            return provider(self.name)

        return make


class TestCodex(TestCopilot):
    name = "codex"


class TestSetup(SetupContract):
    module = "hermes_provider_subscriptions"

    @pytest.fixture
    def step(self, ctx):
        return Step(ctx, "copilot")

    @pytest.fixture
    async def good(self, enter):
        await enter("copilot")
        return {"account": "default"}

    @pytest.fixture
    def wrong(self):
        return {"account": "nobody"}


class TestMasker(MaskerContract):
    module = "hermes_provider_subscriptions"
