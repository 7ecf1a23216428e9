"""A server that a person let out of the wall: its process group ends with it, and its pipes with Hermes."""

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from hermes_core.environment import LOCKS, MARK
from hermes_core.errors import ToolError
from hermes_core.kinds import Process
from hermes_tool_mcp.wire import Heard

__all__ = ["Loose"]

_POLITE = 1.0  # seconds to end by itself once nothing comes any more, and again when it is asked to
_PIECE = 65_536
_RLIMIT_LOCKS = 10  # of Linux; Python has no name for it


class Loose(Process):
    """A process of its own group."""

    def __init__(self, process: asyncio.subprocess.Process, heard: Heard) -> None:
        self.id = str(process.pid)
        self._process = process
        self._reading = asyncio.ensure_future(self._read(heard))

    @classmethod
    async def start(cls, argv: Sequence[str], cwd: str, env: Mapping[str, str], log: Path, heard: Heard) -> "Loose":
        """Start one. Raises ToolError."""
        pipe = asyncio.subprocess.PIPE
        if tie := shutil.which("setpriv"):  # of util-linux: it ends with Hermes, even where it hangs
            argv = [tie, "--pdeathsig", "KILL", "--", *argv]
        marked = {**env, MARK: uuid4().hex}  # it is no person: neither to `hermes` nor to a host
        try:
            log.unlink(missing_ok=True)
            with log.open("ab") as errors:  # at its end, wherever that is: it is cut when it grows long
                process = await asyncio.create_subprocess_exec(
                    *argv, cwd=cwd, env=marked, stdin=pipe, stdout=pipe, stderr=errors, start_new_session=True
                )
        except OSError as error:
            raise ToolError(f"{argv[0]} cannot be started: {error.strerror}.") from error
        _mark(process.pid)
        return cls(process, heard)

    async def _read(self, heard: Heard) -> None:
        assert self._process.stdout is not None, "it was started with a pipe"
        while data := await self._process.stdout.read(_PIECE):
            heard.take(data)
        heard.over("it ended")

    async def read(self) -> bytes:
        return b""

    async def poll(self) -> int | None:
        return self._process.returncode

    async def write(self, data: bytes) -> None:
        assert self._process.stdin is not None, "it was started with a pipe"
        try:
            self._process.stdin.write(data)
            await self._process.stdin.drain()
        except OSError as error:
            raise ToolError("it takes no input any more") from error

    async def kill(self) -> None:
        """Close its input, as the protocol has it; then ask its group, and then end it."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        # No `timeout`: whoever ends it may be cancelled, and Python 3.11 takes its end for that of the whole task then.
        ended = asyncio.ensure_future(self._process.wait())
        for how in (None, signal.SIGTERM, signal.SIGKILL):
            if how is not None:
                with suppress(ProcessLookupError):
                    os.killpg(self._process.pid, how)
            if (await asyncio.wait([ended], timeout=_POLITE))[0]:
                break
        with suppress(ProcessLookupError):  # what it started and left behind
            os.killpg(self._process.pid, signal.SIGKILL)
        for one in (self._reading, ended):
            one.cancel()
        await asyncio.wait([self._reading, ended])


def _mark(pid: int) -> None:
    """Have the system say that Hermes started it, also where it leaves its environment behind."""
    if sys.platform == "linux":
        import resource

        with suppress(OSError, ValueError):  # it ended already, or has less
            resource.prlimit(pid, _RLIMIT_LOCKS, (LOCKS, LOCKS))
