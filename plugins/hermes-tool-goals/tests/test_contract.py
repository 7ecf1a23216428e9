"""The promises of every plugin, for goals."""

from hermes_core.testing import PluginContract


class TestGoals(PluginContract):
    module = "hermes_tool_goals"
