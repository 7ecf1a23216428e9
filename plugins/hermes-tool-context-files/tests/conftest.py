"""The folders of these tests are known, but where a test says otherwise."""

import pytest


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """What ``hermes --trust`` does."""
    monkeypatch.setenv("HERMES_TRUST", "1")
