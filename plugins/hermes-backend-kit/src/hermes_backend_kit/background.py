"""Commands that run on in the background."""

import asyncio
from collections.abc import Awaitable, Callable
from uuid import uuid4

from hermes_backend_kit.output import Unread
from hermes_core.kinds import Process

__all__ = ["Background"]


class Background(Process):
    """A running command, as its backend tells of it: ``over`` whether it has ended, ``status`` what it came to then.

    Its output goes to ``unread``. ``write`` sends to its input, and ``end`` ends it with everything it started.
    """

    def __init__(
        self,
        unread: Unread,
        *,
        over: Callable[[], bool],
        status: Callable[[], int],
        write: Callable[[bytes], Awaitable[None]],
        end: Callable[[], Awaitable[None]],
    ) -> None:
        self.id = uuid4().hex[:12]
        self._unread = unread
        self._over, self._status, self._write, self._end = over, status, write, end

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return not self._over()

    async def read(self) -> bytes:
        """Output since the last read, with a note where some was dropped."""
        await asyncio.sleep(0)  # let the loop hand over what is waiting in the pipe
        return self._unread.read()

    async def poll(self) -> int | None:
        """The exit status, or None while it runs."""
        await asyncio.sleep(0)
        return self._status() if self._over() else None

    async def write(self, data: bytes) -> None:
        """Send to its standard input. Raises ToolError once it takes no more."""
        await self._write(data)

    async def kill(self) -> None:
        """End it and everything it started."""
        await self._end()
