"""One running sandbox: the launcher behind a wall, and the socket between the launcher and us.

There is one for each workspace, started with its first command. So commands see each other's processes, servers and
``/tmp``, as people expect of one place; and all that was ever started inside ends at once when it is closed.
"""

import asyncio
import contextlib
import json
import logging
import os
import signal
import socket
import subprocess
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from hermes_backend_wall import limits
from hermes_backend_wall.bwrap import Problem
from hermes_backend_wall.compiled import compiled
from hermes_backend_wall.interpreter import python
from hermes_backend_wall.limits import Limits
from hermes_core.errors import ToolError

if TYPE_CHECKING:
    from hermes_backend_wall.job import Job

__all__ = ["OnConnection", "Recipe", "Sandbox"]

_log = logging.getLogger("hermes.backend_wall")
START = 20.0  # seconds a sandbox may take to come up
END = 5.0  # seconds its own first process may take to end what is inside
MESSAGE = 8_192  # bytes of one message from inside; ours are short
ROOM = 16  # connections taken at a time
_ENTER = 'for f in $1; do echo $$ >"$f" || exit 97; done; shift; exec "$@"'
_BEGIN = "import sys; sys.path.append(sys.argv[1]); from hermes_backend_wall.inside import launcher; launcher.main()"

OnConnection = Callable[[socket.socket], Awaitable[None]]


class Recipe(Protocol):
    """How a launcher is put behind one kind of wall."""

    limits: Limits
    dies_hard: bool  # killing the process that was started ends all inside; else it ends that itself

    def command(self, launcher: Sequence[str]) -> AbstractContextManager[tuple[Sequence[str], Sequence[int]]]:
        """What is run so that the launcher runs behind the wall, and the descriptors it needs. Raises UserError."""

    def settings(self) -> Mapping[str, Any]:
        """What the launcher is told besides its limits."""

    def explain(self, said: str) -> Problem:
        """Why it did not come up, from what was written."""


class Sandbox:
    """Started, it runs jobs until it is closed or ends by itself. ``strong`` says what the launcher could shut.

    ``on_connection`` gets each connection that a command makes to the port ``door``; without it there is no port.
    """

    def __init__(self, recipe: Recipe, on_connection: OnConnection | None = None) -> None:
        self._recipe = recipe
        self._on_connection = on_connection
        self._serving: set[asyncio.Future[None]] = set()
        self._jobs: dict[int, Job] = {}
        self._last = 0
        self._loop = asyncio.get_running_loop()
        self._ready: asyncio.Future[None] = self._loop.create_future()
        self._ready.add_done_callback(lambda ready: ready.cancelled() or ready.exception())  # maybe nobody waits
        self.alive = self._up = self._left = self._closing = False
        self.strong: frozenset[str] = frozenset()
        self.door = 0

    @property
    def left(self) -> bool:
        """Whether something may live inside that a command left behind, while no command runs."""
        return self._left or not self.alive

    @property
    def busy(self) -> bool:
        """Whether a command runs, in the foreground or not."""
        return bool(self._jobs)

    async def start(self) -> None:
        """Make it. Raises UserError or ToolError with the mend when that cannot be done; nothing is left then."""
        self._groups = limits.Groups(self._recipe.limits)
        self._control, inner = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._way, outer = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._said = b""
        try:
            with inner, outer:
                self._spawn(inner.fileno(), outer.fileno())
        except BaseException:
            self._control.close()
            self._way.close()
            self._groups.remove()
            raise
        self._control.setblocking(False)
        self._way.setblocking(False)
        self._loop.add_reader(self._control, self._readable)
        self._loop.add_reader(self._way, self._arrived)
        self.alive = True
        try:
            async with asyncio.timeout(START):
                await self._ready
        except (TimeoutError, ConnectionError) as error:
            await self.close()
            said = self._complaint()
            if isinstance(error, TimeoutError) and not said.strip():
                text = f"The wall did not stand within {START:.0f} seconds: this machine is very busy."
                raise ToolError(text, hint="Run it again when less is going on.", retry=False) from None
            problem = self._recipe.explain(said)
            raise ToolError(problem.text, hint=problem.hint, retry=False) from None
        except BaseException:
            await self.close()
            raise

    def _spawn(self, control: int, way: int) -> None:
        settings = {
            "limits": limits.process_limits(self._recipe.limits, weighed=self._groups.weighs),
            "most": self._recipe.limits.processes if limits.needs_watching(self._recipe.limits, self._groups) else 0,
            "door": self._on_connection is not None,
            **self._recipe.settings(),
        }
        if "landlock" in settings:
            settings["landlock"] = {**settings["landlock"], "door": settings["door"]}
        compiled()
        parent = str(Path(__file__).parent.parent)
        launcher = [python()[0], "-I", "-S", "-B", "-c", _BEGIN, parent, str(control), str(way), json.dumps(settings)]
        self._complaints, writing = os.pipe()
        os.set_blocking(self._complaints, False)
        try:
            with self._recipe.command(launcher) as (words, fds):
                procs = self._groups.procs
                enter = ["sh", "-c", _ENTER, "sh", " ".join(procs)] if procs else []
                self._popen = subprocess.Popen(
                    [*enter, *words],
                    stdin=subprocess.DEVNULL,
                    stdout=writing,
                    stderr=writing,
                    cwd="/",
                    env={"PATH": os.environ.get("PATH", os.defpath)},
                    start_new_session=True,  # Ctrl-C in the person's terminal is Hermes' business
                    pass_fds=(*fds, control, way),
                )
        except OSError as error:
            os.close(self._complaints)
            raise ToolError(f"The sandbox could not be started: {error}.") from error
        except BaseException:
            os.close(self._complaints)
            raise
        finally:
            os.close(writing)

    def _complaint(self) -> str:
        return self._said.decode(errors="replace")

    def _readable(self) -> None:
        why = "its socket was closed"
        try:
            data = self._control.recv(MESSAGE)
        except BlockingIOError:
            return
        except OSError as error:
            data, why = b"", str(error)
        if data:
            try:
                self._hear(json.loads(data))
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                why = f"it said what cannot be read ({error})"  # nothing that comes from inside may do harm here
            else:
                return
        if self._jobs and not self._closing:
            said = "a sandbox ended under %d commands: %s, status %s"
            _log.warning(said, len(self._jobs), why, self._popen.poll())
        self._ended()

    def _hear(self, message: Mapping[str, Any]) -> None:
        if "ready" in message:
            self._up = True
            self.strong = frozenset(str(word) for word in message["ready"])
            self.door = int(message["door"])
            if not self._ready.done():
                self._ready.set_result(None)
            return
        if "left" in message:
            self._left = bool(message["left"])
            return
        job = self._jobs.get(int(message["job"]))
        if job is None:
            return
        if "error" in message:
            job.failed(str(message["error"])[:2000])
        elif "status" in message:
            job.exited(int(message["status"]) & 0xFF)
        elif message.get("ended"):
            job.gone.set()

    def _arrived(self) -> None:
        """A command connected to the door."""
        try:
            data, fds, _, _ = socket.recv_fds(self._way, 16, ROOM)
        except BlockingIOError:
            return
        except OSError:
            data, fds = b"", []
        if not data:
            self._loop.remove_reader(self._way)
        for fd in fds:
            caller = socket.socket(fileno=fd)
            if self._on_connection is None:
                caller.close()
                continue
            caller.setblocking(False)
            task = asyncio.ensure_future(self._on_connection(caller))
            self._serving.add(task)
            task.add_done_callback(self._served)

    def _served(self, task: "asyncio.Future[None]") -> None:
        self._serving.discard(task)
        if not task.cancelled() and (error := task.exception()):
            self._loop.call_exception_handler({"message": "a connection of a command failed", "exception": error})

    def _ended(self) -> None:
        """The launcher is gone, and so is everything inside."""
        self._loop.remove_reader(self._control)
        self._loop.remove_reader(self._way)
        self.alive = False
        if self._recipe.dies_hard and not (self._closing and self._up):
            self._kill()
        with contextlib.suppress(OSError):
            self._said = os.read(self._complaints, 20_000)
        if self._said and self._up:
            _log.warning("a sandbox said: %s", self._complaint())
        if not self._ready.done():
            self._ready.set_exception(ConnectionError("no sandbox"))
        for job in list(self._jobs.values()):
            job.lost()

    def _kill(self) -> None:
        if self._popen.returncode is not None:  # its number may be another's by now, of a sandbox perhaps
            return
        with contextlib.suppress(OSError):
            os.killpg(self._popen.pid, signal.SIGKILL)

    async def submit(self, job: "Job", request: Mapping[str, Any], fds: Sequence[int]) -> int:
        """Hand a job in, with the inner ends of its pipes. Raises ToolError when the sandbox takes nothing."""
        self._last += 1
        number = self._last
        body = os.memfd_create("hermes-request")
        try:
            os.write(body, json.dumps(request).encode())
            self._jobs[number] = job
            await self._send(f"start {number}".encode(), [body, *fds])
        except BaseException:
            self._jobs.pop(number, None)
            raise
        finally:
            os.close(body)
        return number

    async def end(self, number: int, grace: float, mark: str) -> None:
        """Ask for the end of a job and all it started, which bears its mark."""
        with contextlib.suppress(ToolError):
            await self._send(f"end {number} {grace} {mark}".encode(), [])

    async def _send(self, message: bytes, fds: Sequence[int]) -> None:
        for _ in range(500):
            if not self.alive:
                break
            try:
                socket.send_fds(self._control, [message], fds)
            except BlockingIOError:
                await asyncio.sleep(0.01)
            except OSError:
                break
            else:
                return
        raise ToolError("The sandbox takes no commands any more.", hint="Try again; a new one is made then.")

    def forget(self, number: int) -> None:
        """Nothing more is wanted of a job."""
        self._jobs.pop(number, None)

    async def close(self) -> None:
        """End it with everything inside, and wait until that is so."""
        self._closing = True
        if self.alive:
            self._ended()
        self._control.close()
        self._way.close()
        for task in self._serving:
            task.cancel()
        # It sees that, ends all inside and goes then: nothing writes any more. Who kills bwrap instead does not know
        # when the others are gone.
        until = self._loop.time() + END
        while self._popen.poll() is None:
            if self._loop.time() > until:
                self._kill()
            await asyncio.sleep(0.002)  # the kernel is quick, and a signal for this is not
        with contextlib.suppress(OSError):
            os.close(self._complaints)
        self._complaints = -1
        for _ in range(100):
            self._groups.remove()
            if not self._groups.procs:
                break
            await asyncio.sleep(0.005)
