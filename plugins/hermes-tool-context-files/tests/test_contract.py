"""The promises of every plugin, for context files: it is nothing but hooks."""

from hermes_core.testing import PluginContract


class TestContextFiles(PluginContract):
    module = "hermes_tool_context_files"
    kind = "tool"
