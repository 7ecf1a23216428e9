"""The backend ``ssh`` and its workspace."""

import asyncio
import shutil
from collections.abc import Callable, Sequence
from uuid import uuid4

from hermes_backend_kit.endings import TIMED_OUT
from hermes_backend_kit.files import read_by, sh, write_by
from hermes_backend_kit.output import Capture
from hermes_backend_kit.places import absolute
from hermes_backend_kit.walls import no_wall
from hermes_backend_ssh import scripts
from hermes_backend_ssh.config import Config
from hermes_backend_ssh.connection import Problem, command, explain, socket_folder
from hermes_backend_ssh.remote import Remote
from hermes_core.environment import MARK
from hermes_core.errors import ToolError, UserError
from hermes_core.kinds import Backend, Workspace
from hermes_core.types import ExecRequest, ExecResult, Folder, Wall

AT_ONCE = 8  # sshd allows ten sessions on one connection; two are left for ending others
PATIENCE = 15.0  # to reach the host for anything but a command


class There(Workspace):
    """A folder of another machine. Every command is a session of its own on one shared connection."""

    def __init__(self, ssh: Sequence[str], host: str) -> None:
        self.wall = no_wall(host)
        self._ssh = ssh
        self._host = host
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._home = ""

    async def enter(self, folder: str) -> None:
        """Look for the folder over there. Raises UserError when the host or the folder cannot be reached."""
        try:
            async with asyncio.timeout(2 * PATIENCE):
                self._home = await self._place("")
                self.cwd = await self._place(absolute(folder, self._home, self._home)) if folder else self._home
        except Problem as problem:
            raise UserError(problem.text, hint=problem.hint) from problem
        except TimeoutError:
            raise UserError(f"ssh: {self._host} did not answer in time.", hint="Check host and network.") from None

    async def _place(self, folder: str) -> str:
        capture = Capture(10_000)
        remote = await self._remote(sh(scripts.PROBE, folder), ExecRequest(argv=()), "/", capture.add)
        if remote.status:
            raise Problem(
                f"There is no folder {folder or 'home'} on {self._host}.",
                "Set backends.ssh.folder to one that is there, or make it.",
            )
        return capture.joined().decode(errors="surrogateescape").strip("\n")

    async def run(self, request: ExecRequest) -> ExecResult:
        """Run a command to its end."""
        capture = Capture(request.limit, request.on_output)
        status = TIMED_OUT
        try:
            async with asyncio.timeout(request.seconds), self._slots:
                cwd = self._full(request.cwd)
                remote = await self._remote(request.argv, request, cwd, capture.take)
                if remote.no_folder:
                    raise ToolError(f"Cannot run {request.argv[0]}: there is no folder {cwd} on {self._host}.")
                status = remote.status or 0
        except TimeoutError:
            pass
        except Problem as problem:
            raise ToolError(problem.text, hint=problem.hint) from problem
        return capture.result(status)

    async def _remote(
        self, argv: Sequence[str], request: ExecRequest, cwd: str, sink: Callable[[bytes], None]
    ) -> Remote:
        token = uuid4().hex
        remote = Remote([*self._ssh, scripts.wrapped(argv, cwd, request.env, token)], token, sink)
        try:
            await remote.run(request.stdin)
        except ExceptionGroup as group:
            await self._end(request.env[MARK], remote.leader)
            raise group.exceptions[0] from group  # the listener's own error, as it was raised
        except asyncio.CancelledError:
            await self._end(request.env[MARK], remote.leader)
            raise
        if remote.status is None and not remote.no_folder:
            said = remote.said.decode(errors="replace")
            if remote.leader:
                raise Problem(
                    f"ssh: the connection to {self._host} was lost while the command ran.",
                    "Whether it came to its end is not known; look before you run it again.",
                )
            raise explain(self._host, said)
        return remote

    async def _end(self, mark: str, leader: int) -> None:
        """End everything a command started over there, through the connection that is still open."""
        words = sh(scripts.KILL, mark, str(leader))
        ending = Remote([*self._ssh, scripts.wrapped(words, "/", {}, uuid4().hex)], "-", lambda _: None)
        try:
            async with asyncio.timeout(PATIENCE):
                await ending.run(b"")
        except (TimeoutError, Problem):  # no connection, no way to reach it
            return

    async def read(self, path: str) -> bytes:
        """The bytes of a file."""
        return await read_by(self.run, self._full(path), path, f" on {self._host}")

    async def write(self, path: str, data: bytes) -> None:
        """Replace a file as a whole; a lost connection leaves the old one."""
        await write_by(self.run, self._full(path), path, data, f" on {self._host}")

    def _full(self, path: str) -> str:
        return absolute(path, self.cwd, self._home)


class Ssh(Backend):
    """Opens folders of the configured host."""

    name = "ssh"

    def __init__(self, config: Config) -> None:
        self._config = config

    @property
    def wall(self) -> Wall:  # type: ignore[override]
        """See Backend: there is none."""
        return no_wall(self._config.host or "the host")

    async def ready(self) -> bool:
        """Whether a host is named and ssh is there; the host itself is not called."""
        return bool(self._config.host) and shutil.which("ssh") is not None

    async def open(self, key: str, also: Sequence[Folder] = ()) -> Workspace:
        """Open a folder over there: the configured one, else ``key``, else the home folder."""
        host = self._config.host
        if not host or host.startswith("-"):
            what = "is not set" if not host else f"cannot be {host!r}"
            raise UserError(f"backends.ssh.host {what}.", hint="Set it to a host name or a Host of your ssh config.")
        place = There(command(self._config, socket_folder()), host)
        await place.enter(self._config.folder or key)
        return place
