"""The promises of every plugin, for references: a hook and a completer."""

from hermes_core.testing import PluginContract


class TestReferences(PluginContract):
    module = "hermes_tool_references"
    kind = "tool"
