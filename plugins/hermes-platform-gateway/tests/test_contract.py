"""The promises of every plugin, for the gateway: it is nothing but commands."""

from hermes_core.testing import PluginContract


class TestGateway(PluginContract):
    module = "hermes_platform_gateway"
    kind = "platform"
