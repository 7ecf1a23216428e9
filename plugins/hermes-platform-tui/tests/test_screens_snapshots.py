"""The screens as people see them, at the sizes of their terminals."""

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from screens_cases import Host, PanelHost, settled
from screens_gallery import SCREENS

pytestmark = pytest.mark.long

SMALL, USUAL, WIDE, HUGE = (40, 12), (80, 24), (120, 40), (200, 60)
EVERYWHERE = ("question", "question_long", "sessions", "confirm", "plugin")
USUALLY = (
    "question_hostile",
    "question_choice",
    "question_text",
    "value_choice",
    "value_line",
    "value_yaml",
    "value_secret",
    "output",
)
CASES = [
    *((name, size) for name in EVERYWHERE for size in (SMALL, USUAL, WIDE, HUGE)),
    *((name, USUAL) for name in USUALLY),
    *((name, SMALL) for name in ("settings", "error", "insights")),
]


@pytest.mark.parametrize(("name", "size"), CASES, ids=[f"{name}-{size[0]}x{size[1]}" for name, size in CASES])
def test_screen(snap_compare: Any, name: str, size: tuple[int, int]) -> None:
    assert snap_compare(Host(SCREENS[name]()), terminal_size=size, run_before=settled)


def test_the_panel_beside_a_conversation(snap_compare: Any) -> None:
    assert snap_compare(PanelHost(), terminal_size=WIDE, run_before=settled)


@pytest.mark.parametrize("name", ["question", "settings", "sessions"])
def test_without_colours(snap_compare: Any, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(Host(SCREENS[name]()), terminal_size=USUAL, run_before=settled)
