"""The providers and their setup steps keep the contracts of their kinds."""

import pytest

from hermes_core.testing import MaskerContract, ProviderContract, SetupContract
from hermes_core.testing.model_service import http
from hermes_provider_subscriptions.masker import Tokens
from hermes_provider_subscriptions.setup import Step


class TestCopilot(ProviderContract):
    module = "hermes_provider_subscriptions"
    name = "copilot"

    @pytest.fixture
    async def provider(self, enter, opened):
        await enter(self.name)
        return opened(self.name)

    @pytest.fixture
    async def failing(self, server, enter, opened):
        await enter(self.name)
        path = "/chat/completions" if self.name == "copilot" else "/codex/responses"

        def make(status, body):
            server.service.by_path[path] = http(status, body)
            return opened(self.name)

        return make


@pytest.mark.long  # the SDK of its protocol takes seconds to import
class TestCodex(TestCopilot):
    name = "codex"


class TestSetup(SetupContract):
    module = "hermes_provider_subscriptions"

    @pytest.fixture
    async def step(self, ctx, enter):
        await enter("codex")
        return Step(ctx, "codex")

    @pytest.fixture
    def good(self):
        return {"account": "default"}

    @pytest.fixture
    def wrong(self):
        return {"account": "nobody"}


class TestMasker(MaskerContract):
    module = "hermes_provider_subscriptions"
    secrets_in = (("it says acc-000000000001-zQ7 there", "acc-000000000001-zQ7"),)
    harmless = ("acc-000000000002-zQ8", "Hello.")

    @pytest.fixture
    async def masker(self, ctx, enter):
        await enter("codex")
        return Tokens(ctx)
