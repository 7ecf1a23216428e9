"""The promises of every plugin, for watches."""

from hermes_core.testing import PluginContract


class TestWatch(PluginContract):
    module = "hermes_tool_watch"
    kind = "tool"
