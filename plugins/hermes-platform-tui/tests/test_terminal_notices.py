"""Notices, titles and the clipboard: told in the terminal's own way, and foreign text drives nothing."""

import base64
import os
import re
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_platform_tui.terminal.clipboard import LIMIT, Clipboard
from hermes_platform_tui.terminal.notify import Notifier
from hermes_platform_tui.terminal.plain import plain
from hermes_platform_tui.terminal.title import Title

KITTY = {"TERM": "xterm-kitty"}
HOSTILE = "a\x1b]0;evil\x07b\x9b31mc\x1b\\d\ne\u202ef\x07;g\x00\ud800"


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def notifier(environ: dict[str, str], mode: str = "auto") -> tuple[Notifier, list[str], Clock]:
    written: list[str] = []
    clock = Clock()
    return Notifier(written.append, environ, mode, clock=clock), written, clock  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        (KITTY, "\x1b]99;i=hermes:d=0:o=unfocused;Done\x1b\\\x1b]99;i=hermes:d=1:p=body;all 3 files\x1b\\"),
        ({"TERM": "foot"}, "\x1b]777;notify;Done;all 3 files\x1b\\"),
        ({"TERM": "rxvt-unicode"}, "\x1b]777;notify;Done;all 3 files\x1b\\"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, "\x1b]9;Done: all 3 files\x1b\\"),
        ({"TERM": "xterm-ghostty"}, "\x1b]9;Done: all 3 files\x1b\\"),
        ({"TERM": "xterm-256color", "LC_TERMINAL": "iTerm2"}, "\x1b]9;Done: all 3 files\x1b\\"),
        ({"TERM": "xterm-256color"}, "\a"),
        ({"TERM": "screen", "STY": "1", "KITTY_WINDOW_ID": "1"}, "\a"),
    ],
)
def test_a_notice_in_the_terminals_own_way(environ: dict[str, str], words: str) -> None:
    told, written, _ = notifier(environ)
    told.focus(False)
    assert told.tell("Done", "all 3 files")
    assert written == [words]


def test_in_tmux_it_is_wrapped_and_the_bell_is_rung() -> None:
    told, written, _ = notifier({"TERM": "tmux-256color", "TMUX": "/tmp/x", "WEZTERM_PANE": "0"})
    told.focus(False)
    assert told.tell("Done") == "osc9"
    assert written == ["\x1bPtmux;\x1b\x1b]9;Done\x1b\x1b\\\x1b\\\a"]


def test_whoever_looks_is_not_told() -> None:
    told, written, clock = notifier(KITTY)
    told.focus(True)
    clock.now += 3600
    assert told.tell("Done") == ""
    told.focus(False)
    assert told.tell("Done") == "osc99"
    assert len(written) == 1


def test_a_terminal_that_never_says_is_left_when_no_key_comes_for_a_while() -> None:
    told, _, clock = notifier({"TERM": "xterm"})
    clock.now += 10
    told.touched()
    clock.now += 15
    assert told.tell("Done") == ""
    clock.now += 10
    assert told.tell("Done") == "bell"


def test_bell_and_off_and_always() -> None:
    told, written, _ = notifier(KITTY, "bell")
    assert told.tell("Done", always=True) == "bell"
    assert written == ["\a"]
    told, written, _ = notifier(KITTY, "off")
    told.focus(False)
    assert told.tell("Done", always=True) == ""
    assert written == []


def test_many_at_once_are_one() -> None:
    told, written, clock = notifier({"TERM": "xterm"})
    told.focus(False)
    for _ in range(5):
        told.tell("Done")
    assert written == ["\a"]
    clock.now += 2
    told.tell("Done")
    assert len(written) == 2


def test_a_notice_is_no_progress_bar() -> None:
    told, written, _ = notifier({"TERM": "xterm-ghostty"})
    told.focus(False)
    told.tell("4;1;50")
    assert written == ["\x1b]9;· 4;1;50\x1b\\"]


@pytest.mark.parametrize("environ", [KITTY, {"TERM": "foot"}, {"TERM": "xterm-ghostty"}])
def test_a_hostile_notice_stays_one_notice(environ: dict[str, str]) -> None:
    told, written, _ = notifier(environ)
    told.focus(False)
    told.tell(HOSTILE, HOSTILE)
    inner = re.split("\x1b\\]|\x1b\\\\", written[0])
    assert not [part for part in inner if re.search("[\x00-\x1f\x7f-\x9f\u202e]", part)]
    assert "evil" not in written[0]
    if environ["TERM"] == "foot":
        assert written[0].count(";") == 3


@given(st.text())
def test_plain_text_drives_nothing(text: str) -> None:
    cleaned = plain(text, 50)
    assert len(cleaned) <= 50
    assert not re.search("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]", cleaned)
    assert plain(cleaned, 50) == cleaned


def test_a_title_is_put_on_a_pile_and_taken_off() -> None:
    written: list[str] = []
    title = Title(written.append)
    title.restore()
    assert written == []
    title.show(HOSTILE)
    title.show(HOSTILE)
    title.show("next " + "x" * 100)
    title.restore()
    assert written == [
        "\x1b[22;0t\x1b]2;abcd e f ;g ?\x1b\\",
        "\x1b]2;next " + "x" * 74 + "…\x1b\\",
        "\x1b]2;\x1b\\\x1b[23;0t",
    ]
    title.again()
    assert written[3].startswith("\x1b[22;0t\x1b]2;next ")


def test_titles_can_be_off() -> None:
    written: list[str] = []
    title = Title(written.append, off=True)
    title.show("x")
    assert title.end() == ""
    assert written == []


class Programs:
    """Programs that note what they are given."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(self, name: str, body: str = 'printf "%s\\n" "$0 $*" > "{0}.args"; cat > "{0}.text"') -> None:
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{body.format(path)}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def clipboard(self, **environ: str) -> tuple[Clipboard, list[str]]:
        written: list[str] = []
        environ = {"PATH": f"{self.folder}:{os.defpath}", **environ}

        def which(name: str) -> str | None:
            return str(self.folder / name) if (self.folder / name).exists() else None

        return Clipboard(written.append, environ, which=which), written


@pytest.fixture
def programs(tmp_path: Path) -> Programs:
    return Programs(tmp_path)


async def test_a_desktops_program_is_best(programs: Programs, tmp_path: Path) -> None:
    programs.add("wl-copy")
    programs.add("xclip")
    clipboard, written = programs.clipboard(WAYLAND_DISPLAY="w", DISPLAY=":0")
    copied = await clipboard.copy("naïve\n\x1b[31m text")
    assert copied.way == "program"
    assert copied.note == "Copied to the clipboard (16 characters)."
    assert (tmp_path / "wl-copy.text").read_text() == "naïve\n\x1b[31m text"
    assert not (tmp_path / "xclip.text").exists()
    assert written == []


async def test_a_program_that_fails_is_followed_by_the_next_and_by_the_terminal(programs: Programs) -> None:
    programs.add("wl-copy", "exit 1")
    clipboard, written = programs.clipboard(WAYLAND_DISPLAY="w", DISPLAY=":0")
    copied = await clipboard.copy("text")
    assert copied.way == "terminal"
    assert written == [f"\x1b]52;c;{base64.b64encode(b'text').decode()}\x1b\\"]


@pytest.mark.parametrize(
    "where", [{"SSH_TTY": "/dev/pts/0", "DISPLAY": ":0"}, {}, {"DISPLAY": ":0", "TEXTUAL_DRIVER": "x"}]
)
async def test_elsewhere_the_terminal_is_asked(programs: Programs, where: dict[str, str]) -> None:
    programs.add("xclip")
    clipboard, written = programs.clipboard(**where)
    assert (await clipboard.copy("x")).note == "Sent to the terminal's clipboard (1 character)."
    assert len(written) == 1


async def test_tmux_passes_it_on(programs: Programs, tmp_path: Path) -> None:
    programs.add("tmux")
    clipboard, _ = programs.clipboard(TMUX="/tmp/x", SSH_TTY="/dev/pts/0")
    assert (await clipboard.copy("text")).note == "Copied to tmux and its terminal (4 characters)."
    assert (tmp_path / "tmux.args").read_text().strip().endswith("tmux load-buffer -w -")


async def test_too_much_for_a_terminal_is_told(programs: Programs) -> None:
    clipboard, written = programs.clipboard()
    assert (await clipboard.copy("x" * LIMIT)).way == "terminal"
    assert len(written[0]) < 100_020
    copied = await clipboard.copy("x" * (LIMIT + 1))
    assert copied.way == "none"
    assert "74,995 characters are too many" in copied.note
    assert len(written) == 1
    clipboard, _ = programs.clipboard(STY="1")
    assert (await clipboard.copy("x")).way == "none"


async def test_a_program_that_hangs_is_not_waited_for(programs: Programs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hermes_platform_tui.terminal.clipboard._PATIENCE", 0.2)
    programs.add("xclip", "exec sleep 60")
    clipboard, written = programs.clipboard(DISPLAY=":0")
    assert (await clipboard.copy("x" * 300_000)).way == "none"
    assert (await clipboard.copy("x")).way == "terminal"
    assert len(written) == 1
