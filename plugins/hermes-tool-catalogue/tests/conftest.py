"""What the tests of the catalogue share."""

import pytest

from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing.contract_base import manifest_path
from hermes_core.testing.model_service import FakeSecrets


@pytest.fixture
def secrets():
    return FakeSecrets(OPENAI_API_KEY="sk-test-1234567890")


@pytest.fixture
def manifest_of():
    """``manifest_of("hermes_tool_catalogue")``: what a plugin declares."""
    return lambda module: read_manifest(manifest_path(module))
