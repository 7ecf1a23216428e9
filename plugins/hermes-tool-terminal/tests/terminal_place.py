"""A plain place to run commands in, so that the tool is tested without any other plugin."""

import asyncio
import contextlib
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from pathlib import Path

from hermes_core.environment import MARK
from hermes_core.errors import ToolError
from hermes_core.kinds import Process, Workspace
from hermes_core.types import ExecRequest, ExecResult, Feature


def marked(mark: str) -> list[int]:
    """The processes of this machine that bear a mark."""
    found = []
    for one in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if f"{MARK}={mark}".encode() in (one / "environ").read_bytes().split(b"\0"):
                found.append(int(one.name))
    return found


class Runs(Process):
    """A real process, known by its mark."""

    def __init__(self, process: asyncio.subprocess.Process, request: ExecRequest) -> None:
        self.id, self.process, self._mark = str(process.pid), process, request.env[MARK]
        self._reading = asyncio.ensure_future(self._read(request))

    async def _read(self, request: ExecRequest) -> None:
        while data := await self.process.stdout.read(65536):
            request.on_output(data)

    async def read(self) -> bytes:
        return b""

    async def poll(self) -> int | None:
        if self.process.returncode is None:
            return None
        await asyncio.wait([self._reading], timeout=0.4)
        return self.process.returncode if self.process.returncode >= 0 else 128 - self.process.returncode

    async def write(self, data: bytes) -> None:
        self.process.stdin.write(data)
        await self.process.stdin.drain()

    async def kill(self) -> None:
        while found := marked(self._mark):
            for one in found:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(one, signal.SIGKILL)
            await asyncio.sleep(0.01)
        await self.process.wait()

    def abandon(self) -> None:
        """Do what the death of Hermes does: nobody holds the other ends of its pipes."""
        self._reading.cancel()
        for one in (0, 1):
            self.process._transport.get_pipe_transport(one).close()


class Plain(Workspace):
    """Runs real commands; remembers what it was asked."""

    features = frozenset({Feature.BACKGROUND, Feature.LOCAL})

    async def start(self, request: ExecRequest) -> Process:
        cwd, env = str(Path(self.cwd, request.cwd)), {**os.environ, **request.env}
        how = {"cwd": cwd, "env": env, "start_new_session": True}
        made = await asyncio.create_subprocess_exec(*request.argv, stdin=PIPE, stdout=PIPE, stderr=STDOUT, **how)
        return Runs(made, request)

    def __init__(self, cwd: str) -> None:
        self.cwd = cwd
        self.asked: list[ExecRequest] = []
        self.missing: set[str] = set()

    async def run(self, request: ExecRequest) -> ExecResult:
        self.asked.append(request)
        if request.argv[0] in self.missing:
            raise ToolError(f"Cannot run {request.argv[0]}: no such program.")
        argv = ("false",) if self.missing and "command -v" in request.argv[-1] else request.argv
        cwd = str(Path(self.cwd, request.cwd))
        process = await asyncio.create_subprocess_exec(*argv, cwd=cwd, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT)
        assert process.stdout
        output = b""
        try:
            async with asyncio.timeout(request.seconds):
                while data := await process.stdout.read(65536):
                    output += data
                    if request.on_output:
                        request.on_output(data)
                return ExecResult(status=await process.wait(), output=output)
        except TimeoutError:
            process.kill()
            await process.wait()
            return ExecResult(status=124, output=output)
        except asyncio.CancelledError:
            process.kill()
            await process.wait()
            raise
