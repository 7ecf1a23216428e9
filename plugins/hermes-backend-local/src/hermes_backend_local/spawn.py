"""One started command on the running event loop, without threads.

This is the hot path of a turn. The exit is seen through a pidfd where there is one, output through one non-blocking
pipe.
"""

import asyncio
import contextlib
import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence

from hermes_backend_kit.endings import GRACE
from hermes_backend_kit.pipes import Pipes
from hermes_backend_kit.shell import is_shell
from hermes_backend_local import tree
from hermes_core.environment import MARK
from hermes_core.errors import ToolError

_RLIMIT_LOCKS = 10  # of Linux; Python has no name for it


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
        self._mark = env[MARK]
        self._pipes = Pipes(sink)
        self.finished = self._pipes.finished
        self._pidfd = -1
        writing, *reading = inner = self._pipes.open(stdin)
        try:
            self._popen = subprocess.Popen(
                _marked(argv, self._mark),
                stdin=reading[0] if reading else subprocess.DEVNULL,
                stdout=writing,
                stderr=subprocess.STDOUT,
                cwd=cwd,
                env=env,
                start_new_session=True,
                pass_fds=pass_fds,
            )
        except (OSError, ValueError, IndexError) as error:
            self._pipes.close()
            raise ToolError(_why(argv, cwd, error)) from error
        finally:
            for fd in inner:
                os.close(fd)
        _mark(self._popen.pid, self._mark)
        self._pipes.watch()
        self._watch()

    @property
    def pid(self) -> int:
        """The process id of the command itself."""
        return self._popen.pid

    def _watch(self) -> None:
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

    def write(self, data: bytes) -> None:
        """Send to standard input; only when it was left open. Raises ToolError once the command closed it."""
        self._pipes.write(data)

    def _exited(self) -> None:
        if self._popen.poll() is None:
            return
        self._close_pidfd()
        code = self._popen.returncode
        self._pipes.exited(code if code >= 0 else 128 - code)

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
            self._exited()

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
        buried = self._popen.poll() is not None
        return tree.members(self._popen.pid, self._mark, buried=buried)

    def close(self) -> None:
        """Let go of pipes and watches; the command itself is left alone."""
        self._pipes.close()
        self._close_pidfd()

    def _close_pidfd(self) -> None:
        if self._pidfd >= 0:
            self._loop.remove_reader(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = -1


def _marked(argv: Sequence[str], mark: str) -> Sequence[str]:
    """A command that marks itself before its first word is read; only a shell can."""
    if not sys.platform.startswith("linux") or not is_shell(argv):
        return argv
    return [argv[0], argv[1], f"ulimit -x {tree.limit_of(mark)} 2>/dev/null || :; {argv[2]}"]


def _mark(pid: int, mark: str) -> None:
    """Lower the limit that tells what a tool started, also where environment and ancestors are left behind."""
    if sys.platform.startswith("linux"):
        import resource

        limit = tree.limit_of(mark)
        with contextlib.suppress(OSError, ValueError):  # it ended already, or has less
            resource.prlimit(pid, _RLIMIT_LOCKS, (limit, limit))


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
