"""The platform contract, kept against a scripted Bot API server."""

import pytest
from telegram_service import TOKEN

from hermes_core.testing import PlatformContract, SetupContract, plugin_context
from hermes_platform_telegram.config import Config


class TestTelegram(PlatformContract):
    module = "hermes_platform_telegram"

    @pytest.fixture
    def context(self, manifest, tmp_path, service):
        config = Config(base_url=service.url)
        return plugin_context(manifest, tmp_path / "home", config=config, secrets={"TELEGRAM_BOT_TOKEN": TOKEN})

    @pytest.fixture
    async def service(self, service):
        return service


class TestSetup(SetupContract):
    module = "hermes_platform_telegram"

    @pytest.fixture
    def context(self, manifest, tmp_path, service):
        return plugin_context(manifest, tmp_path / "home", config=Config(base_url=service.url))

    @pytest.fixture
    def good(self):
        return {"token": TOKEN}

    @pytest.fixture
    def wrong(self):
        return {"token": "5:AAwrong_token_000"}
