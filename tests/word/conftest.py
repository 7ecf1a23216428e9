"""What a person was told about Hermes, tried from outside: processes, files, sockets, and nothing of its insides."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from word_home import Server


@pytest.fixture(scope="session")
def server():
    with Server() as made:
        yield made


@pytest.fixture
def kills(pytestconfig) -> int:
    """How many processes are killed at random moments, in all of one kind."""
    return int(pytestconfig.getoption("--kills"))
