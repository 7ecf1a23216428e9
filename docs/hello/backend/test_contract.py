"""The backend keeps the contract of backends."""

from hermes_core.testing import BackendContract


class TestHere(BackendContract):
    module = "hermes_backend_here"
