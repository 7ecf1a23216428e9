"""The screens that stay open while somebody reads in them, as people see them."""

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from screens_cases import Host, settled
from screens_gallery import SCREENS

pytestmark = pytest.mark.long

NAMES = ("models", "settings", "help", "work", "insights", "usage", "skins", "error", "prompt")
CASES = [(name, size) for name in NAMES for size in ((80, 24), (120, 40), (200, 60))]


@pytest.mark.parametrize(("name", "size"), CASES, ids=[f"{name}-{size[0]}x{size[1]}" for name, size in CASES])
def test_screen(snap_compare: Any, name: str, size: tuple[int, int]) -> None:
    assert snap_compare(Host(SCREENS[name]()), terminal_size=size, run_before=settled)
