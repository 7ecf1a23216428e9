"""One started command on the running event loop, without threads.

asyncio's own subprocesses cost a thread per command on Python 3.11 and several loop rounds on all; this is the hot
path of a turn. The exit is seen through a pidfd where there is one, output through one non-blocking pipe.
"""

import asyncio
import contextlib
import errno
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from uuid import uuid4

from hermes_backend_local import tree
from hermes_core.errors import ToolError

LINGER = 0.4  # how long output may still come after the command itself ended
GRACE = 2.0  # how long a tree may take to end when asked politely
SHORT_GRACE = 0.2  # the same when a person wants it to stop: nothing is left within a second
CHUNK = 262_144


class Spawned:
    """A running command. ``finished`` gives its exit status once its output is complete too."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        sink: Callable[[bytes], None],
        stdin: bytes | None = b"",
        pass_fds: Sequence[int] = (),
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._sink = sink
        self._marker = uuid4().hex
        self._input = bytearray(stdin or b"")
        self._input_open = stdin is None  # None: more may come through write()
        self.finished: asyncio.Future[int] = self._loop.create_future()
        self._out, writing = os.pipe()
        self._in = -1
        self._pidfd = -1
        reading = subprocess.DEVNULL
        if self._input or self._input_open:
            reading, self._in = os.pipe()
        try:
            self._popen = subprocess.Popen(
                argv,
                stdin=reading,
                stdout=writing,
                stderr=subprocess.STDOUT,
                cwd=cwd,
                env={**env, tree.MARKER: self._marker},
                start_new_session=True,
                pass_fds=pass_fds,
            )
        except (OSError, ValueError, IndexError) as error:
            self._close_pipes()
            raise ToolError(_why(argv, cwd, error)) from error
        finally:
            os.close(writing)
            if reading >= 0:
                os.close(reading)
        self._watch()

    @property
    def pid(self) -> int:
        """The process id of the command itself."""
        return self._popen.pid

    def _watch(self) -> None:
        os.set_blocking(self._out, False)
        self._loop.add_reader(self._out, self._readable)
        if self._in >= 0:
            os.set_blocking(self._in, False)
            self._writable()
        if hasattr(os, "pidfd_open"):
            self._pidfd = os.pidfd_open(self._popen.pid)
            self._loop.add_reader(self._pidfd, self._exited)
        else:
            import threading

            threading.Thread(target=self._wait_in_thread, daemon=True).start()

    def _wait_in_thread(self) -> None:
        self._popen.wait()
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(self._exited)

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

    def _exited(self) -> None:
        if self._popen.poll() is None:
            return
        self._close_pidfd()
        if self._out >= 0:
            self._loop.call_later(LINGER, self._give_up)
        self._settle()

    def _give_up(self) -> None:
        # Something that outlived the command still holds the pipe. The command has ended; so does the wait.
        self._close_output()
        self._settle()

    def _settle(self) -> None:
        if self._out < 0 and not self.finished.done() and self._popen.poll() is not None:
            code = self._popen.returncode
            self.finished.set_result(code if code >= 0 else 128 - code)

    async def end(self, grace: float = GRACE) -> None:
        """End the command and all it started: politely, and after ``grace`` seconds for good. Leaves nothing behind."""
        try:
            await self._end_politely(grace)
        finally:
            # Also when this very wait is cancelled: then there is no time left to be polite.
            for _ in range(5):
                left = self._alive()
                if not left:
                    break
                tree.send(left, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):  # stuck in the kernel: it dies when that lets go
                self._popen.wait(1)
            self.close()
            self._settle()

    async def _end_politely(self, grace: float) -> None:
        deadline = self._loop.time() + grace
        pause = 0.005
        left = self._alive()
        tree.send(left, signal.SIGTERM)
        while left and self._loop.time() < deadline:
            await asyncio.sleep(pause)
            pause = min(2 * pause, 0.1)
            left = self._alive()

    def _alive(self) -> set[int]:
        self._popen.poll()
        return tree.members(self._popen.pid, self._marker)

    def close(self) -> None:
        """Let go of pipes and watches; the command itself is left alone."""
        self._close_pipes()
        self._close_pidfd()

    def _close_pipes(self) -> None:
        self._close_output()
        self._close_input()

    def _close_output(self) -> None:
        if self._out >= 0:
            self._loop.remove_reader(self._out)
            os.close(self._out)
            self._out = -1

    def _close_input(self) -> None:
        if self._in >= 0:
            self._loop.remove_writer(self._in)
            os.close(self._in)
            self._in = -1

    def _close_pidfd(self) -> None:
        if self._pidfd >= 0:
            self._loop.remove_reader(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = -1


def _why(argv: Sequence[str], cwd: str, error: Exception) -> str:
    program = argv[0] if argv else ""
    if isinstance(error, FileNotFoundError):
        if error.filename == cwd:
            return f"Cannot run {program}: there is no folder {cwd}."
        return f"Cannot run {program}: no such program."
    if isinstance(error, NotADirectoryError):
        return f"Cannot run {program}: {cwd} is not a folder."
    if isinstance(error, PermissionError):
        return f"Cannot run {program}: permission denied for {error.filename}."
    if isinstance(error, OSError) and error.errno == errno.E2BIG:
        return f"Cannot run {program}: the command line is too long; write it to a file first, or use stdin."
    return f"Cannot run {program}: {error}."
