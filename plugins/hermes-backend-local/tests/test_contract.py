"""The backend contract, kept by the local backend."""

from hermes_core.testing import BackendContract


class TestLocal(BackendContract):
    module = "hermes_backend_local"
