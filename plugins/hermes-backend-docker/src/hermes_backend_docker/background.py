"""Commands that run on in the background."""

import asyncio
from collections.abc import Awaitable, Callable
from uuid import uuid4

from hermes_backend_docker.command import Command
from hermes_backend_kit.endings import KILLED
from hermes_backend_kit.output import Unread
from hermes_core.errors import ToolError
from hermes_core.kinds import Process
from hermes_core.types import ExecRequest

__all__ = ["Background"]


class Background(Process):
    """A running command whose unread output is kept up to the request's limit; the oldest goes first."""

    def __init__(self, request: ExecRequest, end: Callable[[Command], Awaitable[None]]) -> None:
        self.id = uuid4().hex[:12]
        self.command: Command
        self._end = end
        self._unread = Unread(request.limit, request.on_output)
        self.take = self._unread.take  # its next output
        self._killed = False

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return not self.command.over

    async def read(self) -> bytes:
        """Output since the last read, with a note where some was dropped."""
        await asyncio.sleep(0)
        return self._unread.read()

    async def poll(self) -> int | None:
        """The exit status, or None while it runs; 137 when it was killed, also with its container."""
        await asyncio.sleep(0)
        if self.running:
            return None
        status = self.command.marks.status
        return KILLED if status is None or self._killed else status

    async def write(self, data: bytes) -> None:
        """Send to its standard input. Raises ToolError once it has ended."""
        if not self.running:
            raise ToolError("The process takes no more input.")
        await self.command.write(data)

    async def kill(self) -> None:
        """End it and everything it started."""
        if self.running:
            self._killed = True
            await self._end(self.command)
        await self.command.close()
