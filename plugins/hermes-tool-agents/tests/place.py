"""A folder in which commands run and can be talked to, without any other plugin."""

import asyncio
import contextlib
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE
from pathlib import Path

from hermes_core.errors import ToolError
from hermes_core.kinds import Process
from hermes_core.testing import FakeWorkspace
from hermes_core.testing.witness import off_the_record
from hermes_core.types import ExecRequest, Feature

__all__ = ["Place"]


class Runs(Process):
    """A real process, in a group of its own."""

    def __init__(self, process: asyncio.subprocess.Process, request: ExecRequest) -> None:
        self.id, self.process = str(process.pid), process
        self._reading = asyncio.ensure_future(self._read(request))

    async def _read(self, request: ExecRequest) -> None:
        assert self.process.stdout
        assert request.on_output
        while data := await self.process.stdout.read(65536):
            request.on_output(data)

    async def read(self) -> bytes:
        return b""

    async def poll(self) -> int | None:
        return self.process.returncode

    async def write(self, data: bytes) -> None:
        assert self.process.stdin
        try:
            self.process.stdin.write(data)
            await self.process.stdin.drain()
        except OSError as error:
            raise ToolError(str(error)) from error

    async def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        await self.process.wait()
        await self._reading
        if self.process.stdin:
            self.process.stdin.close()


class Place(FakeWorkspace):
    """One. ``begun`` are the processes that were started in it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder=folder)
        self.features = frozenset({Feature.BACKGROUND, Feature.LOCAL})
        self.begun: list[Runs] = []

    async def start(self, request: ExecRequest) -> Process:
        self.requests.append(request)
        env = {**os.environ, **request.env}
        with off_the_record():
            made = await asyncio.create_subprocess_exec(
                *request.argv, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, cwd=self.folder, env=env, start_new_session=True
            )
        self.begun.append(Runs(made, request))
        return self.begun[-1]
