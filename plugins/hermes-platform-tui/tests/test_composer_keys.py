"""Keys: what each does, in which order they act, and that none is lost."""

import sys
from pathlib import Path

import pytest
from textual import events

sys.path.insert(0, str(Path(__file__).parent))

from composer_app import ComposerApp, anew, paste, type_in, until

from hermes_platform_tui.composer import KEYS, Composer

pytestmark = pytest.mark.long


async def test_enter_sends_and_empties() -> None:
    app = ComposerApp()
    async with app.run_test() as pilot:
        await type_in(pilot, "Hello there")
        assert app.changes[-1] == "Hello there"
        await pilot.press("enter")
        assert app.sent == [("Hello there", [])]
        assert app.composer.text == app.changes[-1] == ""


async def test_nothing_is_sent_when_there_is_nothing_and_the_key_is_left_to_the_app() -> None:
    app = ComposerApp()
    async with app.run_test() as pilot:
        await pilot.press("enter", "space", "enter")
        assert app.sent == []
        assert app.left == ["enter", "enter"]
        assert app.composer.text == " "


async def test_new_line(subtests: pytest.Subtests) -> None:
    app = ComposerApp()
    async with app.run_test() as pilot:
        for key in ("shift+enter", "alt+enter", "ctrl+j", "shift+\r"):
            with subtests.test(key=key):
                await anew(pilot)
                await pilot.press("a", key, "b", "enter")
                assert app.sent == [("a\nb", [])]


@pytest.mark.parametrize("said", ["\x1b\r", "\x1b\n", "\n", "\x1b[13;2u", "\x1b[13;3u"])
def test_what_terminals_say_for_a_new_line_is_no_enter(said: str) -> None:
    from textual._xterm_parser import XTermParser

    keys = [event.key for event in XTermParser().feed(said) if isinstance(event, events.Key)]
    assert keys in (["ctrl+j"], ["shift+enter"], ["alt+enter"])


EDITS = {
    "ctrl+a x": "one two\nxthree four",
    "up ctrl+e x": "one twox\nthree four",
    "home x": "one two\nxthree four",
    "ctrl+a end x": "one two\nthree fourx",
    "backspace": "one two\nthree fou",
    "ctrl+h": "one two\nthree fou",
    "left left delete": "one two\nthree for",
    "left ctrl+d": "one two\nthree fou",
    "ctrl+w": "one two\nthree ",
    "ctrl+w ctrl+w": "one two\n",
    "ctrl+w ctrl+w ctrl+w": "one two",
    "ctrl+u": "one two\n",
    "ctrl+u ctrl+u": "one two",
    "ctrl+left ctrl+k": "one two\nthree ",
    "up ctrl+k": "one twothree four",
    "ctrl+w ctrl+a ctrl+y": "one two\nfourthree ",
    "alt+b alt+d": "one two\nthree ",
    "ctrl+left alt+f x": "one two\nthree fourx",
    "shift+left shift+left x": "one two\nthree fox",
    "x ctrl+underscore": "one two\nthree four",
    "x alt+z": "one two\nthree four",
    "x alt+z alt+shift+z": "one two\nthree fourx",
    "x alt+z ctrl+shift+z": "one two\nthree fourx",
    "ctrl+u ctrl+underscore": "one two\nthree four",
}


async def test_editing(subtests: pytest.Subtests) -> None:
    app = ComposerApp()
    async with app.run_test() as pilot:
        for keys, text in EDITS.items():
            with subtests.test(keys=keys):
                await anew(pilot)
                app.composer.set_text("one two\nthree four")
                await pilot.press(*keys.split())
                assert app.composer.text == text


async def test_a_letter_of_several_characters_is_one(subtests: pytest.Subtests) -> None:
    app = ComposerApp()
    async with app.run_test() as pilot:
        for letter in ("👩\u200d👩\u200d👧", "e\u0301", "🏳\ufe0f\u200d🌈", "👍🏽", "猫", "❤\ufe0f"):
            with subtests.test(letter=letter):
                await anew(pilot)
                app.composer.set_text(f"a{letter}b")
                await pilot.press("left", "left", "x")
                assert app.composer.text == f"ax{letter}b"
                await pilot.press("right", "y", "left", "backspace")
                assert app.composer.text == "axyb"
                await pilot.press("ctrl+underscore", "left", "delete")
                assert app.composer.text == "axyb"


async def test_keys_act_in_the_order_in_which_they_come() -> None:
    app = ComposerApp()
    async with app.run_test() as pilot:
        for key in ("a", "b", "left", "c", "ctrl+a", "d", "ctrl+e", "ctrl+w", "e", "enter", "f"):
            app.post_message(events.Key(key, key if len(key) == 1 else None))
        await until(pilot, lambda: app.composer.text == "f")
        assert app.sent == [("e", [])]
        for key in ("a", "left", "b"):
            app.post_message(events.Key(key, key if len(key) == 1 else None))
        await until(pilot, lambda: len(app.composer.text) == 3)
        assert app.composer.text == "fba"


async def test_keys_that_mean_nothing_here_are_left_to_the_app(subtests: pytest.Subtests) -> None:
    app = ComposerApp()
    async with app.run_test() as pilot:
        for key in ("escape", "ctrl+c", "ctrl+d", "ctrl+z", "ctrl+l", "pageup", "pagedown", "ctrl+o"):
            with subtests.test(key=key):
                await anew(pilot)
                await pilot.press(key)
                assert app.left == [key]
                assert app.composer.text == ""


async def test_copying_and_cutting_take_what_a_chip_stands_for() -> None:
    app = ComposerApp()
    async with app.run_test() as pilot:
        await pilot.press("a")
        await paste(pilot, "line\n" * 9)
        await pilot.press("shift+left", "shift+left", "ctrl+c")
        assert app.clipboard == "a" + "line\n" * 9
        await pilot.press("ctrl+x")
        assert app.composer.text == ""
        assert app.left == []


async def test_it_grows_to_a_third_of_the_screen_and_then_scrolls() -> None:
    app = ComposerApp()
    async with app.run_test(size=(40, 24)) as pilot:
        heights = []
        for _ in range(12):
            heights.append(app.composer.outer_size.height)
            await pilot.press("x", "ctrl+j")
            await pilot.pause()
        assert heights == [3, 4, 5, 6, 7, 8, 9, 9, 9, 9, 9, 9]
        assert app.field.max_scroll_y > 0
        assert app.field.scroll_y == app.field.max_scroll_y
        await pilot.press("pageup")
        assert app.left == []
        await pilot.resize_terminal(40, 12)
        await pilot.pause()
        assert app.composer.outer_size.height <= 5


async def test_long_words_wrap_and_up_moves_through_the_rows() -> None:
    app = ComposerApp()
    async with app.run_test(size=(40, 24)) as pilot:
        app.composer.insert("word " * 20)
        await pilot.pause()
        assert app.composer.outer_size.height == 6
        before = app.field.cursor_location
        await pilot.press("up")
        assert app.field.cursor_location[1] < before[1]
        assert app.composer.text == "word " * 20


async def test_what_was_put_in_before_the_start_is_there() -> None:
    app = ComposerApp()
    app.composer.set_text("Good ")
    app.composer.insert("morning")
    app.composer.hint, app.composer.locked = "one moment", "it starts"
    async with app.run_test() as pilot:
        await pilot.pause()
        assert app.composer.text == "Good morning"
        await pilot.press("!")
        assert app.composer.text == "Good morning!"


async def test_a_key_that_nobody_had_goes_where_one_writes() -> None:
    class Forwarding(ComposerApp):
        async def on_key(self, event: events.Key) -> None:
            event.prevent_default()
            self.left.append(f"{event.key} {await self.composer.offer_key(event)}")

    app = Forwarding()
    async with app.run_test() as pilot:
        app.screen.set_focus(None)
        await pilot.press("h", "i", "f5")
        assert app.composer.text == "hi"
        assert app.left == ["h True", "f5 False"]


async def test_while_it_is_locked_nothing_is_sent_and_nothing_lost() -> None:
    app = ComposerApp()
    async with app.run_test() as pilot:
        app.composer.locked = "No model is chosen"
        await type_in(pilot, "Hello\n")
        assert app.sent == []
        assert app.composer.text == "Hello"
        assert "No model is chosen" in app.shown
        app.composer.locked = ""
        await pilot.press("enter")
        assert app.sent == [("Hello", [])]
        assert "No model is chosen" not in app.shown


async def test_what_is_shown_in_the_frame_is_no_markup() -> None:
    app = ComposerApp()
    async with app.run_test() as pilot:
        app.composer.hint, app.composer.locked = "[bold]queued[/]: 2 \x1b[31m", "[/] why\nso"
        await pilot.pause()
        assert app.composer.hint == "[bold]queued[/]: 2 "
        assert "[bold]queued[/]: 2" in app.shown
        assert "[/] why" in app.shown
        assert "\x1b" not in app.shown


async def test_messages_tell_whose_they_are() -> None:
    seen: list[object] = []

    class Listening(ComposerApp):
        def on_composer_submitted(self, message: Composer.Submitted) -> None:
            seen.append(message.control)

    app = Listening()
    async with app.run_test() as pilot:
        await pilot.press("a", "enter")
        assert seen == [app.composer]


async def test_focus_is_seen_and_tab_leaves_an_empty_composer() -> None:
    app = ComposerApp()
    async with app.run_test() as pilot:
        box = app.composer.query_one(".composer--box")
        focused = box.styles.border_top
        app.screen.set_focus(None)
        await pilot.pause()
        assert box.styles.border_top != focused
        app.composer.focus_input()
        await pilot.press("tab")
        assert app.left == ["tab"]


async def test_every_key_that_help_names_is_taken(subtests: pytest.Subtests) -> None:
    names = {"ctrl+_": "ctrl+underscore", "esc": "escape", "shift+arrows": "shift+left"}
    app = ComposerApp()
    async with app.run_test() as pilot:
        for key in sorted({key for keys, _ in KEYS for key in keys.split(", ")}):
            with subtests.test(key=key):
                await anew(pilot)
                await paste(pilot, "1\n" * 9)
                app.composer.insert("/x /y")
                await pilot.press("ctrl+r" if key == "Esc" else "ctrl+a")
                app.left.clear()
                await pilot.press(*[names.get(press, press) for press in key.lower().split(" ")])
                assert app.left == []
