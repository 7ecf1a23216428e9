"""The promises of every plugin, for metrics: it is nothing but hooks and a command."""

from hermes_core.testing import PluginContract


class TestMetrics(PluginContract):
    module = "hermes_tool_metrics"
    kind = "tool"
