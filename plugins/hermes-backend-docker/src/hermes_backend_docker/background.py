"""Commands that run on in the background."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from uuid import uuid4

from hermes_backend_docker.command import Command
from hermes_core.errors import ToolError
from hermes_core.kinds import Process
from hermes_core.types import ExecRequest

__all__ = ["Background"]

KILLED = 137


class Background(Process):
    """A running command whose unread output is kept up to the request's limit; the oldest goes first."""

    def __init__(self, request: ExecRequest, end: Callable[[Command], Awaitable[None]]) -> None:
        self.id = uuid4().hex[:12]
        self.command: Command
        self._end = end
        self._limit = request.limit
        self._listener = request.on_output
        self._unread: deque[bytes] = deque()
        self._size = 0
        self._lost = 0
        self._killed = False

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return not self.command.over

    def take(self, data: bytes) -> None:
        """Keep its next output."""
        self._unread.append(data)
        self._size += len(data)
        while self._size > self._limit and len(self._unread) > 1:
            gone = self._unread.popleft()
            self._size -= len(gone)
            self._lost += len(gone)
        if self._listener:
            self._listener(data)

    async def read(self) -> bytes:
        """Output since the last read, with a note where some was dropped."""
        await asyncio.sleep(0)
        note = f"[... {self._lost} bytes left out ...]\n".encode() if self._lost else b""
        data = note + b"".join(self._unread)
        self._unread.clear()
        self._size = self._lost = 0
        return data

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
