"""The promises of every plugin, for the agent of editors."""

from hermes_core.testing import PluginContract


class TestAcp(PluginContract):
    module = "hermes_platform_acp"
    kind = "platform"
