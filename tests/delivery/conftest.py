"""A store, services that fail, and a clock on which nobody has to wait."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from hermes_core.store.store import open_store


def pytest_generate_tests(metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", range(metafunc.config.getoption("seeds")))


@pytest.fixture
def store(tmp_path):
    made = open_store(tmp_path / "state.db")
    yield made
    made.close()
