"""One command in a sandbox, seen from outside: its pipes, its output, its end."""

import asyncio
import contextlib
import os
from collections.abc import Callable, Mapping
from typing import Any

from hermes_backend_bubblewrap.sandbox import Sandbox
from hermes_backend_bubblewrap.shell import DESCRIPTOR
from hermes_core.errors import ToolError

LINGER = 0.4  # how long output may still come after the command itself ended
GRACE = 2.0  # how long a tree may take to end when asked politely
SHORT_GRACE = 0.2  # the same when a person wants it to stop
CHUNK = 262_144
KILLED = 137


class Job:
    """A running command. ``finished`` gives its exit status once its output is complete too; ``gone``: its tree."""

    def __init__(self, sandbox: Sandbox, sink: Callable[[bytes], None]) -> None:
        self._sandbox = sandbox
        self._sink = sink
        self._loop = asyncio.get_running_loop()
        self._number = 0
        self._status: int | None = None
        self._out = self._in = -1
        self._input = bytearray()
        self._input_open = False
        self.finished: asyncio.Future[int] = self._loop.create_future()
        self.finished.add_done_callback(lambda done: done.cancelled() or done.exception())  # maybe nobody waits
        self.gone = asyncio.Event()

    async def start(self, request: Mapping[str, Any], stdin: bytes | None, trace: int = -1) -> None:
        """Start it. ``stdin`` None: more may come through ``write``. Raises ToolError."""
        self._input_open = stdin is None
        self._input += stdin or b""
        self._out, writing = os.pipe()
        inner = [writing]
        if self._input or self._input_open:
            reading, self._in = os.pipe()
            inner.append(reading)
        try:
            asked = {**request, "stdin": len(inner) == 2, "trace": DESCRIPTOR}
            fds = [*inner, *([trace] if trace >= 0 else [])]
            self._number = await self._sandbox.submit(self, asked, fds)
        except BaseException:
            self.close()
            raise
        finally:
            for fd in inner:
                os.close(fd)
        os.set_blocking(self._out, False)
        self._loop.add_reader(self._out, self._readable)
        if self._in >= 0:
            os.set_blocking(self._in, False)
            self._writable()

    def _readable(self) -> None:
        try:
            data = os.read(self._out, CHUNK)
        except BlockingIOError:
            return
        if not data:
            self._close_output()
            self._settle()
            return
        try:
            self._sink(data)
        except Exception as error:  # noqa: BLE001 - the listener's error belongs to whoever waits for the command
            if not self.finished.done():
                self.finished.set_exception(error)

    def _writable(self) -> None:
        try:
            if self._input:
                del self._input[: os.write(self._in, self._input)]
        except BlockingIOError:
            pass
        except OSError:  # the command does not want its input
            self._input.clear()
            self._input_open = False
        if self._input:
            self._loop.add_writer(self._in, self._writable)
        else:
            self._loop.remove_writer(self._in)
            if not self._input_open:
                self._close_input()

    def write(self, data: bytes) -> None:
        """Send to standard input; only when it was left open. Raises ToolError once the command closed it."""
        if self._in < 0 or not self._input_open:
            raise ToolError("The process takes no more input.")
        self._input += data
        self._writable()

    def exited(self, status: int) -> None:
        """The launcher says how it ended."""
        self._status = status
        if self._out >= 0:
            self._loop.call_later(LINGER, self._give_up)
        self._settle()

    def failed(self, why: str) -> None:
        """The launcher says that it never began."""
        if not self.finished.done():
            self.finished.set_exception(ToolError(why))
        self.gone.set()

    def lost(self) -> None:
        """The sandbox is gone, and this with it."""
        self.gone.set()
        if self._status is None:
            self._status = KILLED
            if not self.finished.done():
                self.finished.set_exception(
                    ToolError(
                        "The sandbox ended while the command ran.",
                        hint="It may have used up its memory or its processes. The next command gets a new sandbox; "
                        "what was in /tmp is gone.",
                    )
                )
        self._settle()

    def _give_up(self) -> None:
        # Something that outlived the command still holds the pipe. The command has ended; so does the wait.
        self._close_output()
        self._settle()

    def _settle(self) -> None:
        if self._out < 0 and self._status is not None and not self.finished.done():
            self.finished.set_result(self._status)

    async def end(self, grace: float = GRACE) -> None:
        """End the command and all it started: politely, and after ``grace`` seconds for good. Leaves nothing behind."""
        try:
            await self._sandbox.end(self._number, grace)
            if self._sandbox.alive:
                # Beyond this the launcher has killed everything inside; if even that is not told, it goes itself.
                async with asyncio.timeout(grace + 5.0):
                    await self.gone.wait()
        except TimeoutError:
            await self._sandbox.close()
        finally:
            self.close()
            if self._status is None:
                self._status = KILLED
            self._settle()

    def close(self) -> None:
        """Let go of the pipes; the command itself is left alone."""
        self._close_output()
        self._close_input()

    def forget(self) -> None:
        """Let go of everything."""
        self.close()
        self._sandbox.forget(self._number)

    def _close_output(self) -> None:
        if self._out >= 0:
            self._loop.remove_reader(self._out)
            os.close(self._out)
            self._out = -1

    def _close_input(self) -> None:
        if self._in >= 0:
            with contextlib.suppress(ValueError):
                self._loop.remove_writer(self._in)
            os.close(self._in)
            self._in = -1
