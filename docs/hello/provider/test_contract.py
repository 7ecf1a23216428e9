"""The echo provider keeps the contract of providers."""

from hermes_core.testing import ProviderContract


class TestEcho(ProviderContract):
    module = "hermes_provider_echo"
