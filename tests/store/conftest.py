"""A store for every test of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from store_fixtures import pytest_generate_tests, reopen, sql, store, url

from hermes_core.store.store import Store, open_store

__all__ = ["pytest_generate_tests", "reopen", "sql", "store", "url"]


@pytest.fixture
def commits(request: pytest.FixtureRequest) -> int:
    return int(request.config.getoption("commits"))


@pytest.fixture
def file_store(tmp_path: Path) -> Iterator[Store]:
    """For what only a file can suffer."""
    made = open_store(tmp_path / "state.db")
    yield made
    made.close()
