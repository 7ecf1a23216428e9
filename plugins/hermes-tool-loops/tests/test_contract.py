"""The promises of every plugin, for loops: it is nothing but hooks."""

from hermes_core.testing import PluginContract


class TestLoops(PluginContract):
    module = "hermes_tool_loops"
    kind = "tool"
