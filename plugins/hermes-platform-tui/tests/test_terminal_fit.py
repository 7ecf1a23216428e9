"""Whether the full screen fits, and what the terminal can do."""

import io

import pytest

from hermes_platform_tui.terminal.fit import HEIGHT, WIDTH, Capabilities, unfit


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Closed(io.StringIO):
    def isatty(self) -> bool:
        raise ValueError("closed")


HERE = {"TERM": "xterm-256color", "LANG": "en_GB.UTF-8"}


def test_a_terminal_is_enough() -> None:
    assert unfit(Terminal(), Terminal(), HERE, (80, 24)) == ""
    assert unfit(Terminal(), Terminal(), HERE, (WIDTH, HEIGHT)) == ""
    assert unfit(Terminal(), Terminal(), HERE, (0, 0)) == ""  # a terminal that does not say


@pytest.mark.parametrize(
    ("stdin", "stdout", "environ", "size", "why"),
    [
        (io.StringIO(), Terminal(), HERE, (80, 24), "Input is not a terminal"),
        (Terminal(), io.StringIO(), HERE, (80, 24), "Output is not a terminal"),
        (None, Terminal(), HERE, (80, 24), "Input is not a terminal"),
        (Terminal(), Closed(), HERE, (80, 24), "Output is not a terminal"),
        (Terminal(), Terminal(), {}, (80, 24), "TERM is not set"),
        (Terminal(), Terminal(), {"TERM": "dumb"}, (80, 24), "'dumb'"),
        (Terminal(), Terminal(), HERE, (39, 24), "39×24"),
        (Terminal(), Terminal(), HERE, (80, 11), "80×11"),
    ],
)
def test_what_is_not_enough_is_told_with_the_way_out(
    stdin: object, stdout: object, environ: dict[str, str], size: tuple[int, int], why: str
) -> None:
    told = unfit(stdin, stdout, environ, size)
    assert why in told
    assert "hermes --cli" in told
    assert "\n" not in told


def test_a_browser_needs_no_terminal() -> None:
    assert unfit(io.StringIO(), io.StringIO(), {"TEXTUAL_DRIVER": "x:Y"}, (10, 10)) == ""


@pytest.mark.parametrize(
    ("environ", "colours", "images"),
    [
        ({"TERM": "xterm-kitty", "KITTY_WINDOW_ID": "1", "COLORTERM": "truecolor"}, "true", "kitty"),
        ({"TERM": "xterm-ghostty"}, "true", "kitty"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, "true", "sixel"),
        ({"TERM": "foot"}, "true", "sixel"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, "true", "iterm2"),
        ({"TERM": "xterm-256color", "LC_TERMINAL": "iTerm2"}, "true", "iterm2"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"}, "256", "none"),
        ({"TERM": "tmux-256color", "TMUX": "/tmp/x", "KITTY_WINDOW_ID": "1"}, "256", "none"),
        ({"TERM": "screen.xterm-256color", "STY": "1", "COLORTERM": "truecolor"}, "true", "none"),
        ({"TERM": "xterm-kitty", "NO_COLOR": "1"}, "none", "none"),
        ({"TERM": "xterm-kitty", "NO_COLOR": ""}, "true", "kitty"),
        ({"TERM": "linux"}, "16", "none"),
        ({"TERM": "vt100"}, "none", "none"),
        ({"TERM": "xterm"}, "256", "none"),
        ({"TERM": "xterm-256color", "TEXTUAL_DRIVER": "x:Y", "TEXTUAL_COLOR_SYSTEM": "truecolor"}, "true", "none"),
        ({}, "none", "none"),
    ],
)
def test_colours_and_pictures(environ: dict[str, str], colours: str, images: str) -> None:
    can = Capabilities.of(environ)
    assert (can.colours, can.images) == (colours, images)


@pytest.mark.parametrize(
    ("environ", "there"),
    [
        (HERE, True),
        ({"TERM": "linux"}, False),
        ({"TERM": "dumb"}, False),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"}, False),
        ({"TERM": "xterm-256color", "VTE_VERSION": "4600"}, False),
        ({"TERM": "xterm-256color", "VTE_VERSION": "7600"}, True),
        ({"TERM": "xterm-256color", "VTE_VERSION": "²"}, True),
        ({"TERM": "screen"}, False),
    ],
)
def test_links(environ: dict[str, str], there: bool) -> None:
    assert Capabilities.of(environ).hyperlinks is there


def test_letters_and_distance() -> None:
    assert Capabilities.of({"TERM": "xterm", "LC_ALL": "C", "LANG": "en_GB.UTF-8"}).unicode is False
    assert Capabilities.of({"TERM": "xterm", "LC_CTYPE": "C.utf8"}).unicode is True
    assert Capabilities.of({"TERM": "xterm", "SSH_TTY": "/dev/pts/1"}).remote is True
    assert Capabilities.of({"TERM": "xterm"}).remote is False
