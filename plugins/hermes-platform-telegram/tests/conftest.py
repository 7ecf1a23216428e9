"""A scripted Bot API server, and the platform talking to it."""

import asyncio
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # the server and the rules of formatting lie beside the tests

from telegram_service import TOKEN, BotApiServer

from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import FakeConsole, plugin_context
from hermes_core.testing.contract_base import manifest_path


@pytest.fixture
async def service():
    """A running server."""
    server = await BotApiServer().start()
    yield server
    await server.stop()


class Listener:
    """Reads a platform as the kernel does; ``ack`` is the test's to call unless ``acks``."""

    def __init__(self, platform, *, acks=True):
        self.platform = platform
        self.acks = acks
        self._stream = platform.receive()

    async def next(self, seconds=10.0):
        envelope = await asyncio.wait_for(anext(self._stream), seconds)
        if self.acks:
            await self.platform.ack(envelope)
        return envelope

    async def nothing(self, seconds=0.3):
        """Whether nothing comes; the stream is over then."""
        try:
            await asyncio.wait_for(anext(self._stream), seconds)
        except TimeoutError:
            return True
        return False


@pytest.fixture
def made(service, tmp_path):
    """``made(seconds=1)``: a platform with these settings, not open yet; twice is a second process, same home."""
    from hermes_platform_telegram import register_platforms
    from hermes_platform_telegram.config import Config

    def make(*, token=TOKEN, secrets=None, **settings):
        manifest = read_manifest(manifest_path("hermes_platform_telegram"))
        config = Config(**{"base_url": service.url, "album_seconds": 0.1, "seconds": 5.0, **settings})
        given = {"TELEGRAM_BOT_TOKEN": token, **(secrets or {})}
        context = plugin_context(manifest, tmp_path / "home", config=config, secrets=given)
        return next(iter(register_platforms(context)))

    return make


@pytest.fixture
def opened(made):
    """``async with opened(seconds=1) as (platform, listener)``."""

    @asynccontextmanager
    async def open_(console=None, acks=True, **settings):
        platform = made(**settings)
        await platform.open(console or FakeConsole())
        try:
            yield platform, Listener(platform, acks=acks)
        finally:
            await platform.close()

    return open_


@pytest.fixture
def family(hermes, service, made):
    """A family that shares one bot, not at home yet."""
    from telegram_family import Family

    return Family(hermes, service, made(seconds=5))
