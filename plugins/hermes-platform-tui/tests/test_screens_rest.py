"""Help, insights, usage, skins, the small dialogs, the palette."""

import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from textual.command import CommandPalette
from textual.widgets import Input

from hermes_core.errors import UserError
from hermes_core.types import Principal, SlashCommand, Usage, UsageRow
from hermes_platform_tui.screens.confirm import ConfirmDialog
from hermes_platform_tui.screens.error import ErrorScreen
from hermes_platform_tui.screens.help import HelpScreen
from hermes_platform_tui.screens.insights import InsightsScreen
from hermes_platform_tui.screens.palette import Entry
from hermes_platform_tui.screens.prompt import PromptDialog
from hermes_platform_tui.screens.skins import SkinPicker
from hermes_platform_tui.screens.usage import UsageScreen

sys.path.insert(0, str(Path(__file__).parent))
from screens_cases import (
    HOSTILE,
    KEYS,
    TODAY,
    Given,
    Host,
    clickable,
    commands,
    drawn,
    ended,
    given_all,
    settled,
    skins,
    until,
)

pytestmark = pytest.mark.long


def safe(app: Host, *, times: int = 1) -> None:
    told = drawn(app)
    assert told.count("[bold]x[/]") >= times
    assert all(character.isprintable() or character == "\n" for character in told)
    assert not any("quit" in action for action in clickable(app))


# help


@pytest.mark.parametrize(
    ("keys", "result"), [("escape", None), ("/ n e w enter", "/new"), ("e d i t o r enter", "not yet")]
)
async def test_help_ends_with_a_command(keys: str, result: str | None) -> None:
    app = Host(HelpScreen(commands(), KEYS))
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press(*keys.split())
        await settled(pilot)
        assert app.result == result


async def test_help_finds_keys_commands_and_other_names() -> None:
    app = Host(HelpScreen(commands(), KEYS))
    async with app.run_test(size=(100, 40)) as pilot:
        await settled(pilot)
        assert all(words in drawn(app) for words in ("Writing", "Conversation", "Commands", "Ctrl+P", "/compress"))
        await pilot.press(*"theme")
        await settled(pilot)
        assert "/skin" in drawn(app)
        assert "Ctrl+P" not in drawn(app)
        await pilot.press(*"xyz")
        await settled(pilot)
        assert "Nothing fits" in drawn(app)


async def test_help_of_strangers_is_shown_safely() -> None:
    async def run(session: Any, rest: str) -> str:
        return ""

    app = Host(
        HelpScreen([SlashCommand(name="x", summary=HOSTILE, run=run, usage=HOSTILE)], [("F9", HOSTILE, HOSTILE)])
    )
    async with app.run_test(size=(160, 30)) as pilot:
        await settled(pilot)
        safe(app, times=4)


# insights and usage


def insights(given: Any = None, **more: Any) -> InsightsScreen:
    return InsightsScreen(given or given_all(), today=lambda: TODAY, **more)


async def test_insights_add_up() -> None:
    app = Host(insights())
    async with app.run_test(size=(120, 60)) as pilot:
        await settled(pilot)
        told = drawn(app)
        rows = given_all().sessions.inner.usage_rows
        assert f"{sum(row.turns for row in rows)} turns" in told
        assert f"{sum(row.usage.calls for row in rows)} calls" in told
        for words in (
            "Tokens",
            "Cost",
            "From the cache",
            "openai:gpt-5",
            "conversation",
            "the last 30 days",
            "unknown",
        ):
            assert words in told
        assert told.index("openai:gpt-5") < told.index("Tokens")
        assert "2 calls of unknown price" in told


class Asked(Given):
    """Notes the days that are asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.days: list[int] = []
        self.sessions.usage = self.used

    async def used(self, _owner: Principal, *, days: int = 30) -> Any:
        self.days.append(days)
        if days == 90:
            raise UserError("Too long ago.")
        return ()


async def test_a_long_table_stands_below_the_plots() -> None:
    given = given_all()
    one = given.sessions.inner.usage_rows[0]
    given.sessions.inner.usage_rows = [evolve(one, model=f"model-{n}") for n in range(12)]
    app = Host(insights(given))
    async with app.run_test(size=(120, 60)) as pilot:
        await settled(pilot)
        assert drawn(app).index("Tokens") < drawn(app).index("model-0")


async def test_other_days() -> None:
    app = Host(insights(given := Asked()))
    async with app.run_test() as pilot:
        await settled(pilot)
        for key in ("1", "2", "left", "left", "right", "f5", "3"):
            await pilot.press(key)
            await settled(pilot)
        assert given.days == [30, 7, 30, 7, 7, 30, 30, 90]
        assert "! Too long ago." in drawn(app)
        await pilot.press("1")
        await settled(pilot)
        assert "Nothing was used in the last 7 days." in drawn(app)
        assert "Too long ago." not in drawn(app)
        await pilot.press("q")
        await settled(pilot)
        assert app.result is None


@pytest.mark.parametrize(
    ("usage", "estimated", "unpriced", "said"),
    [
        (Usage(calls=1, cost=0.5, priced="actual"), 0.0, 0, "$0.50"),
        (Usage(calls=1, cost=0.5, priced="estimated"), 0.5, 0, "~$0.50"),
        (Usage(calls=2, cost=0.5), 0.0, 1, "$0.50+?"),
        (Usage(calls=1), 0.0, 1, "unknown"),
        (Usage(calls=1, priced="actual"), 0.0, 0, "free"),
    ],
)
async def test_what_is_known_of_the_cost(usage: Usage, estimated: float, unpriced: int, said: str) -> None:
    given = given_all()
    row: dict[str, Any] = {"day": date.isoformat(TODAY), "provider": "p", "model": "m", "task": "", "turns": 1}
    given.sessions.inner.usage_rows = [UsageRow(**row, usage=usage, estimated=estimated, unpriced=unpriced)]
    app = Host(insights(given))
    async with app.run_test() as pilot:
        await settled(pilot)
        assert f"{said} cost" in drawn(app)


async def test_usage_of_strangers_is_shown_safely() -> None:
    given = given_all()
    row: dict[str, Any] = {"day": HOSTILE, "provider": HOSTILE, "model": HOSTILE, "task": HOSTILE, "turns": 1}
    given.sessions.inner.usage_rows = [UsageRow(**row, usage=Usage(), estimated=0.0, unpriced=0)]
    app = Host(insights(given))
    async with app.run_test(size=(160, 50)) as pilot:
        await settled(pilot)
        safe(app)
        app.push_screen(UsageScreen(Usage(), context=9, window=10, parts={HOSTILE: 3}, model=HOSTILE))
        await settled(pilot)
        safe(app)


@pytest.mark.parametrize(
    ("screen", "said"),
    [
        (UsageScreen(Usage()), "Nobody has told yet how much is used."),
        (UsageScreen(Usage(), context=1000), "1k tokens; how many fit is unknown"),
        (UsageScreen(Usage(), context=50_000, window=200_000), "50k of 200k tokens, 25%"),
        (UsageScreen(Usage(calls=1)), "nobody knows its price"),
        (UsageScreen(Usage(calls=1, priced="actual")), "free"),
        (UsageScreen(Usage()), "nothing yet"),
        (UsageScreen(Usage(input=100, cache_read=80, calls=1)), "80% of what went in"),
    ],
)
async def test_usage_tells_what_is_known(screen: UsageScreen, said: str) -> None:
    app = Host(screen)
    async with app.run_test() as pilot:
        await settled(pilot)
        assert said in drawn(app)
        await pilot.press("q")
        await settled(pilot)
        assert app.result is None


# skins


@pytest.mark.parametrize(
    ("keys", "result", "tried"),
    [
        ("down enter", "slate", ["slate"]),
        ("up up escape", None, ["hermes", "paper"]),
        ("down up escape", None, ["slate", "paper"]),
        ("m o n o enter", "mono", ["mono"]),
        ("escape", None, []),
    ],
)
async def test_skins_are_tried_while_one_chooses(keys: str, result: str | None, tried: list[str]) -> None:
    seen: list[str] = []
    app = Host(SkinPicker(skins(), "paper", seen.append))
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press(*keys.split())
        await settled(pilot)
        assert app.result == result
        assert seen[-len(tried) :] == tried if tried else seen == []


# the small ones


CONFIRMED = {
    "1": "once",
    "2": "always",
    "o": "once",
    "a": "always",
    "c": "cancel",
    "enter": "cancel",
    "escape": "cancel",
    "up enter": "always",
    "home enter": "once",
    "x": "not yet",
    "9": "not yet",
}


async def test_confirming(subtests: pytest.Subtests) -> None:
    async with Host().run_test() as pilot:
        for keys, result in CONFIRMED.items():
            with subtests.test(keys=keys):
                assert await ended(pilot, ConfirmDialog("Sure?"), *keys.split()) == result


async def test_without_a_cancel_the_last_choice_is_the_safe_one() -> None:
    app = Host(ConfirmDialog("Sure?", ("go", "stay")))
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("escape")
        await settled(pilot)
        assert app.result == "stay"


@pytest.mark.parametrize("size", [(40, 12), (80, 24)])
async def test_a_long_text_leaves_the_choices_in_sight(size: tuple[int, int]) -> None:
    app = Host(ConfirmDialog(f"{HOSTILE}\n" + "word " * 2000))
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        told = drawn(app)
        assert all(words in told for words in ("1 once", "2 always", "3 cancel", "Enter choose"))
        assert "[bold]x[/]" in told


@pytest.mark.parametrize(("keys", "result"), [("escape", None), ("enter", None), ("s", "settings"), ("q", "quit")])
async def test_an_error_says_what_to_do(keys: str, result: str | None) -> None:
    app = Host(ErrorScreen("It broke.", "Mend it."))
    async with app.run_test() as pilot:
        await settled(pilot)
        told = drawn(app)
        assert "It broke." in told
        assert "What to do now" in told
        assert "Details" not in told
        await pilot.press(keys)
        await settled(pilot)
        assert app.result == result


@pytest.mark.parametrize("size", [(40, 12), (80, 24)])
async def test_a_long_error_is_read_on_and_copied(size: tuple[int, int]) -> None:
    details = "\n".join(f"frame {n}" for n in range(60))
    app = Host(ErrorScreen(HOSTILE, "Mend it.", details))
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        assert "Esc go on" in drawn(app)
        await pilot.press("down", "up", *["pagedown"] * 9)
        await settled(pilot)
        assert "frame 59" in drawn(app)
        await pilot.press("pageup", "c")
        await settled(pilot)
        assert "Copied." in drawn(app)
        assert app.clipboard.endswith("frame 59")
        assert "\x1b" not in app.clipboard


@pytest.mark.parametrize(
    ("given", "keys", "result"),
    [
        ({}, "a b enter", "ab"),
        ({}, "enter", "not yet"),
        ({"empty": True}, "enter", ""),
        ({"value": "old"}, "enter", "old"),
        ({"value": "old"}, "escape", None),
        ({"check": lambda typed: "Too short." if len(typed) < 3 else ""}, "a enter", "not yet"),
    ],
)
async def test_a_line_of_text(given: dict[str, Any], keys: str, result: str | None) -> None:
    app = Host(PromptDialog("Name", text=HOSTILE, **given))
    async with app.run_test() as pilot:
        await settled(pilot)
        safe(app)
        await pilot.press(*keys.split())
        await settled(pilot)
        assert app.result == result
        if result == "not yet":
            assert ("! Too short." if "check" in given else "! Nothing was typed.") in drawn(app)


# the palette


async def test_everything_is_reached_from_the_palette() -> None:
    done: list[str] = []
    entries = [
        Entry("/model", "Choose who answers.", lambda: done.append("model")),
        Entry("Session: Plan a holiday", "2 days ago", lambda: done.append("session")),
        Entry("Skin: paper", "Ink on paper.", lambda: done.append("skin")),
        Entry(f"Session: {HOSTILE}", HOSTILE, lambda: done.append("hostile")),
    ]
    app = Host(entries=entries)
    async with app.run_test(size=(160, 30)) as pilot:
        for words, what in (("holi", "session"), ("ink", "skin"), ("model", "model"), ("red dro", "hostile")):
            await pilot.press("ctrl+p")
            await until(pilot, lambda: isinstance(app.screen, CommandPalette) and "/model" in drawn(app))
            safe(app, times=2)
            app.screen.query_one(Input).value = words
            await until(pilot, lambda what=what: what != "model" or "/model" in drawn(app))
            await settled(pilot)
            if what == "hostile":
                safe(app, times=2)
            await pilot.press("down", "enter")
            await until(pilot, lambda what=what: done and done[-1] == what)
        assert done == ["session", "skin", "model", "hostile"]
