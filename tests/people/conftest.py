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


def pytest_configure(config: pytest.Config) -> None:
    """Keep what was judged, where a file is named for it: by the one process that hears of all tests."""
    if (kept := config.getoption("kept", "")) and not hasattr(config, "workerinput"):
        from people_kept import Kept

        Path(kept).parent.mkdir(parents=True, exist_ok=True)
        config.pluginmanager.register(Kept(config), "people-kept")
