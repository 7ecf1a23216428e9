"""One running sandbox: bwrap, the launcher inside it, and the socket between the launcher and us.

There is one for each workspace, started with its first command. So commands see each other's processes, servers and
``/tmp``, as people expect of one place; and all that was ever started inside ends at once when process 1 does.
"""

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_backend_bubblewrap import bwrap, limits, seccomp
from hermes_backend_bubblewrap.config import Config
from hermes_backend_bubblewrap.view import View, python
from hermes_core.errors import ToolError

if TYPE_CHECKING:
    from hermes_backend_bubblewrap.job import Job

START = 20.0  # seconds a sandbox may take to come up
MESSAGE = 8_192  # bytes of one message from inside; ours are short
_ENTER = 'for f in $1; do echo $$ >"$f" || exit 97; done; shift; exec "$@"'


class Sandbox:
    """Started, it runs jobs until it is closed or ends by itself. ``strong`` says what the launcher could shut."""

    def __init__(self, folder: str, source: str, config: Config, hidden: Sequence[Path]) -> None:
        self._place = (folder, source, config, hidden)
        self._config = config
        self._jobs: dict[int, Job] = {}
        self._last = 0
        self._loop = asyncio.get_running_loop()
        self._ready: asyncio.Future[None] = self._loop.create_future()
        self._ready.add_done_callback(lambda ready: ready.cancelled() or ready.exception())  # maybe nobody waits
        self.alive = False
        self.strong: frozenset[str] = frozenset()
        self.path = ""

    async def start(self) -> None:
        """Make it. Raises UserError or ToolError with the mend when that cannot be done; nothing is left then."""
        path = bwrap.program()
        self._groups = limits.Groups(self._config)
        self._control, inner = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._said = b""
        try:
            with inner, View(*self._place) as view:
                view.build()
                self._spawn(path, view, inner.fileno())
                self.path = view.environment(os.environ)["PATH"]
                self.environment = view.environment(os.environ)
        except BaseException:
            self._control.close()
            self._groups.remove()
            raise
        self._control.setblocking(False)
        self._loop.add_reader(self._control, self._readable)
        self.alive = True
        try:
            async with asyncio.timeout(START):
                await self._ready
        except (TimeoutError, ConnectionError):
            await self.close()
            problem = bwrap.explain(path, self._complaint())
            raise ToolError(problem.text, hint=problem.hint, retry=False) from None
        except BaseException:
            await self.close()
            raise

    def _spawn(self, path: str, view: View, fd: int) -> None:
        program = seccomp.program()
        words = [path, *view.words]
        words += ["--seccomp", str(view.memory("filter", program))] if program else []
        settings = {
            "limits": limits.process_limits(self._config),
            "most": self._config.processes if limits.needs_watching(self._config, self._groups) else 0,
            "scope": self._config.network,
        }
        launcher = str(Path(__file__).with_name("launcher.py"))
        words += ["--", python()[0], "-I", "-S", "-B", launcher, str(fd), json.dumps(settings)]
        if procs := self._groups.procs:
            words = ["sh", "-c", _ENTER, "sh", " ".join(procs), *words]
        self._complaints, writing = os.pipe()
        os.set_blocking(self._complaints, False)
        try:
            self._popen = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=writing,
                stderr=writing,
                cwd="/",
                env={"PATH": os.environ.get("PATH", os.defpath)},
                start_new_session=True,  # Ctrl-C in the person's terminal is Hermes' business
                pass_fds=(*view.fds, fd),
            )
        except OSError as error:
            os.close(self._complaints)
            raise ToolError(f"The sandbox could not be started: {error}.") from error
        finally:
            os.close(writing)

    def _complaint(self) -> str:
        return self._said.decode(errors="replace")

    def _readable(self) -> None:
        try:
            data = self._control.recv(MESSAGE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        try:
            if not data:
                raise ValueError("it ended")
            self._hear(json.loads(data))
        except (ValueError, TypeError, KeyError, AttributeError):  # nothing that comes from inside may do harm here
            self._ended()

    def _hear(self, message: Mapping[str, Any]) -> None:
        if "ready" in message:
            self.strong = frozenset(str(word) for word in message["ready"])
            if not self._ready.done():
                self._ready.set_result(None)
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

    def _ended(self) -> None:
        """The launcher is gone, and so is everything inside."""
        self._loop.remove_reader(self._control)
        self.alive = False
        with contextlib.suppress(OSError):
            os.killpg(self._popen.pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            self._said = os.read(self._complaints, 20_000)
        if not self._ready.done():
            self._ready.set_exception(ConnectionError("no sandbox"))
        for job in list(self._jobs.values()):
            job.lost()

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
        if self.alive:
            self._ended()
        self._control.close()
        # With bwrap's own process dies the first one inside, and with that all the others.
        with contextlib.suppress(OSError):
            os.killpg(self._popen.pid, signal.SIGKILL)
        while self._popen.poll() is None:  # noqa: ASYNC110 - the kernel is quick, and a signal for this is not
            await asyncio.sleep(0.002)
        with contextlib.suppress(OSError):
            os.close(self._complaints)
        self._complaints = -1
        for _ in range(100):
            self._groups.remove()
            if not self._groups.procs:
                break
            await asyncio.sleep(0.005)
