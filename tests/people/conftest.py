"""Two people and more on one Hermes, tried from outside: processes and services, and nothing of its insides."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "word"))

from word_home import Server


@pytest.fixture(scope="session")
def server():
    with Server() as made:
        yield made
