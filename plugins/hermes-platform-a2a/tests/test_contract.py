"""The promises of everything that is served, for the agent and its card."""

import pytest

from hermes_core.testing import RoutesContract


class TestAgent(RoutesContract):
    module = "hermes_platform_a2a"
    kind = "platform"
    asked = (("GET", "/"), ("GET", "/.well-known/agent-card.json"))


class TestCard(RoutesContract):
    module = "hermes_platform_a2a"
    kind = "platform"
    asked = (("GET", "/.well-known/agent-card.json"),)

    @pytest.fixture
    def route(self, contributed):
        return contributed["routes"][1]


class TestRootCard(RoutesContract):
    module = "hermes_platform_a2a"
    kind = "platform"
    asked = (("GET", ""),)

    @pytest.fixture
    def route(self, contributed):
        return contributed["routes"][2]
