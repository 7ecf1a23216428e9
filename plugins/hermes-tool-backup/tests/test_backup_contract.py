"""The promises of every plugin, for backups: it is nothing but commands, a service and a check."""

from hermes_core.testing import PluginContract


class TestBackup(PluginContract):
    module = "hermes_tool_backup"
    kind = "tool"
