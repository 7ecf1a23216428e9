"""How the composer looks."""

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

sys.path.insert(0, str(Path(__file__).parent))

from composer_app import PNG, ComposerApp, menu_rows, paste, type_in, until

from hermes_core.types import Blob
from hermes_platform_tui.composer.history import History

pytestmark = pytest.mark.long

Scene = Callable[[Any], Awaitable[None]]


async def empty(pilot: Pilot[None]) -> None:
    await pilot.pause()


async def several_lines(pilot: Pilot[None]) -> None:
    assert isinstance(pilot.app, ComposerApp)
    pilot.app.composer.set_text(
        "A first line\nand a second that is long enough to be wrapped on a small screen\n猫 👩\u200d👩\u200d👧 é"
    )


async def overflowing(pilot: Pilot[None]) -> None:
    assert isinstance(pilot.app, ComposerApp)
    pilot.app.composer.set_text("\n".join(f"row {number}" for number in range(30)))
    await pilot.press("up", "up")


async def menu(pilot: Pilot[None]) -> None:
    app = pilot.app
    assert isinstance(app, ComposerApp)
    await type_in(pilot, "/")
    await until(pilot, lambda: menu_rows(app))
    await pilot.press("down", "down")


async def chips(pilot: Pilot[None]) -> None:
    assert isinstance(pilot.app, ComposerApp)
    await type_in(pilot, "Compare ")
    await paste(pilot, "line\n" * 120)
    await type_in(pilot, " with ")
    pilot.app.composer.attach(Blob(media_type="image/png", data=PNG, name="cat.png"))


async def searching(pilot: Pilot[None]) -> None:
    await type_in(pilot, "draft")
    await pilot.press("ctrl+r")
    await type_in(pilot, "te")


async def locked(pilot: Pilot[None]) -> None:
    assert isinstance(pilot.app, ComposerApp)
    pilot.app.composer.locked, pilot.app.composer.hint = "No model is chosen yet", "queued: 2"
    await type_in(pilot, "Hello")


async def viewing(pilot: Pilot[None]) -> None:
    await paste(pilot, "".join(f"line {number} of a paste\n" for number in range(120)))
    await pilot.press("ctrl+o")


async def without_focus(pilot: Pilot[None]) -> None:
    await pilot.pause()
    pilot.app.screen.set_focus(None)
    await pilot.pause()


SCENES = [empty, several_lines, overflowing, menu, chips, searching, locked, viewing]


@pytest.fixture
def app(tmp_path: Path) -> ComposerApp:
    history = History(tmp_path / "history", pytest.fail)
    for entry in (
        "Go on",
        "Explain\nthe tests",
        "What is in the tea?",
        "Run the tests again, all of them, at once",
    ):
        history.add(entry)
    return ComposerApp(tmp_path / "history")


@pytest.mark.parametrize("size", [(80, 24), (40, 12)], ids=["80x24", "40x12"])
@pytest.mark.parametrize("scene", SCENES, ids=[scene.__name__ for scene in SCENES])
def test_looks(snap_compare: Any, app: ComposerApp, scene: Scene, size: tuple[int, int]) -> None:
    assert snap_compare(app, run_before=scene, terminal_size=size)


@pytest.mark.parametrize("scene", [menu, chips, without_focus], ids=["menu", "chips", "without_focus"])
def test_looks_on_a_light_background(snap_compare: Any, app: ComposerApp, scene: Scene) -> None:
    async def prepare(pilot: Pilot[None]) -> None:
        pilot.app.theme = "textual-light"
        await scene(pilot)

    assert snap_compare(app, run_before=prepare, terminal_size=(40, 12))


def test_looks_without_colour(snap_compare: Any, app: ComposerApp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(ComposerApp(None), run_before=menu, terminal_size=(40, 12))
