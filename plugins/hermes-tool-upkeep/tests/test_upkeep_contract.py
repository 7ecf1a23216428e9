"""The promises of every plugin, for upkeep: it is nothing but commands, a service and checks."""

from hermes_core.testing import PluginContract


class TestUpkeep(PluginContract):
    module = "hermes_tool_upkeep"
    kind = "tool"
