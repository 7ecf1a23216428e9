"""Processes that a test may kill, each a fork of one interpreter: a death costs milliseconds, not a start of Python.

A script calls ``serve`` with what its processes do; a test starts the script with ``Forks`` and gives it orders.
"""

import importlib
import json
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn, Self

__all__ = ["Forks", "serve"]


class Forks:
    """A script that plays orders, each in a process of its own, one after the other."""

    def __init__(self, script: Path) -> None:
        pipe = subprocess.PIPE
        self._server = subprocess.Popen([sys.executable, str(script)], stdin=pipe, stdout=pipe, text=True)
        self._playing = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._end()
        self._server.communicate()

    def start(self, *, env: Mapping[str, str] | None = None, output: Path | None = None, **order: Any) -> int:
        """Start a process, with more variables and a file for all it prints; its number. The last one is ended."""
        assert self._server.stdin
        self._end()
        what = {"env": dict(env or {}), "output": str(output or ""), "order": order}
        self._server.stdin.write(json.dumps(what) + "\n")
        self._server.stdin.flush()
        self._playing = self._told()
        return self._playing

    def wait(self) -> int:
        """The status of the process that was started, once it has ended; -9 when it was killed."""
        status = self._told()
        self._playing = 0
        return status

    def play(self, **what: Any) -> int:
        """The status of a process that plays an order."""
        self.start(**what)
        return self.wait()

    def _end(self) -> None:
        """End the process of a test that did not wait for it."""
        if self._playing:
            os.kill(self._playing, signal.SIGKILL)
            self.wait()

    def _told(self) -> int:
        assert self._server.stdout
        return int(self._server.stdout.readline())


def serve(play: Callable[..., object]) -> None:
    """Play each order of standard input in a fork, until there are no more.

    What a process has imported when it ends in order, those after it need not import again.
    """
    for line in sys.stdin:
        what = json.loads(line)
        told, tells = os.pipe()
        child = os.fork()
        if not child:
            os.close(told)
            _live(play, what, tells)
        os.close(tells)
        _say(child)
        with os.fdopen(told) as pipe:
            modules = pipe.read().split()
        _say(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        for name in modules:
            with suppress(ImportError):  # what was made up for an order
                importlib.import_module(name)


def _say(number: int) -> None:
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


def _live(play: Callable[..., object], what: Mapping[str, Any], tells: int) -> None:
    status, before, me, leave = 1, set(sys.modules), os.getpid(), os._exit

    def tell_and_leave(status: int) -> NoReturn:
        if not status and os.getpid() == me:
            os.write(tells, "\n".join(set(sys.modules) - before).encode())
        leave(status)

    os._exit = tell_and_leave  # a command line leaves by this door too
    try:
        os.setsid()
        output = os.open(what["output"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600) if what["output"] else 2
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.environ.update(what["env"])
        play(**what["order"])
        status = 0
    except SystemExit as end:
        status = int(end.code or 0)
    except BaseException:  # noqa: BLE001 - it is told, and the process ends here
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
