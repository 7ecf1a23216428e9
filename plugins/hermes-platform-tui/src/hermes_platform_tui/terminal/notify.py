"""Telling a person who looks elsewhere that a turn has ended, or that a question waits."""

import time
from collections.abc import Callable, Mapping
from typing import Literal

from hermes_platform_tui.terminal.plain import plain

__all__ = ["Mode", "Notifier", "Way"]

Mode = Literal["auto", "bell", "off"]
Way = Literal["", "bell", "osc9", "osc777", "osc99"]

_TITLE, _BODY = 60, 200
_QUIET = 1.0  # seconds between two notices
_AWAY = 20.0  # seconds without a key, after which a person is taken to be away where the terminal does not say
_BELL = "\a"


class Notifier:
    """Sends notices while the terminal is not looked at, by the terminal's own means or its bell.

    ``write`` takes what goes to the terminal. Tell it of Textual's AppFocus and AppBlur (``focus``), and of keys
    (``touched``): some terminals, and tmux by default, never say whether they are looked at.
    """

    def __init__(
        self,
        write: Callable[[str], object],
        environ: Mapping[str, str],
        mode: Mode = "auto",
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.mode = mode
        self._write = write
        self._clock = clock
        self._way = way_of(environ)
        self._tmux = bool(environ.get("TMUX"))
        self._focused: bool | None = None
        self._touched = clock()
        self._told = float("-inf")

    def focus(self, focused: bool) -> None:
        """The terminal says whether it is looked at."""
        self._focused = focused
        if focused:
            self._touched = self._clock()

    def touched(self) -> None:
        """A key was pressed."""
        self._touched = self._clock()

    @property
    def away(self) -> bool:
        """Whether the person looks elsewhere, as far as can be known."""
        if self._focused is not None:
            return not self._focused
        return self._clock() - self._touched >= _AWAY

    def tell(self, title: str, body: str = "", *, always: bool = False) -> Way:
        """Send a notice if the person is away, or ``always``. How it was sent; empty when it was not."""
        now = self._clock()
        if self.mode == "off" or not (always or self.away) or now - self._told < _QUIET:
            return ""
        self._told = now
        way: Way = self._way if self.mode == "auto" else "bell"
        if way == "bell":
            self._write(_BELL)
            return way
        words = _SPOKEN[way](plain(title, _TITLE), plain(body, _BODY))
        if self._tmux:
            # By default tmux lets nothing through, and does not say so; its bell marks the window at least.
            doubled = words.replace("\x1b", "\x1b\x1b")
            words = f"\x1bPtmux;{doubled}\x1b\\{_BELL}"
        self._write(words)
        return way


def way_of(environ: Mapping[str, str]) -> Way:
    """How the terminal shows notices; a bell when it is not known to show any."""
    if environ.get("STY") or environ.get("ZELLIJ"):
        return "bell"
    names = " ".join(environ.get(name, "") for name in ("TERM", "TERM_PROGRAM", "LC_TERMINAL")).lower()
    if environ.get("KITTY_WINDOW_ID") or "kitty" in names:
        return "osc99"
    if environ.get("ITERM_SESSION_ID") or environ.get("WEZTERM_PANE") or environ.get("GHOSTTY_RESOURCES_DIR"):
        return "osc9"
    if any(name in names for name in ("iterm", "wezterm", "ghostty", "warp")):
        return "osc9"
    return "osc777" if any(name in names for name in ("foot", "rxvt", "contour")) else "bell"


def _osc9(title: str, body: str) -> str:
    # A notice that began with a digit would be another command of other terminals.
    text = f"{title}: {body}" if body else title
    return f"\x1b]9;{f'· {text}' if text[:1].isdigit() else text}\x1b\\"


def _osc777(title: str, body: str) -> str:
    return f"\x1b]777;notify;{title.replace(';', ',')};{body.replace(';', ',')}\x1b\\"


def _osc99(title: str, body: str) -> str:
    if not body:
        return f"\x1b]99;i=hermes:o=unfocused;{title}\x1b\\"
    return f"\x1b]99;i=hermes:d=0:o=unfocused;{title}\x1b\\\x1b]99;i=hermes:d=1:p=body;{body}\x1b\\"


_SPOKEN: dict[str, Callable[[str, str], str]] = {"osc9": _osc9, "osc777": _osc777, "osc99": _osc99}
