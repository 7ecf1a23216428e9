"""The fixtures of tests that want a store: once in a file, and once on a server. A ``conftest.py`` imports them."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hermes_backend_postgresql.driver import PostgreSQL
from hermes_core.database import Transaction
from hermes_core.store.store import Store, open_store

__all__ = ["pytest_generate_tests", "reopen", "sql", "store", "url"]

STORES = ["sqlite", pytest.param("postgresql", marks=pytest.mark.real)]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "url" in metafunc.fixturenames:
        metafunc.parametrize("url", STORES, indirect=True)


@pytest.fixture
def url(request: pytest.FixtureRequest) -> str:
    """Where the store is: empty for a file. Tests that are told so run with both."""
    kind = getattr(request, "param", "sqlite")
    return str(request.getfixturevalue("database_url")) if kind == "postgresql" else ""


@pytest.fixture
def reopen(tmp_path: Path, url: str) -> Iterator[Callable[..., Store]]:
    """Open the store, or the same one again; all are closed in the end."""
    made: list[Store] = []

    def make() -> Store:
        made.append(open_store(tmp_path / "state.db", url=url, driver=PostgreSQL()))
        return made[-1]

    yield make
    for store in made:
        store.close()


@pytest.fixture
def store(reopen: Callable[..., Store]) -> Store:
    return reopen()


@pytest.fixture
def sql(store: Store) -> Callable[[str], list[tuple[object, ...]]]:
    """Go behind the store's back."""

    def run(statement: str) -> list[tuple[object, ...]]:
        def work(tx: Transaction) -> list[tuple[object, ...]]:
            cursor = tx.connection.execute(statement)
            return [tuple(row) for row in cursor.fetchall()] if cursor.description else []

        return store.database.transact(work)

    return run
