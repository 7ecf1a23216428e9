"""The promises of every plugin, for diagnostics."""

from hermes_core.testing import PluginContract


class TestDiagnostics(PluginContract):
    module = "hermes_tool_diagnostics"
    kind = "tool"
