"""Every screen at every size, while the terminal is made smaller and larger, and when things go wrong behind it."""

import asyncio
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.widgets import Input, TextArea

from hermes_platform_tui.screens.models import ModelPicker
from hermes_platform_tui.screens.sessions import SessionPicker

sys.path.insert(0, str(Path(__file__).parent))
from screens_cases import Given, Host, drawn, given_all, now, settled
from screens_gallery import SCREENS

pytestmark = pytest.mark.long

LAYOUTS = ("question_long", "sessions", "models", "settings", "value_yaml", "work", "insights", "error", "confirm")


@pytest.mark.parametrize("name", LAYOUTS)
async def test_any_size_can_be_shown(name: str) -> None:
    app = Host(SCREENS[name]())
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        before = drawn(app)
        for size in ((1, 1), (20, 6), (200, 60), (80, 24)):
            await pilot.resize_terminal(*size)
            assert len(drawn(app).split("\n")) == size[1]
        await settled(pilot)
        assert drawn(app) == before


@pytest.mark.parametrize("name", SCREENS)
async def test_every_screen_says_how_to_leave_it_where_there_is_little_room(name: str) -> None:
    app = Host(SCREENS[name]())
    async with app.run_test(size=(40, 12)) as pilot:
        await settled(pilot)
        assert re.search(r"Esc \w", drawn(app))
        await pilot.press("escape")
        await settled(pilot)
        assert app.result != "not yet"


class Stuck(Given):
    """Never answers, or in a way that nobody expected."""

    def __init__(self, fault: Exception | None = None) -> None:
        super().__init__()
        self.fault = fault

    async def models_of(self, provider: str) -> Any:
        if self.fault:
            raise self.fault
        await asyncio.Event().wait()


async def test_one_may_leave_while_somebody_is_asked() -> None:
    app = Host(ModelPicker(Stuck()))
    async with app.run_test() as pilot:
        await pilot.pause()
        assert "asking" in drawn(app)
        await pilot.press("escape")
        await settled(pilot)
        assert app.result is None
        assert len(app.screen_stack) == 1


async def test_a_fault_behind_a_screen_leaves_the_app_alive(caplog: pytest.LogCaptureFixture) -> None:
    app = Host(ModelPicker(Stuck(RuntimeError("a bug of a plugin"))))
    async with app.run_test() as pilot:
        await settled(pilot)
        assert "! That went wrong in a way nobody expected." in drawn(app)
        assert "a bug of a plugin" in caplog.text
        await pilot.press("escape")
        await settled(pilot)
        assert app.result is None


async def test_keys_are_heard_while_a_list_is_read() -> None:
    given = given_all()
    sessions: Any = given.sessions
    let = asyncio.Event()
    read = sessions.rows

    async def slowly(owner: Any, *, limit: int = 20) -> Any:
        await let.wait()
        return await read(owner, limit=limit)

    sessions.rows = slowly
    app = Host(SessionPicker(given, now=now))
    async with app.run_test() as pilot:
        await pilot.press(*"norway")
        assert "norway" in drawn(app)
        assert "Loading" in drawn(app)
        let.set()
        await settled(pilot)
        await pilot.press("enter")
        await settled(pilot)
        assert app.result == "s4"


PASTE = "\n one\x1b[31m two\x1b]0;owned\x07\r\nthree\u202e\x9b2J\tfour" + "x" * 9000


@pytest.mark.parametrize("name", ["sessions", "prompt", "value_line", "question_text"])
async def test_a_paste_into_a_line_is_one_line_and_drives_nothing(name: str) -> None:
    app = Host(SCREENS[name]())
    async with app.run_test() as pilot:
        await settled(pilot)
        line = app.screen.query_one(Input)
        line.value = ""
        app.post_message(events.Paste(PASTE))
        await settled(pilot)
        assert line.value.startswith("one two three four")
        assert len(line.value) == 4000
        assert all(character.isprintable() or character == "\n" for character in drawn(app))


async def test_a_paste_into_yaml_drives_nothing() -> None:
    app = Host(SCREENS["value_yaml"]())
    async with app.run_test() as pilot:
        await settled(pilot)
        app.post_message(events.Paste("- a\x1b[31m\r\n- b\u202e\n"))
        await settled(pilot)
        assert app.screen.query_one(TextArea).text.startswith("- a\n- b\n")
