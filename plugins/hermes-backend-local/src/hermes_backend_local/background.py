"""Commands that run on in the background."""

import asyncio
from collections import deque
from collections.abc import Mapping
from uuid import uuid4

from hermes_backend_local.spawn import Spawned
from hermes_core.kinds import Process
from hermes_core.types import ExecRequest


class Background(Process):
    """A running command whose unread output is kept up to the request's limit; the oldest goes first."""

    def __init__(self, request: ExecRequest, cwd: str, env: Mapping[str, str]) -> None:
        self.id = uuid4().hex[:12]
        self._limit = request.limit
        self._listener = request.on_output
        self._unread: deque[bytes] = deque()
        self._size = 0
        self._lost = 0
        self._spawned = Spawned(request.argv, cwd=cwd, env=env, sink=self._take, stdin=None)
        if request.stdin:
            self._spawned.write(request.stdin)

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return not self._spawned.finished.done()

    def _take(self, data: bytes) -> None:
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
        await asyncio.sleep(0)  # let the loop hand over what is waiting in the pipe
        note = f"[... {self._lost} bytes left out ...]\n".encode() if self._lost else b""
        data = note + b"".join(self._unread)
        self._unread.clear()
        self._size = self._lost = 0
        return data

    async def poll(self) -> int | None:
        """The exit status, or None while it runs."""
        await asyncio.sleep(0)
        return self._spawned.finished.result() if self._spawned.finished.done() else None

    async def write(self, data: bytes) -> None:
        """Send to its standard input."""
        self._spawned.write(data)

    async def kill(self) -> None:
        """End it and everything it started."""
        await self._spawned.end()
