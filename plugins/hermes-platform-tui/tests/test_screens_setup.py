"""Setting something up: what is typed is checked, tested, and written at once; or nothing is."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from hermes_core.errors import UserError
from hermes_core.testing.fake_settings import FakeSettings
from hermes_platform_tui.screens.prompt import PromptDialog
from hermes_platform_tui.screens.setup import SetupDialog, SetupPicker

sys.path.insert(0, str(Path(__file__).parent))
from screens_cases import Given, Host, Station, drawn, settled, station_rows

pytestmark = pytest.mark.long

USUAL = (100, 30)
GOOD = {"place": "Oslo", "port": "5", "key": "12345"}


def a_station(step: Station | None = None) -> tuple[Given, Station]:
    given, step = Given(), step or Station()
    given.set_up(FakeSettings(station_rows(), steps=[step]), step)
    return given, step


async def typed(pilot: Pilot[None], **values: str) -> None:
    await settled(pilot)
    for name, value in values.items():
        pilot.app.screen.query_one(f"#field-{name}", Input).value = value
    await settled(pilot)


async def pressed(pilot: Pilot[None], *keys: str) -> str:
    await pilot.press(*keys)
    await settled(pilot)
    return drawn(pilot.app)


async def prompted(pilot: Pilot[None]) -> str:
    """What the login shows while it waits: nothing settles until it was answered."""
    async with asyncio.timeout(10):
        while not (isinstance(pilot.app.screen, PromptDialog) and pilot.app.screen.query("#line")):
            await pilot.pause(0.01)
    await pilot.pause()
    return drawn(pilot.app)


def kept(given: Given) -> tuple[dict[str, Any], dict[str, str]]:
    return {key: row.value for key, row in given.settings.rows.items() if row.written}, given.settings.secrets


async def test_what_there_is_to_set_up_is_chosen() -> None:
    given, step = a_station()
    app = Host(SetupPicker(given))
    async with app.run_test(size=USUAL) as pilot:
        await settled(pilot)
        assert "A weather station" in drawn(app)
        await pressed(pilot, "enter")
    assert app.result == step.name


async def test_it_is_tested_and_written_at_once() -> None:
    given, step = a_station()
    app = Host(SetupDialog(given, step))
    async with app.run_test(size=USUAL) as pilot:
        await typed(pilot, **GOOD)
        seen = await pressed(pilot, "ctrl+t")
        assert "The station in Oslo answers to …." in seen
        assert "12345" not in seen
        assert step.asked == [{**GOOD, "units": "celsius"}]
        assert kept(given) == ({}, {})
        await pressed(pilot, "ctrl+s")
    assert app.result is True
    assert kept(given) == ({"station.place": "Oslo", "station.port": 5}, {"STATION_KEY": "12345"})


WRONG = {
    "place": ("", "Where it stands: this is needed."),
    "port": ("many", "Port: 'many' is not a number."),
    "units": ("miles", "Units: one of: celsius, kelvin."),
    "key": ("abc", "Key: Digits only."),
}


@pytest.mark.parametrize("name", WRONG)
async def test_what_is_wrong_is_neither_tested_nor_written(name: str) -> None:
    given, step = a_station()
    value, said = WRONG[name]
    app = Host(SetupDialog(given, step))
    async with app.run_test(size=USUAL) as pilot:
        await typed(pilot, **{**GOOD, name: value})
        for key in ("ctrl+t", "ctrl+s"):
            assert said in await pressed(pilot, key)
    assert (step.asked, kept(given)) == ([], ({}, {}))


async def test_what_cannot_be_written_is_not_tried_and_what_does_not_work_can_be_mended() -> None:
    given, step = a_station()
    given.settings.refused.add("Mars")
    app = Host(SetupDialog(given, step))
    async with app.run_test(size=USUAL) as pilot:
        await typed(pilot, **{**GOOD, "place": "Mars"})
        assert "is not allowed" in await pressed(pilot, "ctrl+t")
        assert step.asked == []
        await typed(pilot, place="Oslo", key="99999")
        seen = await pressed(pilot, "ctrl+t")
        assert "The station does not know …." in seen
        assert "99999" not in seen
        await typed(pilot, key="12345")
        assert "answers" in await pressed(pilot, "ctrl+t")
        await pressed(pilot, "escape")
    assert kept(given) == ({}, {})


async def test_what_is_set_is_kept_and_a_secret_is_never_shown() -> None:
    given, step = a_station()
    await given.settings.change({"station.place": "Oslo", "station.port": 7}, {"STATION_KEY": "12345"})
    app = Host(SetupDialog(given, step))
    async with app.run_test(size=USUAL) as pilot:
        await settled(pilot)
        assert "Oslo" in drawn(app)
        assert "it is set; empty keeps it" in drawn(app)
        assert "answers" in await pressed(pilot, "ctrl+t")
        await typed(pilot, place="Bergen")
        await pressed(pilot, "ctrl+s")
    assert kept(given) == ({"station.place": "Bergen", "station.port": 7}, {"STATION_KEY": "12345"})


async def test_a_login_brings_what_is_asked_for() -> None:
    given, step = a_station()
    app = Host(SetupDialog(given, step))
    async with app.run_test(size=USUAL) as pilot:
        await typed(pilot, place="Oslo")
        await pilot.press("ctrl+l")
        seen = await prompted(pilot)
        assert "Open: https://station.example/login" in seen
        assert "Code: AB-12" in seen
        app.screen.query_one("#line", Input).value = "12345"
        assert "You are logged in" in await pressed(pilot, "enter")
        await pilot.press("ctrl+l")
        await prompted(pilot)
        assert "Left: nothing was changed." in await pressed(pilot, "escape")
        await pressed(pilot, "ctrl+s")
    assert kept(given)[1] == {"STATION_KEY": "12345"}


class Falls(Station):
    async def login(self, show: Any) -> dict[str, str]:
        raise ValueError("no display")

    async def test(self, values: Any) -> str:
        raise UserError("no station")


async def test_a_step_that_falls_costs_nothing() -> None:
    given, step = a_station(Falls())
    app = Host(SetupDialog(given, step))
    async with app.run_test(size=USUAL) as pilot:
        await typed(pilot, **GOOD)
        assert "The login of station failed: ValueError: no display" in await pressed(pilot, "ctrl+l")
        assert "no station" in await pressed(pilot, "ctrl+t")
    assert kept(given) == ({}, {})
