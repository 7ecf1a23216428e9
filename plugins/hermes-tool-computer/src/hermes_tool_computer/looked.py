"""A screen as a model saw it last: what stands at a point of its picture, and whether that is still so."""

from collections.abc import Sequence

from hermes_core.errors import ToolError
from hermes_tool_computer.picture import Picture
from hermes_tool_computer.screen import Screen, Window

__all__ = ["Looked"]

_FIRST = "Look at it first: computer_screen."


class Looked:
    """``screen`` and what was seen of it."""

    def __init__(self, screen: Screen, largest: int) -> None:
        self.screen, self._largest = screen, largest
        self._picture: Picture | None = None
        self.windows: Sequence[Window] = ()
        self.focus = ""

    async def look(self) -> Picture:
        """See it as it is now. Raises ToolError."""
        await self.learn()
        self._picture = await self.screen.picture(self._largest)
        return self._picture

    async def learn(self) -> None:
        """See which windows there are now. Raises ToolError."""
        self.windows, self.focus = await self.screen.windows(), await self.screen.focused()

    def point(self, x: int, y: int) -> tuple[int, int]:
        """Where a point of the last picture is on the screen. Raises ToolError."""
        if self._picture is None:
            raise ToolError("Nobody has looked at the screen yet.", hint=_FIRST)
        if not (0 <= x < self._picture.width and 0 <= y < self._picture.height):
            size = f"{self._picture.width} x {self._picture.height}"
            raise ToolError(f"{x},{y} is not on the picture, which has {size} pixels.", hint=_FIRST)
        scale = self._picture.scale
        return int((x + 0.5) * scale), int((y + 0.5) * scale)

    def at(self, x: int, y: int) -> Window | None:
        """The uppermost window at a point of the screen."""
        return next((window for window in reversed(self.windows) if window.holds(x, y)), None)

    def front(self) -> Window | None:
        """The window that keys go to."""
        return next((window for window in self.windows if window.id == self.focus), None)

    def seen(self) -> None:
        """Raises ToolError where nobody has looked yet."""
        if self._picture is None:
            raise ToolError("Nobody has looked at the screen yet.", hint=_FIRST)

    async def still(self, points: Sequence[tuple[int, int]], *, keys: bool) -> None:
        """Make sure that the same windows stand where they were seen, and get the keys. Raises ToolError."""
        before = [self.at(*point) for point in points], self.focus
        await self.learn()
        now = [self.at(*point) for point in points], self.focus
        if [_id(one) for one in before[0]] != [_id(one) for one in now[0]] or (keys and before[1] != now[1]):
            raise ToolError("Not done: another window is there now than was seen.", hint="Look again: computer_screen.")


def _id(window: Window | None) -> str:
    return window.id if window else ""
