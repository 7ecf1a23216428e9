"""Pastes: what is collapsed, that it is one thing, and that what is sent is what was put in."""

import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual import events

sys.path.insert(0, str(Path(__file__).parent))

from composer_app import PNG, ComposerApp, anew, paste, settled, type_in, until

from hermes_core.types import Blob
from hermes_platform_tui.composer.clean import SLICE, clean_slowly, plain

pytestmark = pytest.mark.long

TEN = "".join(f"line {number}\n" for number in range(10))


async def test_a_big_paste_is_a_chip_and_sent_whole() -> None:
    app = ComposerApp()
    async with app.run_test() as pilot:
        await type_in(pilot, "See ")
        await paste(pilot, TEN)
        await type_in(pilot, "?")
        assert "See [paste #1: 10 lines]?" in app.shown
        assert "line 3" not in app.shown
        assert app.composer.text == f"See {TEN}?"
        await pilot.press("enter")
        assert app.sent == [(f"See {TEN}?", [])]


SIZES = (
    ("1\n2\n3\n4\n5", 5, 2000, "[paste #1: 5 lines]"),
    ("1\n2\n3\n4\n", 5, 2000, ""),
    ("1\n" * 1200, 5, 2000, "[paste #1: 1,200 lines]"),
    ("x" * 2000, 5, 2000, "[paste #1: 2,000 characters]"),
    ("x" * 1999, 5, 2000, ""),
    ("x\n" * 30, 0, 2000, ""),
    ("x" * 3000, 5, 0, ""),
    ("1\n2\n", 2, 0, "[paste #1: 2 lines]"),
)


async def test_from_which_size(subtests: pytest.Subtests) -> None:
    app = ComposerApp()
    async with app.run_test() as pilot:
        for text, lines, characters, chip in SIZES:
            with subtests.test(text=text[:12], lines=lines, characters=characters, chip=chip):
                await anew(pilot, paste_lines=lines, paste_characters=characters)
                await paste(pilot, text)
                assert app.composer.text == text
                assert ("[paste" in app.shown) == bool(chip)
                assert chip in app.shown


async def test_line_ends_and_control_characters_of_a_paste() -> None:
    app = ComposerApp()
    async with app.run_test() as pilot:
        await paste(pilot, "a\r\nb\rc\x1b[31m\x07\td\u202e")
        assert app.composer.text == "a\nb\nc\td"


async def test_a_chip_goes_as_one() -> None:
    app = ComposerApp()
    async with app.run_test() as pilot:
        await pilot.press("a")
        await paste(pilot, TEN)
        await pilot.press("b", "left", "backspace")
        assert app.composer.text == "ab"
        await pilot.press("ctrl+underscore")
        assert app.composer.text == f"a{TEN}b"
        await pilot.press("left", "x", "right", "y")
        assert app.composer.text == f"ax{TEN}yb"
        await pilot.press("left", "left", "delete")
        assert app.composer.text == "axyb"


async def test_numbers_go_on_and_begin_again() -> None:
    app = ComposerApp()
    async with app.run_test(size=(120, 24)) as pilot:
        await paste(pilot, TEN)
        await paste(pilot, TEN)
        assert "[paste #1: 10 lines][paste #2: 10 lines]" in app.shown
        await pilot.press("enter")
        assert app.sent == [(TEN + TEN, [])]
        await paste(pilot, TEN)
        assert "[paste #1: 10 lines]" in app.shown


async def test_what_looks_like_a_chip_is_text() -> None:
    app = ComposerApp()
    async with app.run_test() as pilot:
        await paste(pilot, TEN)
        mark = app.field.text
        await paste(pilot, f"[paste #1: 10 lines]{mark}")
        await pilot.press("enter")
        assert app.sent == [(f"{TEN}[paste #1: 10 lines]", [])]


async def test_a_megabyte_is_not_inserted_as_text() -> None:
    app = ComposerApp()
    big = "".join(f"{number:06} what is pasted, a line of it\n" for number in range(30_000))
    assert len(big) > 1_000_000
    async with app.run_test() as pilot:
        await paste(pilot, big)
        await until(pilot, lambda: app.composer.text)
        assert len(app.field.text) < 50
        assert sum(len(edit.text) for batch in app.field.history.undo_stack for edit in batch) < 50
        assert "[paste #1: 30,000 lines]" in app.shown
        await pilot.press("x", "enter")
        assert app.sent == [(big + "x", [])]


@pytest.mark.parametrize("size", [10, 3 * SLICE])
async def test_a_long_text_is_cleaned_as_a_short_one(size: int) -> None:
    text = ("word \x1b[31mred\x1b[0m\r\n" * (size // 10)) + "x" * size + "\r\n\ufdd0\ufdef"
    assert await clean_slowly(text) == plain(text)


async def test_a_text_too_long_to_edit_is_folded_wherever_it_comes_from() -> None:
    app = ComposerApp()
    long = "row\n" * 500
    async with app.run_test() as pilot:
        app.composer.set_text(long)
        await pilot.pause()
        assert app.composer.text == long
        assert len(app.field.text) < 50
        app.composer.set_text("row\n" * 20)
        assert app.field.text == "row\n" * 20


async def test_looking_at_a_chip() -> None:
    app = ComposerApp()
    async with app.run_test() as pilot:
        await type_in(pilot, "a ")
        await paste(pilot, TEN)
        await pilot.press("ctrl+o")
        assert "line 3" in app.shown
        await pilot.press("escape", "z")
        assert app.composer.text == f"a {TEN}z"
        await pilot.press("left", "ctrl+o", "e")
        await pilot.pause()
        assert app.field.text == f"a {TEN}z"
        await pilot.press("ctrl+underscore", "ctrl+o", "d")
        await pilot.pause()
        assert app.composer.text == "a z"


async def test_what_is_cut_with_a_chip_comes_back_with_it_and_not_after_it_was_sent() -> None:
    app = ComposerApp()
    async with app.run_test() as pilot:
        await paste(pilot, TEN)
        await pilot.press("ctrl+w", "a", "ctrl+y", "ctrl+y")
        assert app.composer.text == f"a{TEN}{TEN}"
        await pilot.press("enter", "b", "ctrl+y")
        assert app.composer.text == "b"


NAUGHTY = [
    "[bold red]not markup[/] [/] [@click=app.quit]x[/]",
    "\x1b]0;title\x07\x1b[2J\x9b31m\x90q\x9c end",
    "שלום עולם مرحبا \u202eevil\u202c",
    "👩‍👩‍👧‍👦 🏳️‍🌈 é Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A͎̯͇ᐯ",
    "田中さんにあげて下さい" * 9,
    "\ud800 lone \udfff",
    "nul \x00 tab\tvertical\x0bfeed\x0cseparator\x1c\x85next\u2028line\u2029",
    "\ufdd0\ufdd2\ufdd2\ufdd2\ufdd2\ufdef forged",
    "x" * 1500,
    "{} %s %n $(id) `id` ' \" \\ ; --",
    "\ufeffbom\u200bzero\u2060width\ufffe\uffff",
]


async def test_naughty_strings(subtests: pytest.Subtests) -> None:
    app = ComposerApp()
    async with app.run_test(size=(40, 12)) as pilot:
        for text in NAUGHTY:
            with subtests.test(text=ascii(text)):
                await anew(pilot)
                await paste(pilot, text)
                expected = app.composer.text
                assert expected == plain(text)
                assert not any(ord(letter) < 32 or 0x7F <= ord(letter) < 0xA0 for letter in app.shown.replace("\n", ""))
                assert not set(app.shown) & set("\u202e\u2028\u2029\ud800\ufdd0\ufdef")
                await pilot.press("home", "end", "left", "right", "ctrl+u", "ctrl+underscore")
                assert app.composer.text == expected
                await pilot.press("enter")
                assert app.sent == [(expected, [])]


# What is sent, by a model of it: a list of letters and pastes, and a place in it.

KEYS = {
    "left": "left",
    "right": "right",
    "start": "ctrl+a",
    "end": "ctrl+e",
    "before": "backspace",
    "after": "delete",
    "line": "ctrl+j",
    "cut to start": "ctrl+u",
    "cut to end": "ctrl+k",
}
STEPS = st.one_of(
    st.sampled_from([*KEYS]),
    st.sampled_from(["paste:\n1\n2\n3\n4", "paste:xyz\nlonger\n" + "z\n" * 7, "paste:ab", "image"]),
    st.sampled_from("aé猫 ]#").map("type:".__add__),
)
IMAGE = "[image #{}: cat.png]"


class Model:
    """The same with plain lists."""

    def __init__(self) -> None:
        self.items: list[str] = []
        self.at = 0
        self.images = 0

    def put(self, *items: str) -> None:
        self.items[self.at : self.at] = items
        self.at += len(items)

    def start(self) -> int:
        return max((place + 1 for place in range(self.at) if self.items[place] == "\n"), default=0)

    def end(self) -> int:
        return next((p for p in range(self.at, len(self.items)) if self.items[p] == "\n"), len(self.items))

    def cut(self, first: int, last: int) -> None:
        first, last = max(first, 0), min(last, len(self.items))
        del self.items[first:last]
        self.at = first

    def step(self, step: str) -> None:
        name, _, text = step.partition(":")
        if name == "type":
            self.put(text)
        elif name == "paste":
            self.put(*([text] if text.count("\n") >= 4 else text))
        elif name == "image":
            self.images += 1
            self.put(IMAGE.format(self.images))
        elif name == "line":
            self.put("\n")
        elif name in ("left", "right"):
            self.at = min(max(self.at + (1 if name == "right" else -1), 0), len(self.items))
        elif name in ("start", "end"):
            self.at = self.start() if name == "start" else self.end()
        elif name in ("before", "cut to start"):
            first = self.start() if name != "before" else self.at
            self.cut(first if first < self.at else self.at - 1, self.at)
        else:
            last = self.end() if name != "after" else self.at
            self.cut(self.at, last if last > self.at else self.at + 1)


def event(step: str) -> events.Event:
    """What the terminal says when somebody does it."""
    name, _, text = step.partition(":")
    if name == "paste":
        return events.Paste(text)
    if name == "type":
        return events.Key("space" if text == " " else text, text)
    return events.Key(KEYS[name], None)


@settings(max_examples=20)
@given(st.lists(STEPS, min_size=1, max_size=16))
async def test_what_is_sent_is_what_a_simple_model_says(steps: list[str]) -> None:
    app, model = ComposerApp(), Model()
    async with app.run_test(size=(40, 12)) as pilot:
        await until(pilot, lambda: app.focused)
        for step in steps:
            model.step(step)
            if step == "image":
                await settled(pilot)
                app.composer.attach(Blob(media_type="image/png", data=PNG, name="cat.png"))
            else:
                app.post_message(event(step))
        await settled(pilot)
        written = "".join(model.items)
        assert app.composer.text == written, steps
        images = sum(item.startswith("[image #") for item in model.items)
        assert len(app.composer.attachments) == images
        for key, text in (("ctrl+underscore", ""), ("ctrl+shift+z", written)):
            for _ in range(len(steps) + 2):
                app.post_message(events.Key(key, None))
            await settled(pilot)
            assert app.composer.text == text
        await pilot.press("enter")
        assert [(text, len(blobs)) for text, blobs in app.sent] == ([(written, images)] if written.strip() else [])
