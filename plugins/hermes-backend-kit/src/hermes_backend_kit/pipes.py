"""The pipes of one command of this machine, on the running event loop, without threads.

asyncio's own subprocesses cost a thread per command on Python 3.11 and several loop rounds on all.
"""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress

from hermes_core.errors import ToolError

__all__ = ["Pipes"]

LINGER = 0.4  # seconds that output may still come after the command itself ended
CHUNK = 262_144


class Pipes:
    """Hands output to ``sink`` and feeds input. ``finished`` is the exit status, once the output is complete too.

    ``open`` them, start the command with the ends it gives, close those, then ``watch``; say ``exited`` when it ended.
    What ``sink`` raises is what ``finished`` raises.
    """

    def __init__(self, sink: Callable[[bytes], None]) -> None:
        self._sink = sink
        self._loop = asyncio.get_running_loop()
        self._out = self._in = -1
        self._input = bytearray()
        self._input_open = False
        self._status: int | None = None
        self._lingering: asyncio.TimerHandle | None = None
        self.finished: asyncio.Future[int] = self._loop.create_future()
        self.finished.add_done_callback(lambda done: done.cancelled() or done.exception())  # maybe nobody waits

    @property
    def status(self) -> int | None:
        """The exit status; None as long as it is not known."""
        return self._status

    def open(self, stdin: bytes | None) -> list[int]:
        """Make them; the command's own ends: of its output, and of its input where it has one.

        ``stdin`` None leaves the input open for ``write``. Whoever opens them closes the ends that are given.
        """
        self._input_open = stdin is None
        self._input += stdin or b""
        self._out, writing = os.pipe()
        if not self._input and not self._input_open:
            return [writing]
        reading, self._in = os.pipe()
        return [writing, reading]

    def watch(self) -> None:
        """Begin to read and to feed."""
        os.set_blocking(self._out, False)
        self._loop.add_reader(self._out, self._readable)
        if self._in >= 0:
            os.set_blocking(self._in, False)
            self._writable()

    def write(self, data: bytes) -> None:
        """Send to standard input; only when it was left open. Raises ToolError once the command closed it."""
        if self._in < 0 or not self._input_open:
            raise ToolError("The process takes no more input.")
        self._input += data
        self._writable()

    def exited(self, status: int) -> None:
        """The command has ended; what still holds its output is waited for shortly."""
        self._status = status
        if self._out >= 0:
            self._lingering = self._loop.call_later(LINGER, self._give_up)
        self._settle()

    def fail(self, error: Exception) -> None:
        """Nothing more will come of it, for this reason."""
        if not self.finished.done():
            self.finished.set_exception(error)

    def close(self) -> None:
        """Let go of them; the command itself is left alone."""
        self._close_output()
        self._close_input()

    def _readable(self) -> None:
        try:
            data = os.read(self._out, CHUNK)
        except BlockingIOError:
            return
        if not data:
            self._give_up()
            return
        try:
            self._sink(data)
        except Exception as error:  # noqa: BLE001 - the listener's error belongs to whoever waits for the command
            self.fail(error)

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

    def _give_up(self) -> None:
        # The output is at its end, or something that outlived the command still holds the pipe: so ends the wait.
        self._close_output()
        self._settle()

    def _settle(self) -> None:
        if self._out < 0 and self._status is not None and not self.finished.done():
            self.finished.set_result(self._status)

    def _close_output(self) -> None:
        if self._lingering:  # what waits in the loop would keep the sink, and all that it holds
            self._lingering.cancel()
            self._lingering = None
        if self._out >= 0:
            self._loop.remove_reader(self._out)
            os.close(self._out)
            self._out = -1

    def _close_input(self) -> None:
        if self._in >= 0:
            with suppress(ValueError):
                self._loop.remove_writer(self._in)
            os.close(self._in)
            self._in = -1
