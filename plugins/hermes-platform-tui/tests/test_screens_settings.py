"""The settings: each in the form its schema asks for, written at once, refused inline."""

import sys
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from hermes_core.errors import ConfigError, UserError
from hermes_core.types import Setting
from hermes_platform_tui.screens.rows import Rows
from hermes_platform_tui.screens.settings import SettingsScreen, section_of
from hermes_platform_tui.screens.value import ValueDialog, form_of, shown

sys.path.insert(0, str(Path(__file__).parent))
from screens_cases import HOSTILE, Given, Host, clickable, drawn, given_all, setting, settings_rows, settled

pytestmark = pytest.mark.long

TALL = (100, 50)
USUAL = (100, 30)


async def find(pilot: Pilot[None], words: str) -> None:
    await settled(pilot)
    line = pilot.app.screen.query_one("#filter", Input)
    line.value = words
    await settled(pilot)


async def anew(pilot: Pilot[None], given: Given, key: str) -> None:
    """A setting as it was in the beginning: for the next row of a table."""
    given.settings.rows[key] = setting(key)
    screen = pilot.app.screen
    assert isinstance(screen, SettingsScreen)
    screen.action_again()
    await find(pilot, key)


def value(given: Given, key: str) -> Any:
    return given.settings.rows[key].value


async def test_all_sections_and_how_each_stands() -> None:
    app = Host(SettingsScreen(given_all()))
    async with app.run_test(size=TALL) as pilot:
        await settled(pilot)
        lines = {
            line.split("│")[2].strip(" ❯").split(" ")[0]: line for line in drawn(app).split("\n") if line.count("│") > 2
        }
        assert "gpt-5-mini" in lines["default"]
        assert "changed" in lines["default"]
        assert "changed" not in lines["max_calls"]
        assert "locked" in lines["redact_secrets"]
        assert "off" in lines["streaming"]
        assert "(none)" in lines["toolsets"]
        assert "kept in env:OPENAI_API_KEY" in lines["api_key"]


def test_sections() -> None:
    keys = ("toolsets", "model.default", "gateway.health.port", "platforms.tui.skin", "a.b.c.d")
    assert [section_of(key) for key in keys] == ["general", "model", "gateway.health", "platforms.tui", "a.b"]


async def test_a_section_is_gone_to() -> None:
    app = Host(SettingsScreen(given_all(), section="gateway"))
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        rows = app.screen.query_one("#rows", Rows)
        assert rows.current is not None
        assert rows.current.id == "gateway.streaming"
        await pilot.press("shift+tab" if app.screen.focused is rows else "tab")
        await settled(pilot)
        assert app.screen.query_one("#sections", Rows).has_focus
        await pilot.press("end")
        await settled(pilot)
        assert rows.current.id == "providers"
        await pilot.press("home", "enter")
        await settled(pilot)
        assert rows.current.id == "model.default"
        assert rows.has_focus


async def test_typing_finds_keys_and_help() -> None:
    app = Host(SettingsScreen(given_all()))
    async with app.run_test(size=USUAL) as pilot:
        await settled(pilot)
        await pilot.press(*"mouse")
        await settled(pilot)
        assert [row.id for row in app.screen.query_one("#rows", Rows).shown if row.choosable] == ["platforms.tui.mouse"]


async def test_a_switch_turns_at_once() -> None:
    app = Host(SettingsScreen(given := given_all()))
    async with app.run_test(size=USUAL) as pilot:
        await find(pilot, "streaming")
        await pilot.press("enter")
        await settled(pilot)
        assert value(given, "gateway.streaming") is True
        assert "gateway.streaming is on: written to config.yaml; holds from the next start." in drawn(app)
        await pilot.press("enter")
        await settled(pilot)
        assert value(given, "gateway.streaming") is False


CHOICES = {"down enter": "smart", "end space": False, "escape": "ask"}  # the fake reads YAML, where off is a switch


async def test_one_of_several(subtests: pytest.Subtests) -> None:
    app = Host(SettingsScreen(given := given_all()))
    async with app.run_test(size=USUAL) as pilot:
        for keys, chosen in CHOICES.items():
            with subtests.test(keys=keys):
                await anew(pilot, given, "policy.mode")
                await pilot.press("enter")
                await settled(pilot)
                assert "ask  (now, default)" in drawn(app)
                await pilot.press(*keys.split())
                await settled(pilot)
                assert value(given, "policy.mode") == chosen
                assert isinstance(app.screen, SettingsScreen)


WRONG = {
    ("agent.max_calls", ""): "A number is needed here.",
    ("agent.max_calls", "many"): "'many' is not a number.",
    ("agent.max_calls", "1.5"): "A whole number is needed here.",
    ("agent.max_calls", "0"): "It must be at least 1.",
    ("agent.max_calls", "101"): "It must be at most 100.",
    ("model.temperature", "-1"): "It must be at least 0.",
    ("model.default", "evil"): "'evil' is not allowed",
}


async def give(pilot: Pilot[None], given: Given, key: str, typed: str) -> None:
    """Open a setting anew and type a value for it."""
    await anew(pilot, given, key)
    await pilot.press("enter")
    await settled(pilot)
    pilot.app.screen.query_one("#value", Input).value = typed
    await pilot.press("enter")
    await settled(pilot)


async def test_what_is_not_allowed_is_told_inline(subtests: pytest.Subtests) -> None:
    app = Host(SettingsScreen(given := given_all()))
    given.settings.refused.add("evil")
    async with app.run_test(size=USUAL) as pilot:
        for (key, typed), wrong in WRONG.items():
            with subtests.test(key=key, typed=typed):
                before = value(given, key)
                await give(pilot, given, key, typed)
                assert isinstance(app.screen, ValueDialog)
                assert "! " in drawn(app)
                assert wrong in drawn(app)
                assert value(given, key) == before
            await pilot.press("escape")


KEPT: dict[tuple[str, str], Any] = {
    ("agent.max_calls", " 42 "): 42,
    ("model.temperature", "0.5"): 0.5,
    ("model.temperature", ""): None,
    ("model.default", "gpt-5"): "gpt-5",
    ("model.default", ""): None,
}


async def test_a_line(subtests: pytest.Subtests) -> None:
    app = Host(SettingsScreen(given := given_all()))
    async with app.run_test(size=USUAL) as pilot:
        for (key, typed), kept in KEPT.items():
            with subtests.test(key=key, typed=typed):
                await give(pilot, given, key, typed)
                assert isinstance(app.screen, SettingsScreen)
                assert value(given, key) in (kept, "" if kept is None else kept)
                assert "holds from the next start" in drawn(app)


async def test_yaml() -> None:
    app = Host(SettingsScreen(given := given_all()))
    async with app.run_test(size=USUAL) as pilot:
        await find(pilot, "policy.deny")
        await pilot.press("enter")
        await settled(pilot)
        area = app.screen.query_one(TextArea)
        assert area.text == "- terminal(rm *)\n"
        for broken, told in (("- [a", "line "), ("? [a, b]\n: c", "unhashable key"), ("2026-01-01", "Only text")):
            area.text = broken
            await pilot.press("ctrl+s")
            await settled(pilot)
            assert told in drawn(app)
        area.text = "- a\n- 'b: c'\n- é\n"
        await pilot.press("ctrl+s")
        await settled(pilot)
        assert value(given, "policy.deny") == ["a", "b: c", "é"]
        assert isinstance(app.screen, SettingsScreen)


async def test_back_to_the_default() -> None:
    app = Host(SettingsScreen(given := given_all()))
    async with app.run_test(size=USUAL) as pilot:
        await find(pilot, "policy.deny")
        await pilot.press("ctrl+r")
        await settled(pilot)
        assert value(given, "policy.deny") == []
        assert "is the default again" in drawn(app)
        await pilot.press("ctrl+r")
        await settled(pilot)
        assert "is the default already" in drawn(app)
        await find(pilot, "model.default")
        await pilot.press("enter")
        await settled(pilot)
        await pilot.press("ctrl+r")
        await settled(pilot)
        assert value(given, "model.default") == ""


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("security.redact_secrets", "locked by hermes"),
        ("model.api_key", "never shown"),
        ("providers", "saving would lose it"),
    ],
)
async def test_what_cannot_be_changed_here_says_why(key: str, why: str) -> None:
    app = Host(SettingsScreen(given := given_all()))
    before = value(given, key)
    async with app.run_test(size=USUAL) as pilot:
        await find(pilot, key)
        await pilot.press("enter")
        await settled(pilot)
        assert why in drawn(app)
        await pilot.press("ctrl+s", "enter")
        await settled(pilot)
        assert value(given, key) == before
        await pilot.press("escape")
        await settled(pilot)
        assert isinstance(app.screen, SettingsScreen)
        if key == "security.redact_secrets":
            await pilot.press("ctrl+r")
            await settled(pilot)
            assert "! security.redact_secrets is locked" in drawn(app)


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        ("", "not set"),
        ("[secret]", "set, hidden"),
        ("sk-123", "set, hidden"),
        ("postgres://u:p@h", "set, hidden"),
        ("env:A_KEY", "kept in env:A_KEY"),
    ],
)
def test_a_secret_is_never_shown(kept: str, said: str) -> None:
    assert shown(evolve(setting("model.api_key"), value=kept)) == said


@pytest.mark.parametrize(
    ("schema", "form"),
    [
        ({"type": "boolean"}, "switch"),
        ({"type": ["boolean", "null"]}, "choice"),
        ({"enum": ["a", 1, None]}, "choice"),
        ({"type": ["number", "null"]}, "line"),
        ({"type": ["string", "array"]}, "yaml"),
        ({"type": "object"}, "yaml"),
        ({}, "yaml"),
    ],
)
def test_the_form_follows_the_schema(schema: dict[str, Any], form: str) -> None:
    assert form_of(evolve(setting("model.default"), schema=schema)) == form


async def test_true_false_or_nothing() -> None:
    given = given_all()
    row = evolve(setting("platforms.tui.mouse"), schema={"type": ["boolean", "null"]}, value=None, default=None)
    given.settings.rows[row.key] = row
    app = Host(SettingsScreen(given))
    async with app.run_test(size=USUAL) as pilot:
        await find(pilot, "mouse")
        await pilot.press("enter")
        await settled(pilot)
        assert "(empty)  (now, default)" in drawn(app)
        await pilot.press("home", "enter")
        await settled(pilot)
        assert value(given, row.key) is True


class Bad:
    """No settings."""

    async def list(self) -> list[Setting]:
        raise UserError("config.yaml cannot be read.", hint="hermes config check")


class Unread(Given):
    """Has settings that nobody can read."""

    def __init__(self) -> None:
        super().__init__()
        self.settings = Bad()


async def test_settings_that_cannot_be_read() -> None:
    app = Host(SettingsScreen(Unread()))
    async with app.run_test() as pilot:
        await settled(pilot)
        assert "! config.yaml cannot be read." in drawn(app)
        assert "hermes config check" in drawn(app)
        await pilot.press("enter", "ctrl+r", "escape")
        await settled(pilot)
        assert app.result is None


async def test_a_fault_while_a_switch_turns_is_told() -> None:
    given = given_all()

    async def refuse(key: str, text: str) -> Setting:
        raise ConfigError(["config.yaml:3 gateway: is not a mapping"], hint="Nothing was changed.")

    given.settings.set = refuse  # type: ignore[method-assign]
    app = Host(SettingsScreen(given))
    async with app.run_test(size=USUAL) as pilot:
        await find(pilot, "streaming")
        await pilot.press("enter")
        await settled(pilot)
        assert "! config.yaml:3 gateway: is not a mapping" in drawn(app)
        assert "Nothing was changed." in drawn(app)


async def test_values_of_strangers_are_shown_safely() -> None:
    given = given_all()
    for row in settings_rows():
        if row.type == "text":
            given.settings.rows[row.key] = evolve(row, value=HOSTILE, help=HOSTILE, default=HOSTILE)
    app = Host(SettingsScreen(given))
    async with app.run_test(size=(120, 50)) as pilot:
        for keys in ((), ("enter",)):
            await settled(pilot)
            await pilot.press(*keys)
            await settled(pilot)
            told = drawn(app)
            assert "[bold]x[/]" in told
            assert all(character.isprintable() or character == "\n" for character in told)
            assert not any("quit" in action for action in clickable(app))
        assert "characters that cannot be shown here" in drawn(app)


async def test_several_lines_of_text() -> None:
    given = given_all()
    given.settings.rows["model.default"] = evolve(setting("model.default"), value="one\ntwo: [x]")
    app = Host(SettingsScreen(given))
    async with app.run_test(size=USUAL) as pilot:
        await find(pilot, "model.default")
        await pilot.press("enter")
        await settled(pilot)
        area = app.screen.query_one(TextArea)
        assert area.text == "one\ntwo: [x]"
        area.text += "\n# three"
        await pilot.press("ctrl+s")
        await settled(pilot)
        assert value(given, "model.default") == "one\ntwo: [x]\n# three"
