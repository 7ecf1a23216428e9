"""The platform contract, kept against a real Synapse: in plain rooms and in encrypted ones."""

from typing import ClassVar

import pytest
from matrix_people import SynapseService, Wire, bot_for

from hermes_core.testing import PlatformContract, PluginContract, SetupContract


class TestPlugin(PluginContract):
    module = "hermes_platform_matrix"
    kind = "platform"


class _Real(PlatformContract):
    module = "hermes_platform_matrix"
    patience: ClassVar = 30.0
    encrypted: ClassVar = False

    @pytest.fixture
    async def service(self, synapse, tmp_path):
        async with Wire(synapse.port) as wire:
            service = SynapseService(synapse, synapse.register("bot"), wire, tmp_path, encrypted=self.encrypted)
            yield service
            await service.close()

    @pytest.fixture
    def platform(self, service, tmp_path):
        return bot_for(service._wire.url, service._bot, tmp_path / "data")


@pytest.mark.real
class TestPlainRooms(_Real):
    encrypted = False


@pytest.mark.real
class TestEncryptedRooms(_Real):
    encrypted = True


class TestSetup(SetupContract):
    module = "hermes_platform_matrix"

    @pytest.fixture
    def wrong(self):
        return {"homeserver": "http://127.0.0.1:9", "user": "@bot:s", "password": "very-secret"}
