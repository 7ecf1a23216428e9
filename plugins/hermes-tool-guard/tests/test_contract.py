"""The promises of every plugin, for the guard: it is nothing but a gate and a command."""

from hermes_core.testing import PluginContract


class TestGuard(PluginContract):
    module = "hermes_tool_guard"
    kind = "tool"
