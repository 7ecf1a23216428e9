"""What runs beside a conversation: a tree that keeps itself fresh, output, and stopping."""

import sys
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from hermes_core.errors import UserError
from hermes_core.types import Job
from hermes_platform_tui.screens.rows import Rows
from hermes_platform_tui.screens.sheet import Sheet
from hermes_platform_tui.screens.work import OutputScreen, WorkPanel, WorkScreen

sys.path.insert(0, str(Path(__file__).parent))
from screens_cases import HOSTILE, NOW, Given, Host, PanelHost, clickable, drawn, given_all, now, settled, until

pytestmark = pytest.mark.long


def screen(given: Any = None) -> WorkScreen:
    return WorkScreen(given or given_all(), "chat", now=now)


async def test_each_job_with_what_is_known_of_it() -> None:
    app = Host(screen())
    async with app.run_test(size=(80, 30)) as pilot:
        await settled(pilot)
        told = drawn(app)
        for words in (
            "Child agents (2)",
            "├─ ● Read the docs of pluggy",
            "3m05s",
            "Reading hooks.md",
            "└─ ● Compare three parsers",
            "running · 50.1k tokens · ~$0.03",
            "Background processes (2)",
            "└─ ✗ make world",
            "failed",
        ):
            assert words in told


async def test_nothing_runs() -> None:
    given = given_all()
    given.job_rows = ()
    app = Host(screen(given))
    async with app.run_test() as pilot:
        await settled(pilot)
        assert "Nothing runs beside this conversation." in drawn(app)
        await pilot.press("enter", "x", "delete", "escape")
        await settled(pilot)
        assert app.result is None


async def test_output_of_a_job() -> None:
    app = Host(screen(given := given_all()))
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("down", "down", "enter")
        await settled(pilot)
        assert isinstance(app.screen, OutputScreen)
        await until(pilot, lambda: "GET /page/199" in drawn(app))  # from its end
        await pilot.press("pageup", "up", "up", "down")
        await settled(pilot)
        assert "GET /page/199" not in drawn(app)
        given.job_texts["p1"] += "the newest line\n"
        await pilot.press("r")
        await until(pilot, lambda: "the newest line" in drawn(app))
        await pilot.press("c")
        await settled(pilot)
        assert app.clipboard.endswith("the newest line\n")
        await pilot.press("escape")
        await settled(pilot)
        assert isinstance(app.screen, WorkScreen)


async def test_output_of_a_silent_one() -> None:
    app = Host(screen())
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("enter")
        await settled(pilot)
        assert "It has said nothing yet." in drawn(app)


@pytest.mark.parametrize(("keys", "stopped"), [("s", ["a1"]), ("enter", []), ("escape", []), ("1", ["a1"])])
async def test_stopping_asks_once(keys: str, stopped: list[str]) -> None:
    app = Host(screen(given := given_all()))
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("x")
        await settled(pilot)
        assert "Stop “Read the docs of pluggy”?" in drawn(app)
        await pilot.press(keys)
        await settled(pilot)
        assert given.stopped == stopped
        assert ("Read the docs" in drawn(app)) is not bool(stopped)


async def test_one_that_stopped_meanwhile_is_told() -> None:
    app = Host(screen(given := given_all()))
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("x")
        await settled(pilot)
        given.stopped.append("a1")
        await pilot.press("s")
        await settled(pilot)
        assert "It did not run any more." in drawn(app)


class Broken(Given):
    """Cannot say what runs."""

    async def jobs(self, chat: str) -> Any:
        raise UserError("The jobs cannot be read.")

    async def job_output(self, chat: str, job: str) -> str:
        raise UserError("The output is gone.")


async def test_one_that_cannot_be_stopped_is_told() -> None:
    given = given_all()

    async def fail(chat: str, job: str) -> bool:
        raise UserError("It does not listen.")

    given.stop_job = fail  # type: ignore[method-assign]
    app = Host(screen(given))
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("x")
        await settled(pilot)
        await pilot.press("s")
        await settled(pilot)
        assert "! It does not listen." in drawn(app)
        await pilot.press("r")  # what was told stays until somebody asks again
        await settled(pilot)
        assert "It does not listen." not in drawn(app)


async def test_what_goes_wrong_is_told() -> None:
    app = Host(screen(Broken()))
    async with app.run_test() as pilot:
        await settled(pilot)
        assert "! The jobs cannot be read." in drawn(app)
        app.push_screen(OutputScreen(Broken(), "chat", given_all().job_rows[0]))
        await settled(pilot)
        assert "! The output is gone." in drawn(app)


async def test_the_panel_asks_again_by_itself() -> None:
    app = PanelHost()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        panel = app.query_one(WorkPanel)
        given: Any = panel._talks
        assert "3 running" in drawn(app)
        given.job_rows = (evolve(given.job_rows[0], title="Another job"),)
        await until(pilot, lambda: "Another job" in drawn(app))
        assert "1 running" in drawn(app)
        given.job_rows = ()
        panel.refresh_jobs("other chat")
        await settled(pilot)
        assert "Nothing runs" in drawn(app)


async def test_the_panel_gives_the_focus_back() -> None:
    left = []

    class Heard(PanelHost):
        def on_work_panel_left(self) -> None:
            left.append(True)

    app = Heard()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        app.query_one(WorkPanel).focus_jobs()
        await pilot.press("down", "escape")
        await settled(pilot)
        assert left == [True]
        rows = app.query_one(Rows)
        assert rows.current is not None
        assert rows.current.id == "a2"


async def test_jobs_of_strangers_are_shown_safely() -> None:
    given = given_all()
    given.job_rows = (Job(id="h", kind="other", title=HOSTILE, since=NOW, state=HOSTILE, last=HOSTILE),)
    given.job_texts = {"h": HOSTILE}
    app = Host(screen(given))
    async with app.run_test(size=(120, 30)) as pilot:
        for keys in ((), ("x",), ("escape", "enter")):
            await settled(pilot)
            await pilot.press(*keys)
            await settled(pilot)
            told = drawn(app)
            assert "[bold]x[/]" in told
            assert all(character.isprintable() or character == "\n" for character in told)
            assert not any("quit" in action for action in clickable(app))
        assert app.screen.query_one(Sheet)
