"""The backend contract, kept in a real sandbox."""

from typing import ClassVar

import pytest

from hermes_backend_kit import proof
from hermes_core.testing import BackendContract


@pytest.mark.real
class TestBubblewrap(BackendContract):
    module = "hermes_backend_bubblewrap"
    proof: ClassVar = proof
    settings: ClassVar = {"tmp_mb": 64}
