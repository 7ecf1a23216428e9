"""The backend contract, kept by the local backend."""

from typing import ClassVar

from hermes_backend_kit import proof
from hermes_core.testing import BackendContract


class TestLocal(BackendContract):
    module = "hermes_backend_local"
    proof: ClassVar = proof
