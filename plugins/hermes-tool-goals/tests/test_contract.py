"""The promises of every plugin and of every route, for goals."""

import pytest

from hermes_core.testing import PluginContract, RoutesContract


class TestGoals(PluginContract):
    module = "hermes_tool_goals"


class TestRoute(RoutesContract):
    module = "hermes_tool_goals"

    @pytest.fixture
    def route(self, contributed):
        return contributed["routes"][0]
