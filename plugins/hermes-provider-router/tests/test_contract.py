"""The promises of every plugin, and of every router."""

import pytest

from hermes_core.kinds import Router
from hermes_core.testing import PluginContract, RouterContract


class TestRouter(PluginContract, RouterContract):
    module = "hermes_provider_router"
    kind = "provider"

    @pytest.fixture
    def router(self, contributed) -> Router:
        return contributed["routers"][0]
