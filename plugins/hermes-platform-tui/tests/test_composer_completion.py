"""Completion: when it asks, what it shows, what Tab, Enter, the arrows and Esc do; that typing never waits for it."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from textual import events

sys.path.insert(0, str(Path(__file__).parent))

from composer_app import COMMANDS, ComposerApp, complete, menu_rows, paste, type_in, until

from hermes_core.types import Choice
from hermes_platform_tui.composer.completion import common_part, is_wanted
from hermes_platform_tui.composer.menu import Menu


async def opened(app: ComposerApp, pilot: object, text: str) -> list[str]:
    await type_in(pilot, text)  # type: ignore[arg-type]
    await until(pilot, lambda: menu_rows(app))  # type: ignore[arg-type]
    return menu_rows(app)


async def test_commands_with_what_they_do() -> None:
    app = ComposerApp()
    async with app.run_test() as pilot:
        rows = await opened(app, pilot, "/h")
        assert [row.split(maxsplit=2 if row.startswith("›") else 1) for row in rows] == [
            ["›", "/help", COMMANDS["/help"]],
            ["/history", COMMANDS["/history"]],
            ["/hooks", COMMANDS["/hooks"]],
        ]


async def test_enter_takes_what_is_chosen_and_sends_what_is_whole() -> None:
    app = ComposerApp()
    async with app.run_test() as pilot:
        await opened(app, pilot, "/h")
        await pilot.press("down", "enter")
        assert app.composer.text == "/history"
        assert app.sent == []
        await pilot.press("enter")
        assert app.sent == [("/history", [])]
        await opened(app, pilot, "/help"[:4])
        await pilot.press("p", "enter")
        assert app.sent[-1] == ("/help", [])


async def test_enter_sends_when_nothing_is_chosen() -> None:
    app = ComposerApp()
    async with app.run_test() as pilot:
        rows = await opened(app, pilot, "/model ")
        assert rows == ["  large", "  small"]
        await pilot.press("enter")
        assert app.sent == [("/model ", [])]
        await opened(app, pilot, "/h")
        await pilot.press("up")
        assert not any(row.startswith("›") for row in menu_rows(app))
        await pilot.press("enter")
        assert app.sent[-1] == ("/h", [])


async def test_tab_puts_in_what_all_share_and_then_the_chosen() -> None:
    app = ComposerApp()
    async with app.run_test() as pilot:
        await opened(app, pilot, "/m")
        await pilot.press("tab")
        assert app.composer.text == "/memory"
        await pilot.press("ctrl+u")
        await opened(app, pilot, "look at @s")
        await pilot.press("tab")
        assert app.composer.text == "look at @src/"
        await until(pilot, lambda: len(menu_rows(app)) == 3)
        await pilot.press("m")
        await until(pilot, lambda: len(menu_rows(app)) == 2)
        await pilot.press("down", "tab")
        assert app.composer.text == "look at @src/menu.py"


async def test_what_is_not_final_goes_on() -> None:
    app = ComposerApp()
    async with app.run_test() as pilot:
        await opened(app, pilot, "@")
        await pilot.press("down", "enter")
        assert app.composer.text == "@src/"
        await until(pilot, lambda: any("main.py" in row for row in menu_rows(app)))


async def test_tab_asks_where_nothing_was_asked() -> None:
    asked: list[str] = []

    async def names(text: str, cursor: int) -> Sequence[Choice]:
        asked.append(text[:cursor])
        word = text[:cursor].rpartition(" ")[2]
        return [Choice("rollback", "", len(word))]

    app = ComposerApp(answer=names)
    async with app.run_test() as pilot:
        await type_in(pilot, "do a rol")
        assert asked == []
        await pilot.press("tab")
        await until(pilot, lambda: app.composer.text == "do a rollback")
        assert asked[0] == "do a rol"
        assert app.left == []


async def test_escape_closes_and_it_stays_closed_until_another_word() -> None:
    app = ComposerApp()
    async with app.run_test() as pilot:
        await opened(app, pilot, "/h")
        await pilot.press("escape")
        assert menu_rows(app) == []
        assert app.left == []
        await pilot.press("e")
        await app.workers.wait_for_complete()
        assert menu_rows(app) == []
        await pilot.press("escape")
        assert app.left == ["escape"]
        await pilot.press("ctrl+u")
        assert await opened(app, pilot, "/n")


async def test_moving_away_closes() -> None:
    app = ComposerApp()
    async with app.run_test() as pilot:
        await opened(app, pilot, "/h")
        await pilot.press("left")
        assert menu_rows(app) == []
        assert app.composer.text == "/h"


async def test_it_stays_open_while_one_types(monkeypatch: pytest.MonkeyPatch) -> None:
    app = ComposerApp()
    async with app.run_test() as pilot:
        await opened(app, pilot, "/")
        closed: list[bool] = []
        monkeypatch.setattr(Menu, "close", lambda menu: closed.append(True))
        await type_in(pilot, "hi")
        await until(pilot, lambda: len(menu_rows(app)) == 1)
        assert closed == []


async def test_at_most_eight_rows_and_the_chosen_is_among_them() -> None:
    app = ComposerApp()
    async with app.run_test() as pilot:
        assert len(await opened(app, pilot, "/")) == 8
        await pilot.press(*["down"] * 9)
        assert len(menu_rows(app)) == 8
        assert menu_rows(app)[-1].startswith("› /rollback")
        await pilot.press("down", "down")
        assert menu_rows(app)[0].startswith("› /help")


async def test_on_a_small_screen_the_menu_and_the_text_are_both_seen() -> None:
    app = ComposerApp()
    async with app.run_test(size=(40, 12)) as pilot:
        rows = await opened(app, pilot, "/")
        assert len(rows) == 8
        assert max(map(len, rows)) <= 38
        assert "❯ /" in app.shown
        assert "› /help" in app.shown


async def test_a_click_takes_a_row() -> None:
    app = ComposerApp()
    async with app.run_test() as pilot:
        await opened(app, pilot, "/h")
        await pilot.click("Menu", offset=(4, 2))
        await pilot.pause()
        assert app.composer.text == "/hooks"


async def test_typing_does_not_wait_and_late_answers_are_dropped() -> None:
    gate = asyncio.Event()
    asked: list[str] = []

    async def slow(text: str, cursor: int) -> Sequence[Choice]:
        asked.append(text)
        if text == "/h":
            await gate.wait()
            return [Choice("/wrong", "", cursor)]
        return await complete(text, cursor)

    app = ComposerApp(answer=slow)
    async with app.run_test() as pilot:
        await type_in(pilot, "/h")
        await until(pilot, lambda: asked[-1:] == ["/h"])
        await type_in(pilot, "el")
        assert app.composer.text == "/hel"
        await until(pilot, lambda: menu_rows(app))
        assert menu_rows(app)[0].split()[1] == "/help"
        await pilot.press("ctrl+u", "/", "h")
        await until(pilot, lambda: asked[-1] == "/h")
        await pilot.press("ctrl+u", "x")
        gate.set()
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert menu_rows(app) == []


async def test_enter_right_behind_a_letter_sends_what_is_typed() -> None:
    app = ComposerApp()
    async with app.run_test() as pilot:
        await opened(app, pilot, "/h")
        for key in ("x", "enter"):
            app.post_message(events.Key(key, key if len(key) == 1 else None))
        await pilot.pause()
        assert app.sent == [("/hx", [])]


async def test_an_error_is_no_more_than_no_choices() -> None:
    async def broken(text: str, cursor: int) -> Sequence[Choice]:
        asked.append(text)
        raise RuntimeError("no")

    asked: list[str] = []
    app = ComposerApp(answer=broken)
    async with app.run_test() as pilot:
        await type_in(pilot, "/h")
        await until(pilot, lambda: asked)
        await pilot.press("i", "enter")
        assert app.sent == [("/hi", [])]
        assert app.notices == []


async def test_names_of_files_are_hostile() -> None:
    async def hostile(text: str, cursor: int) -> Sequence[Choice]:
        return [Choice("@a\x1b[31m\nb", "[bold]x[/]\x07 \u202eevil", 1), Choice("@other", "", 1)]

    app = ComposerApp(answer=hostile)
    async with app.run_test() as pilot:
        await opened(app, pilot, "@")
        assert "\x1b" not in app.shown
        assert "\u202e" not in app.shown
        assert "[bold]x[/]" in app.shown
        await pilot.press("enter")
        assert app.composer.text == "@a b"


async def test_chips_do_not_move_what_is_replaced() -> None:
    asked: list[tuple[str, int]] = []

    async def seen(text: str, cursor: int) -> Sequence[Choice]:
        asked.append((text, cursor))
        return await complete(text, cursor)

    app = ComposerApp(answer=seen)
    async with app.run_test() as pilot:
        await paste(pilot, "1\n" * 9)
        await opened(app, pilot, " @R")
        assert asked[-1] == ("[paste #1: 9 lines] @R", 22)
        await pilot.press("enter")
        assert app.composer.text == "1\n" * 9 + " @README.md"


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        ("/", True),
        ("/model sm", True),
        ("/model\n", False),
        (" /", False),
        ("a /", False),
        ("", False),
        ("@", True),
        ("see @src/m", True),
        ("see (@x", True),
        ("me@home", False),
        ("@a b", False),
        ('@"a b', True),
        ("line\n@x", True),
    ],
)
def test_when_it_asks(before: str, wanted: bool) -> None:
    assert is_wanted(before) is wanted


@pytest.mark.parametrize(
    ("texts", "before", "shared"),
    [
        (["@src/main.py", "@src/menu.py"], "@s", "@src/m"),
        (["@src/main.py"], "@s", "@src/main.py"),
        (["/help", "/quit"], "/", ""),
        (["/help", "/helpers"], "/help", ""),
        (["/Help"], "/h", ""),
    ],
)
def test_what_all_choices_share(texts: list[str], before: str, shared: str) -> None:
    assert common_part([Choice(text, "", len(before)) for text in texts], before) == shared
