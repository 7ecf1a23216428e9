"""The promises of every plugin, for provenance."""

from hermes_core.testing import PluginContract


class TestProvenance(PluginContract):
    module = "hermes_tool_provenance"
    kind = "tool"
