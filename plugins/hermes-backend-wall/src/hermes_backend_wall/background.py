"""Commands that run on in the background."""

import asyncio
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from hermes_backend_kit.endings import KILLED
from hermes_backend_kit.output import Unread
from hermes_backend_wall.job import Job
from hermes_backend_wall.sandbox import Sandbox
from hermes_core.errors import ToolError
from hermes_core.kinds import Process
from hermes_core.types import ExecRequest


class Background(Process):
    """A running command whose unread output is kept up to the request's limit; the oldest goes first."""

    def __init__(self, sandbox: Sandbox, request: ExecRequest) -> None:
        self.id = uuid4().hex[:12]
        self._unread = Unread(request.limit, request.on_output)
        self._job = Job(sandbox, self._unread.take)

    async def start(self, request: Mapping[str, Any], stdin: bytes) -> None:
        """Start it. Raises ToolError."""
        await self._job.start(request, None)
        if stdin:
            self._job.write(stdin)

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return not self._job.finished.done()

    async def read(self) -> bytes:
        """Output since the last read, with a note where some was dropped."""
        await asyncio.sleep(0)  # let the loop hand over what is waiting in the pipe
        return self._unread.read()

    async def poll(self) -> int | None:
        """The exit status, or None while it runs; 137 where the sandbox ended under it."""
        await asyncio.sleep(0)
        if not self._job.finished.done():
            return None
        try:
            return self._job.finished.result()
        except ToolError as error:
            if not self._unread:
                self._unread.take(f"{error.text}\n".encode())
            return KILLED

    async def write(self, data: bytes) -> None:
        """Send to its standard input."""
        self._job.write(data)

    async def kill(self) -> None:
        """End it and everything it started."""
        await self._job.end()
        self._job.forget()
