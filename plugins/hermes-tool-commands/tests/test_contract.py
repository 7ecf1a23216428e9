"""The promises of every plugin, for the slash commands."""

from hermes_core.testing import PluginContract


class TestCommands(PluginContract):
    module = "hermes_tool_commands"
    kind = "tool"
