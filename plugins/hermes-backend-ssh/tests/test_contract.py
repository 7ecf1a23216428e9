"""The backend contract, kept over a real sshd."""

from typing import ClassVar

import pytest

from hermes_backend_kit import proof
from hermes_backend_ssh.workspace import Ssh
from hermes_core.testing import BackendContract


@pytest.mark.real
class TestSsh(BackendContract):
    module = "hermes_backend_ssh"
    proof: ClassVar = proof
    settings: ClassVar = {"host": "127.0.0.1"}
    patience: ClassVar = 4.0

    @pytest.fixture
    def backend(self, server):
        return Ssh(server)
