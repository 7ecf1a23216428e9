"""The promises of every plugin, for events."""

from hermes_core.testing import PluginContract


class TestEvents(PluginContract):
    module = "hermes_tool_events"
    kind = "tool"
