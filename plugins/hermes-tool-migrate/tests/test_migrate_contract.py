"""The promises of every plugin, for coming from elsewhere: it is nothing but commands."""

from hermes_core.testing import PluginContract


class TestMigrate(PluginContract):
    module = "hermes_tool_migrate"
    kind = "tool"
