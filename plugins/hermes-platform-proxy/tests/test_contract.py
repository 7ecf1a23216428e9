"""The contract of every plugin."""

from hermes_core.testing import PluginContract


class TestProxy(PluginContract):
    module = "hermes_platform_proxy"
    kind = "platform"
