"""The promises of every provider, for the one without a model."""

from hermes_core.testing import ProviderContract


class TestOffline(ProviderContract):
    module = "hermes_provider_offline"
