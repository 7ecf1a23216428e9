"""The promises of every plugin, for the catalogue."""

from hermes_core.testing import PluginContract


class TestCatalogue(PluginContract):
    module = "hermes_tool_catalogue"
    kind = "tool"
