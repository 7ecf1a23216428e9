"""The backend contract, kept by a real dockerd: with bash, and without it where the folder is mounted."""

from typing import ClassVar

import pytest

from hermes_backend_kit import proof
from hermes_core.testing import BackendContract


@pytest.mark.real
class TestDocker(BackendContract):
    module = "hermes_backend_docker"
    proof: ClassVar = proof
    patience: ClassVar = 2.0

    @pytest.fixture
    def backend(self, make):
        return make()


@pytest.mark.real
class TestPlainImageAndMount(BackendContract):
    module = "hermes_backend_docker"
    proof: ClassVar = proof
    patience: ClassVar = 2.0

    @pytest.fixture
    def backend(self, make):
        return make(image="plain:test", mount=True)
