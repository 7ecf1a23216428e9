"""What the terminal says of its background, in the middle of what is typed."""

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.testing import Steps
from hermes_platform_tui.look.background import ASK, UNFOLLOW, Stream, can_ask, from_colorfgbg, parse_colour
from hermes_platform_tui.look.colour import Rgb
from hermes_platform_tui.look.driver import listening_driver


@pytest.mark.parametrize(
    ("text", "colour"),
    [
        ("rgb:1e1e/1e1e/2e2e", Rgb(0x1E, 0x1E, 0x2E)),
        ("rgb:f/8/0", Rgb(255, 136, 0)),
        ("rgb:ff/80/00", Rgb(255, 128, 0)),
        ("rgba:ffff/ffff/ffff/8000", Rgb(255, 255, 255)),
        ("#fdf6e3", Rgb(0xFD, 0xF6, 0xE3)),
        ("#ffff00000000", Rgb(255, 0, 0)),
        ("?", None),
        ("rgb:12345/0/0", None),
        ("rgb:1/2", None),
        ("#12345", None),
        ("", None),
    ],
)
def test_colours_as_terminals_write_them(text: str, colour: Rgb | None) -> None:
    assert parse_colour(text) == colour


@given(st.text(max_size=40) | st.from_regex(r"(rgba?:|#)[0-9a-fA-F/]{0,20}", fullmatch=True))
def test_no_answer_is_too_strange(text: str) -> None:
    found = parse_colour(text)
    assert found is None or all(0 <= part <= 255 for part in (found.red, found.green, found.blue))


@given(st.integers(0, 255), st.integers(0, 255), st.integers(0, 255), st.integers(2, 4))
def test_every_number_of_digits_means_the_same(red: int, green: int, blue: int, digits: int) -> None:
    most = 16**digits - 1
    text = "rgb:" + "/".join(f"{round(part * most / 255):0{digits}x}" for part in (red, green, blue))
    assert parse_colour(text) == Rgb(red, green, blue)


@pytest.mark.parametrize(
    ("text", "dark"),
    [
        ("15;0", True),
        ("0;15", False),
        ("0;default;15", False),
        ("12;8", True),
        ("0;7", False),
        ("15;default", None),
        ("15", None),
        ("", None),
        ("0;99", None),
        ("0;-1", None),
        ("0;٣", None),
    ],
)
def test_colorfgbg(text: str, dark: bool | None) -> None:
    assert from_colorfgbg(text) is dark


TYPED = st.text("abc123 ;/äé漢", min_size=1, max_size=6)
KEYS = st.sampled_from(
    ["\x1b[A", "\x1bOP", "\x1b[1;5C", "\x1b[200~", "\x1b[?2026;2$y", "\x1b[<0;3;4M", "\x1b", "\x1b[97;5u"]
)
COLOURS = st.builds(Rgb, *[st.integers(0, 255)] * 3)
ENDS = st.sampled_from(["\x07", "\x1b\\"])
PIECES = st.lists(
    st.tuples(TYPED | KEYS, st.none())
    | st.tuples(COLOURS, ENDS).map(
        lambda pair: (f"\x1b]11;rgb:{pair[0].red:02x}/{pair[0].green:02x}/{pair[0].blue:02x}{pair[1]}", pair[0])
    ),
    max_size=8,
)


def cut(text: str, places: list[int]) -> Iterator[str]:
    edges = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    return (text[a:b] for a, b in pairwise(edges))


@given(pieces=PIECES, places=st.lists(st.integers(0, 500), max_size=12), ended=st.booleans())
def test_answers_are_taken_out_and_every_key_stays(
    pieces: list[tuple[str, Rgb | None]], places: list[int], ended: bool
) -> None:
    stream = Stream(waiting=True)
    kept, told = "", []
    text = "".join(text for text, _ in pieces) + ("\x1b[?62;4c" if ended else "")
    for chunk in cut(text, places):
        rest, colours = stream.feed(chunk)
        kept += rest
        told += colours
    kept += stream.release()
    assert kept == "".join(text for text, colour in pieces if colour is None)
    assert told == [colour for _, colour in pieces if colour is not None]
    assert stream.waiting is not ended


@given(
    st.lists(
        st.sampled_from(["\x1b", "]11;", "\x1b]11;rgb:", "0/0/0", "\x07", "\x1b\\", "\x1b[?", "997;1n", "6", "c", "a"])
    ),
    st.booleans(),
    st.booleans(),
)
def test_whatever_a_terminal_answers_is_read_in_few_steps(pieces: list[str], waiting: bool, following: bool) -> None:
    text = "".join(pieces)
    stream = Stream(waiting=waiting, following=following)
    with Steps(len(text), each=60):
        kept = "".join(stream.feed(letter)[0] for letter in text) + stream.release()
    letters = iter(text)
    assert all(letter in letters for letter in kept)  # nothing is made up, and nothing changes its place


@given(st.text(max_size=30))
def test_what_nobody_waits_for_passes_untouched(text: str) -> None:
    stream = Stream()
    assert stream.feed(text) == (text, [])
    assert not stream.holding


def test_typing_is_not_held_back_while_an_answer_is_awaited() -> None:
    stream = Stream(waiting=True)
    assert stream.feed("h") == ("h", [])
    assert stream.feed("\x1b[A") == ("\x1b[A", [])
    assert not stream.holding
    assert stream.feed("\x1b") == ("", [])
    assert stream.holding
    assert stream.release() == "\x1b"


def test_a_turn_from_light_to_dark_is_noticed() -> None:
    stream = Stream(following=True)
    assert stream.feed("a\x1b[?997;1nb") == ("ab", [])
    assert stream.turned
    stream = Stream(following=True)
    assert [stream.feed(part)[0] for part in ("a\x1b[?99", "7;2nb")] == ["a", "b"]
    assert stream.turned


def test_which_terminals_are_asked() -> None:
    assert can_ask({"TERM": "xterm-256color"}, tty=True)
    assert not can_ask({"TERM": "xterm-256color"}, tty=False)
    for term in ("dumb", "linux", "", "eterm-color", "vt100"):
        assert not can_ask({"TERM": term}, tty=True)
    assert listening_driver({"TEXTUAL_DRIVER": "textual.drivers.web_driver:WebDriver"}) is None


PROGRAM = """
import os, sys
from pathlib import Path
from textual.app import App
from textual.widgets import Input
from hermes_platform_tui.look.driver import BackgroundSeen, listening_driver

class Window(App):
    seen = ""
    def compose(self):
        yield Input()
    def on_background_seen(self, event):
        self.seen += event.colour.hex
    def key_escape(self):
        self.seen += " escape"
    def on_input_submitted(self, event):
        Path(sys.argv[1]).write_text(f"{event.value}|{self.seen}")
        self.exit()

Window(driver_class=listening_driver(os.environ)).run()
"""


HASTY = """
import os, sys
from pathlib import Path
from textual.app import App
from hermes_platform_tui.look import driver

class Window(App):
    def on_mount(self):
        self.exit()

driver._PARTING = 60  # however slow this machine is now
Window(driver_class=driver.listening_driver(os.environ)).run()
print("DONE", flush=True)
Path(sys.argv[1]).write_text(input())
"""


def converse(program: str, out: Path, says: Callable[[bytes], bytes]) -> bytes:
    """Play a terminal for a program. ``says`` is shown the screen so far and answers, or says nothing."""
    master, slave = pty.openpty()
    environ = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "60", "LINES": "20"}
    environ.pop("TEXTUAL_DRIVER", None)
    screen, patience = b"", time.monotonic() + 60
    with subprocess.Popen(
        [sys.executable, "-c", program, str(out)], stdin=slave, stdout=slave, stderr=slave, env=environ
    ) as process:
        os.close(slave)
        try:
            while process.poll() is None and time.monotonic() < patience:
                if select.select([master], [], [], 0.05)[0]:
                    try:
                        screen += os.read(master, 65536)
                    except OSError:  # the program has closed its side
                        break
                if said := says(screen):
                    os.write(master, said)
            process.wait(max(0.1, patience - time.monotonic()))
        finally:
            process.kill()
            os.close(master)
    assert process.returncode == 0, screen
    return screen


@pytest.mark.long
def test_a_terminal_answers_while_somebody_types(tmp_path: Path) -> None:
    said = [b"h", b"e\x1b]11;rgb:fd", b"fd/f6f6/e3e3\x1b", b"\\l", b"\x1b[?62;4cl", b"o", b"\x1b", b"\r"]

    def says(screen: bytes) -> bytes:
        # The input field is drawn by then, so what is typed has a place to go.
        ready = ASK.encode() in screen and "▔".encode() in screen
        return said.pop(0) if said and ready else b""

    screen = converse(PROGRAM, tmp_path / "out", says)
    value, seen = (tmp_path / "out").read_text().split("|")
    assert value == "hello"
    assert seen in {"#fdf6e3", "#fdf6e3 escape"}  # an escape and a return at once are alt+return
    assert UNFOLLOW.encode() in screen


def test_nothing_is_left_for_the_shell_when_it_ends_at_once(tmp_path: Path) -> None:
    late = b"\x1b]11;rgb:ffff/ffff/ffff\x07\x1b[?62;4c"
    said = [*[(UNFOLLOW, b"")] * 8, (UNFOLLOW, late), ("DONE", b"from here on\n")]  # a slow line: it takes some looks

    def says(screen: bytes) -> bytes:
        return said.pop(0)[1] if said and said[0][0].encode() in screen else b""

    converse(HASTY, tmp_path / "out", says)
    assert (tmp_path / "out").read_text() == "from here on"
