"""A store in a temporary folder, and the few values every test of it needs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes_core.store.journal import Store, open_store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "sessions"


@pytest.fixture
def store(tmp_path: Path, folder: Path) -> Iterator[Store]:
    opened = open_store(tmp_path / "state.db", transcripts=folder)
    yield opened
    opened.close()
