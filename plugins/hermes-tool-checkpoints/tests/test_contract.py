"""The promises of every plugin, for checkpoints: it is nothing but hooks and commands."""

from hermes_core.testing import PluginContract


class TestCheckpoints(PluginContract):
    module = "hermes_tool_checkpoints"
    kind = "tool"
