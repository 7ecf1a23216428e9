"""A screen of X11, by xdotool, and a way to its picture."""

from collections.abc import Awaitable, Callable, Sequence

from hermes_core.errors import ToolError
from hermes_tool_computer.picture import Picture, of_dump, shown
from hermes_tool_computer.screen import BUTTONS, Run, Screen, Way, Window, line
from hermes_tool_computer.typing_in import type_in

__all__ = ["INSTALL", "X11"]

INSTALL = "apt install xdotool x11-apps x11-xserver-utils xvfb"
_WHEEL = {"up": 4, "down": 5, "left": 6, "right": 7}
_MOST = 40  # windows that are told
# Of one window a line: its id, its place, its name. A window that ends meanwhile is none.
_WINDOWS = """
for w in $(xdotool search --onlyvisible --name . 2>/dev/null | tail -n "$1"); do
  place=$(xdotool getwindowgeometry --shell "$w" 2>/dev/null) || continue
  name=$(xdotool getwindowname "$w" 2>/dev/null | tr '\\n\\t' '  ' | head -c 300) || continue
  echo "$w" $place "$name"
done
"""


class X11(Screen):
    """``dump`` gives a picture of all of it, as xwd does."""

    def __init__(self, run: Run, dump: Callable[[], Awaitable[bytes]], words: str) -> None:
        self._run, self._dump, self.words = run, dump, words

    async def picture(self, largest: int) -> Picture:
        """What is on it."""
        import asyncio

        dump = await self._dump()
        try:
            return await asyncio.to_thread(lambda: shown(of_dump(dump), largest))
        except ValueError as error:
            raise ToolError(f"No picture was made: {error}.") from error

    async def windows(self) -> Sequence[Window]:
        """The windows that can be seen."""
        said = await self._run(("sh", "-c", _WINDOWS, "sh", str(_MOST)), b"")
        return [found for one in said.decode(errors="replace").splitlines() if (found := _window(one))]

    async def focused(self) -> str:
        """The id of the window that keys go to."""
        try:
            said = (await self._run(("xdotool", "getwindowfocus"), b"")).decode(errors="replace").strip()
        except ToolError:
            return ""
        return said if said.isdigit() and said != "1" else ""  # 1: it follows the pointer

    async def click(self, x: int, y: int, button: str, times: int) -> None:
        """Press a button there."""
        repeat = ("--repeat", str(times), "--delay", "60")
        await self._do("mousemove", str(x), str(y), "click", *repeat, str(BUTTONS[button]))

    async def drag(self, x: int, y: int, to_x: int, to_y: int) -> None:
        """Drag, over the middle: what is only jumped over is no drag to many programs."""
        middle = (str((x + to_x) // 2), str((y + to_y) // 2))
        try:
            await self._do(
                "mousemove", str(x), str(y), "mousedown", "1", "sleep", "0.1", "mousemove", *middle, "sleep", "0.1",
                "mousemove", str(to_x), str(to_y), "sleep", "0.1", "mouseup", "1",
            )  # fmt: skip
        except BaseException:
            await self._do("mouseup", "1")  # no button stays pressed
            raise

    async def scroll(self, x: int, y: int, way: Way, amount: int) -> None:
        """Turn the wheel."""
        repeat = ("--repeat", str(amount), "--delay", "20")
        await self._do("mousemove", str(x), str(y), "click", *repeat, str(_WHEEL[way]))

    async def type(self, text: str) -> None:
        """Type a text."""
        await type_in(self._run, text)

    async def key(self, key: str) -> None:
        """Press a key."""
        said = await self._run(("xdotool", "key", "--clearmodifiers", key), b"")
        if b"No such key name" in said:
            raise ToolError(f"There is no key {key}.", hint="Write Return, Tab, F5, ctrl+s, alt+Left.")

    async def focus(self, window: str) -> None:
        """Bring a window to the front; without a window manager nobody else does."""
        try:
            await self._do("windowactivate", window)
        except ToolError:
            await self._do("windowraise", window, "windowfocus", window)
        else:
            await self._do("windowraise", window, "windowfocus", window)

    async def _do(self, *words: str) -> None:
        await self._run(("xdotool", *words), b"")


def _window(said: str) -> Window | None:
    parts = said.split(" ", 7)
    if len(parts) < 7 or not parts[0].isdigit():
        return None
    facts = dict(part.partition("=")[::2] for part in parts[1:7])
    try:
        place = [int(facts[key]) for key in ("X", "Y", "WIDTH", "HEIGHT")]
    except (KeyError, ValueError):
        return None
    return Window(parts[0], line(parts[7] if len(parts) > 7 else "", 120), *place)
