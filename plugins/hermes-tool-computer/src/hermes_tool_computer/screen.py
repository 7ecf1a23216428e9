"""What a screen can do, whosever it is and whatever draws it."""

import re
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal

from hermes_core.errors import ToolError
from hermes_core.values import frozen
from hermes_tool_computer.picture import Picture

__all__ = ["BUTTONS", "Run", "Screen", "Window", "key_of", "line"]

# A program with its arguments and its input -> what it said. Raises ToolError.
Run = Callable[[Sequence[str], bytes], Awaitable[bytes]]
Way = Literal["up", "down", "left", "right"]
BUTTONS = {"left": 1, "middle": 2, "right": 3}
_KEY = re.compile(r"(?:[A-Za-z0-9_]{1,30}\+){0,4}[A-Za-z0-9_]{1,30}")
# What leaves the session, ends it, or takes the machine from its person.
_NEVER = re.compile(
    r"(?i)(?=.*\b(?:ctrl|control)(?:_[lr])?\+)(?=.*\b(?:alt|meta)(?:_[lr])?\+).*\+(?:delete|backspace|f\d+)"
    r"|.*(?:sys_?re?q|power|sleep|suspend|hibernate|logoff|standby).*"
    r"|(?=.*\bcmd\+)(?=.*\b(?:ctrl|shift|alt|option)\+).*\+(?:q|escape|esc|power)"
)


def line(text: str, most: int = 80) -> str:
    """A text of a screen in one line."""
    text = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return f"{text[:most]}…" if len(text) > most else text


def key_of(text: str) -> str:
    """A key with those that are held, as ``ctrl+s``. Raises ToolError."""
    text = text.strip()
    if not _KEY.fullmatch(text):
        raise ToolError(f"{line(text)!r} is no key.", hint="Write Return, Tab, F5, ctrl+s, alt+Left.")
    if _NEVER.fullmatch(text):
        raise ToolError(f"{text} is never pressed: it ends a session or stops the machine.", retry=False)
    return text


@frozen
class Window:
    """A window as it is now, in pixels of the screen."""

    id: str
    name: str
    x: int
    y: int
    width: int
    height: int

    def holds(self, x: int, y: int) -> bool:
        """Whether a point lies in it."""
        return self.x <= x < self.x + self.width and self.y <= y < self.y + self.height


class Screen(ABC):
    """A screen. Everything raises ToolError. Points are pixels of the screen."""

    words = ""  # whose it is, for people

    @property
    def alive(self) -> bool:
        """Whether it is there."""
        return True

    @abstractmethod
    async def picture(self, largest: int) -> Picture:
        """What is on it."""

    @abstractmethod
    async def windows(self) -> Sequence[Window]:
        """The windows that can be seen, the lowest first."""

    @abstractmethod
    async def focused(self) -> str:
        """The id of the window that keys go to; empty where nobody knows."""

    @abstractmethod
    async def click(self, x: int, y: int, button: str, times: int) -> None:
        """Press a button of the mouse there."""

    @abstractmethod
    async def drag(self, x: int, y: int, to_x: int, to_y: int) -> None:
        """Press the left button at a point, and let it go at another."""

    @abstractmethod
    async def scroll(self, x: int, y: int, way: Way, amount: int) -> None:
        """Turn the wheel there."""

    @abstractmethod
    async def type(self, text: str) -> None:
        """Type a text into the window that has the focus."""

    @abstractmethod
    async def key(self, key: str) -> None:
        """Press a key."""

    @abstractmethod
    async def focus(self, window: str) -> None:
        """Bring a window to the front."""

    async def close(self) -> None:
        """Let go of it."""
