"""The promises of every plugin, for the commands of authors."""

from hermes_core.testing import PluginContract


class TestAuthoring(PluginContract):
    module = "hermes_tool_authoring"
    kind = "tool"
