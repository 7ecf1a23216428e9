"""The provider keeps the contract of its kind, with a real model in a file."""

import pytest

from hermes_core.testing import ProviderContract


@pytest.mark.real
class TestGguf(ProviderContract):
    module = "hermes_provider_llamacpp"

    @pytest.fixture
    def provider(self, engine, at):
        return at()
