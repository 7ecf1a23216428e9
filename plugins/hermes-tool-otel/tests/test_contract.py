"""The promises of every plugin, for traces: it is nothing but hooks."""

from hermes_core.testing import PluginContract


class TestOtel(PluginContract):
    module = "hermes_tool_otel"
    kind = "tool"
