"""The ``hermes`` command for tests that need many processes of it."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from standby import standing_by

from hermes_core import masking


@pytest.fixture(autouse=True)
def _no_masks_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what has no kernel mask as in a process of its own, not as the kernel of an earlier test does."""
    monkeypatch.setattr(masking, "_in_use", None)


@pytest.fixture(scope="session")
def standby() -> Iterator[Path]:
    """A folder with a ``hermes`` that starts at once: a real process, forked by one that has everything imported."""
    with standing_by({**os.environ, "LC_ALL": "C.UTF-8"}) as folder:
        yield folder
