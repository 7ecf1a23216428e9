"""The promises of every plugin, for the router."""

from hermes_core.testing import PluginContract


class TestRouter(PluginContract):
    module = "hermes_provider_router"
    kind = "provider"
