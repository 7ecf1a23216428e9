"""The promises of every plugin, for the host of terminals."""

from hermes_core.testing import PluginContract


class TestHost(PluginContract):
    module = "hermes_platform_host"
    kind = "platform"
