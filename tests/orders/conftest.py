"""Files of this folder, and those of ``hostile``, can be imported by their names."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "hostile")]

from world import Listener, World, listening, project, world  # noqa: E402


@pytest.fixture(scope="session")
def listener() -> Iterator[Listener]:
    """A server that listens."""
    with listening() as server:
        yield server


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project, to be copied."""
    return project(tmp_path_factory.mktemp("orders") / "project")


@pytest.fixture
def place(listener: Listener, template: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """A world of a test's own, and the home of this process in it."""
    listener.pages.clear()
    listener.heard.clear()
    with world(template, listener) as made:
        monkeypatch.setenv("HOME", str(made.root))
        monkeypatch.setenv("HERMES_HOME", str(made.home))
        yield made
