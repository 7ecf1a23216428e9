"""The contract of every plugin, and of platforms as far as a server that only answers can keep it."""

from typing import Any

import pytest

from hermes_core.context import PluginContext
from hermes_core.testing import FakeConsole, PluginContract
from hermes_platform_api.config import Config
from hermes_platform_api.platform import Api


class TestApi(PluginContract):
    module = "hermes_platform_api"
    kind = "platform"

    @pytest.fixture
    def subject(self, context: PluginContext) -> Any:
        object.__setattr__(context, "config", Config(port=0))
        return Api(context)

    async def exercise(self, subject: Any) -> None:
        await subject.open(FakeConsole())
        await subject.close()


async def test_receive_waits_for_close_and_ends_with_it(manifest_context: PluginContext) -> None:
    import asyncio

    api = Api(manifest_context)
    await api.open(FakeConsole())
    listening = asyncio.ensure_future(anext(api.receive(), None))
    done, _ = await asyncio.wait({listening}, timeout=0.05)
    assert not done
    await api.close()
    assert await listening is None


async def test_it_can_be_opened_again_after_a_close(manifest_context: PluginContext) -> None:
    api = Api(manifest_context)
    for _ in range(2):
        await api.open(FakeConsole())
        assert api.address.startswith("http://127.0.0.1:")
        await api.close()
