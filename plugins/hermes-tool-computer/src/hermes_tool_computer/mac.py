"""A screen of macOS, by its own commands and cliclick. Judged by what is run; never tried on a Mac.

It needs the permissions Screen Recording and Accessibility for the program that Hermes runs in.
"""

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path

from hermes_core.errors import ToolError
from hermes_tool_computer.picture import Picture, of_png, shown
from hermes_tool_computer.screen import Run, Screen, Way, Window, line

__all__ = ["Mac"]

_BOUNDS = 'tell application "Finder" to get bounds of window of desktop'
_WINDOWS = """
tell application "System Events"
  set said to ""
  repeat with p in (processes whose visible is true)
    repeat with w in windows of p
      try
        set {x, y} to position of w
        set {dx, dy} to size of w
        set place to (unix id of p) & tab & x & tab & y & tab & dx & tab & dy
        set said to said & place & tab & (name of p) & ": " & (name of w) & linefeed
      end try
    end repeat
  end repeat
  return said
end tell
"""
_FRONT = 'tell application "System Events" to get unix id of first process whose frontmost is true'
_FOCUS = """
on run given
  set wanted to item 1 of given as integer
  tell application "System Events" to set frontmost of (first process whose unix id is wanted) to true
end run
"""
_TYPE = """
on run given
  tell application "System Events" to keystroke (item 1 of given)
end run
"""
_HELD = {
    "cmd": "command down", "super": "command down", "ctrl": "control down", "control": "control down",
    "alt": "option down", "option": "option down", "shift": "shift down",
}  # fmt: skip
_CODES = {
    "return": 36, "enter": 36, "tab": 48, "space": 49, "backspace": 51, "escape": 53, "esc": 53, "delete": 117,
    "home": 115, "end": 119, "page_up": 116, "prior": 116, "page_down": 121, "next": 121,
    "left": 123, "right": 124, "down": 125, "up": 126,
    "f1": 122, "f2": 120, "f3": 99, "f4": 118, "f5": 96, "f6": 97, "f7": 98, "f8": 100, "f9": 101, "f10": 109,
    "f11": 103, "f12": 111,
}  # fmt: skip
_CLICKS = {("left", 1): "c", ("left", 2): "dc", ("left", 3): "tc", ("right", 1): "rc"}


class Mac(Screen):
    """The screen of the session that Hermes runs in."""

    words = "your screen"

    def __init__(self, run: Run) -> None:
        self._run = run

    async def picture(self, largest: int) -> Picture:
        """What is on it; on a fine screen a point is several pixels."""
        said = await self._script(_BOUNDS)
        try:
            points = [int(part) for part in said.split(",")][2]
        except (ValueError, IndexError):
            points = 0
        with tempfile.TemporaryDirectory(prefix="hermes-screen-") as folder:
            path = Path(folder) / "screen.png"
            await self._run(("screencapture", "-x", "-m", "-t", "png", str(path)), b"")
            try:
                return await asyncio.to_thread(lambda: shown(of_png(path.read_bytes()), largest, points))
            except FileNotFoundError:
                text = "macOS gave no picture of the screen."
                hint = "Allow it: System Settings, Privacy & Security, Screen Recording"
                raise ToolError(text, hint=hint) from None
            except ValueError as error:
                raise ToolError(f"No picture was made: {error}.") from error

    async def windows(self) -> Sequence[Window]:
        """The windows that can be seen."""
        found = list[Window]()
        for one in (await self._script(_WINDOWS)).splitlines():
            parts = one.split("\t", 5)
            if len(parts) == 6 and all(part.lstrip("-").isdigit() for part in parts[:5]):
                found.append(Window(parts[0], line(parts[5], 120), *map(int, parts[1:5])))
        return found[::-1][-40:]

    async def focused(self) -> str:
        """The process in front."""
        return (await self._script(_FRONT)).strip()[:20]

    async def click(self, x: int, y: int, button: str, times: int) -> None:
        """Press a button there."""
        kind = _CLICKS.get((button, times))
        if kind is None:
            raise ToolError(f"macOS has no way to press the {button} button {times} times.", retry=False)
        await self._run(("cliclick", f"{kind}:{_at(x, y)}"), b"")

    async def drag(self, x: int, y: int, to_x: int, to_y: int) -> None:
        """Drag, over the middle."""
        middle = _at((x + to_x) // 2, (y + to_y) // 2)
        await self._run(("cliclick", f"dd:{_at(x, y)}", f"dm:{middle}", f"du:{_at(to_x, to_y)}"), b"")

    async def scroll(self, x: int, y: int, way: Way, amount: int) -> None:
        """Refuse: no command of macOS turns the wheel."""
        raise ToolError("The wheel cannot be turned on macOS.", hint="Press Page_Down or Page_Up.", retry=False)

    async def type(self, text: str) -> None:
        """Type, line by line; Return is a key."""
        for number, one in enumerate(text.split("\n")):
            if number:
                await self.key("Return")
            if one:
                await self._script(_TYPE, one)

    async def key(self, key: str) -> None:
        """Press a key."""
        *held, last = key.split("+")
        try:
            using = ", ".join(_HELD[one.lower()] for one in held)
        except KeyError as error:
            raise ToolError(f"There is no key {key}.", hint="Write cmd+s, shift+Tab, Return.") from error
        if (code := _CODES.get(last.lower())) is not None:
            what = f"key code {code}"
        elif len(last) == 1:
            what = f'keystroke "{last}"'  # a letter or a digit: key_of lets nothing else through
        else:
            raise ToolError(f"There is no key {key}.", hint="Write cmd+s, shift+Tab, Return.")
        await self._script(f'tell application "System Events" to {what}{f" using {{{using}}}" if using else ""}')

    async def focus(self, window: str) -> None:
        """Bring the program of a window to the front."""
        await self._script(_FOCUS, window)

    async def _script(self, script: str, *words: str) -> str:
        return (await self._run(("osascript", "-e", script, *words), b"")).decode(errors="replace")


def _at(x: int, y: int) -> str:
    return f"{x:+d},{y:+d}".replace("+", "") if x >= 0 and y >= 0 else f"={x},={y}"
