"""Commands that run on in the background."""

import asyncio
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from hermes_backend_kit.output import Unread
from hermes_backend_local.spawn import Spawned
from hermes_backend_wall.background import Background as Inside
from hermes_backend_wall.protected import Protected
from hermes_backend_wall.sandbox import Sandbox
from hermes_core.kinds import Process
from hermes_core.types import ExecRequest


class Background(Process):
    """A running command whose unread output is kept up to the request's limit; the oldest goes first."""

    def __init__(self, request: ExecRequest, cwd: str, env: Mapping[str, str]) -> None:
        self.id = uuid4().hex[:12]
        self._unread = Unread(request.limit, request.on_output)
        self._spawned = Spawned(request.argv, cwd=cwd, env=env, sink=self._unread.take, stdin=None)
        if request.stdin:
            self._spawned.write(request.stdin)

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return not self._spawned.finished.done()

    async def read(self) -> bytes:
        """Output since the last read, with a note where some was dropped."""
        await asyncio.sleep(0)  # let the loop hand over what is waiting in the pipe
        return self._unread.read()

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


class WalledBackground(Inside):
    """One behind the wall. When it ended, what it changed and may not is put back; its output says so."""

    def __init__(self, sandbox: Sandbox, request: ExecRequest, protected: Protected) -> None:
        super().__init__(sandbox, request)
        self._sandbox = sandbox
        self._protected = protected
        self._compared = False

    async def start(self, request: Mapping[str, Any], stdin: bytes) -> None:
        """Start it. Raises ToolError."""
        self._protected.begin()
        self._job.finished.add_done_callback(lambda _: self._compare())
        await super().start(request, stdin)

    async def poll(self) -> int | None:
        """The exit status, once what it changed was looked at; None while it runs."""
        status = await super().poll()
        if status is not None:
            self._compare()
        return status

    def _compare(self) -> None:
        if self._compared:
            return
        self._compared = True
        if said := self._protected.end(left=self._sandbox.left):
            self._unread.take(f"\n{said}\n".encode())
