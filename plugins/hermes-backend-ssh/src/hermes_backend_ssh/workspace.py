"""The backend ``ssh`` and its workspace."""

import asyncio
import shutil
from collections.abc import Callable, Mapping, Sequence
from uuid import uuid4

from hermes_backend_kit.background import Background
from hermes_backend_kit.endings import KILLED, TIMED_OUT
from hermes_backend_kit.files import read_by, sh, write_by
from hermes_backend_kit.output import Capture, Unread
from hermes_backend_kit.places import absolute
from hermes_backend_kit.shell import NOT_KEPT, TELL, Shell, is_shell, parse_exports, trapped
from hermes_backend_kit.walls import no_wall
from hermes_backend_ssh import scripts
from hermes_backend_ssh.config import Config
from hermes_backend_ssh.connection import Problem, command, explain, socket_folder
from hermes_backend_ssh.remote import Remote
from hermes_core.environment import MARK
from hermes_core.errors import ToolError, UserError
from hermes_core.kinds import Backend, Process, Workspace
from hermes_core.types import ExecRequest, ExecResult, Feature, Folder, Wall

# sshd allows ten sessions on one connection: so many for commands, so many for what runs in the background; one is left
# for ending others.
AT_ONCE, BESIDE = 5, 4
PATIENCE = 15.0  # to reach the host for anything but a command
_OF_THE_LOGIN = NOT_KEPT | {"OLDPWD", "SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"}


class There(Workspace):
    """A folder of another machine. Every command is a session of its own on one shared connection.

    Folder and exported variables last from one bash command to the next; no shell is kept running over there.
    """

    features = frozenset({Feature.BACKGROUND})

    def __init__(self, ssh: Sequence[str], host: str) -> None:
        self.wall = no_wall(host)
        self._ssh = ssh
        self._host = host
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._home = self._bash = ""
        self._shell, self._base = Shell(""), dict[str, str]()
        self._background: dict[Background, asyncio.Task[None]] = {}

    @property
    def shell_cwd(self) -> str:
        """Where the next bash command begins."""
        return self._shell.cwd or self.cwd

    @property
    def busy(self) -> bool:
        """Whether a command runs in the background."""
        return any(process.running for process in self._background)

    async def enter(self, folder: str) -> None:
        """Look for the folder over there. Raises UserError when the host or the folder cannot be reached."""
        try:
            async with asyncio.timeout(2 * PATIENCE):
                self._home = await self._place("")
                self.cwd = await self._place(absolute(folder, self._home, self._home)) if folder else self._home
                await self._look_for_bash()
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

    async def _look_for_bash(self) -> None:
        capture = Capture(scripts.MOST)
        remote = await self._remote(("sh", "-c", scripts.BASH), ExecRequest(argv=()), self.cwd, capture.add)
        bash, _, told = capture.joined().partition(b"\n")
        _, separator, exports = told.partition(b"\0")
        if not remote.status and separator:
            self._bash, self._shell = bash.decode(errors="surrogateescape"), Shell(self.cwd)
            self._base = parse_exports(exports)
            self.features |= {Feature.PERSISTENT_SHELL}

    async def run(self, request: ExecRequest) -> ExecResult:
        """Run a command to its end."""
        if not self._bash or not is_shell(request.argv):
            return await self._run(request, request.argv, self._full(request.cwd), request.env)
        began_in = self._full(request.cwd) if request.cwd else self.shell_cwd
        own = {**self._shell.env, **request.env}
        saw = {name: value for name, value in self._base.items() if name not in self._shell.removed} | own

        def learn(told: bytes) -> None:
            folder, separator, exports = told.partition(b"\0")
            if separator:
                there = folder.decode(errors="surrogateescape")
                self._shell.learn(there, parse_exports(exports), began_in, saw, _OF_THE_LOGIN)

        try:
            return await self._run(request, self._lasting(request, own), began_in, own, learn)
        except _NoFolder:
            if request.cwd or began_in == self.cwd:
                raise
        self._shell.cwd = self.cwd  # the folder it was in is gone
        return await self.run(request)

    def _lasting(self, request: ExecRequest, own: Mapping[str, str]) -> tuple[str, ...]:
        """A bash command without the variables that earlier ones removed."""
        gone = sorted(self._shell.removed - own.keys())
        unset = f"unset -v {' '.join(gone)}; " if gone else ""
        program = self._bash if request.argv[0] == "bash" else request.argv[0]
        return program, request.argv[1], f"{unset}{request.argv[2]}"

    async def _run(
        self,
        request: ExecRequest,
        argv: Sequence[str],
        cwd: str,
        env: Mapping[str, str],
        learn: Callable[[bytes], None] | None = None,
    ) -> ExecResult:
        capture = Capture(request.limit, request.on_output)
        status = TIMED_OUT
        try:
            async with asyncio.timeout(request.seconds), self._slots:
                remote = await self._remote(argv, request, cwd, capture.take, env, lasts=learn is not None)
                if remote.no_folder:
                    raise _NoFolder(f"Cannot run {request.argv[0]}: there is no folder {cwd} on {self._host}.")
                status = remote.status or 0
                if learn:
                    learn(remote.state)
        except TimeoutError:
            pass
        except Problem as problem:
            raise ToolError(problem.text, hint=problem.hint) from problem
        return capture.result(status)

    async def _remote(
        self,
        argv: Sequence[str],
        request: ExecRequest,
        cwd: str,
        sink: Callable[[bytes], None],
        env: Mapping[str, str] | None = None,
        *,
        lasts: bool = False,
    ) -> Remote:
        remote, file = self._made(argv, cwd, request.env if env is None else env, sink, lasts=lasts)
        await self._to_its_end(remote, request, request.stdin, file)
        return remote

    def _made(
        self,
        argv: Sequence[str],
        cwd: str,
        env: Mapping[str, str],
        sink: Callable[[bytes], None],
        *,
        lasts: bool = False,
    ) -> tuple[Remote, str]:
        token = uuid4().hex
        file = scripts.state_file(token) if lasts else ""
        argv = trapped(argv, TELL, f">{file}") if lasts else argv
        return Remote([*self._ssh, scripts.wrapped(argv, cwd, env, token, state=lasts)], token, sink), file

    async def _to_its_end(self, remote: Remote, request: ExecRequest, stdin: bytes | None, file: str = "") -> None:
        try:
            await remote.run(stdin)
        except ExceptionGroup as group:
            await self._end(request.env[MARK], remote.leader, file)
            raise group.exceptions[0] from group  # the listener's own error, as it was raised
        except asyncio.CancelledError:
            await self._end(request.env[MARK], remote.leader, file)
            raise
        if remote.status is None and not remote.no_folder:
            said = remote.said.decode(errors="replace")
            if remote.leader:
                raise Problem(
                    f"ssh: the connection to {self._host} was lost while the command ran.",
                    "Whether it came to its end is not known; look before you run it again.",
                )
            raise explain(self._host, said)

    async def start(self, request: ExecRequest) -> Process:
        """Start a command in the background. It begins where the shell is, and leaves no state."""
        if sum(process.running for process in self._background) >= BESIDE:
            raise ToolError(
                f"{BESIDE} commands run in the background on {self._host} already, which is the most there.",
                hint="End one of them first.",
            )
        shell = bool(self._bash) and is_shell(request.argv)
        cwd = self._full(request.cwd) if request.cwd or not shell else self.shell_cwd
        env = {**self._shell.env, **request.env} if shell else request.env
        argv = self._lasting(request, env) if shell else request.argv
        unread = Unread(request.limit, request.on_output)
        remote, _ = self._made(argv, cwd, env, unread.take)
        running = asyncio.ensure_future(self._to_its_end(remote, request, None))
        began = asyncio.ensure_future(remote.began.wait())
        try:
            async with asyncio.timeout(2 * PATIENCE):
                await asyncio.wait({running, began}, return_when=asyncio.FIRST_COMPLETED)
        except BaseException as error:
            running.cancel()
            await asyncio.wait({running})
            if isinstance(error, TimeoutError):
                raise ToolError(f"ssh: {self._host} did not answer in time.", hint="Try again.") from None
            raise
        finally:
            began.cancel()
        if remote.no_folder:
            await asyncio.wait({running})
            raise ToolError(f"Cannot run {request.argv[0]}: there is no folder {cwd} on {self._host}.")
        if running.done() and remote.status is None and isinstance(problem := running.exception(), Problem):
            raise ToolError(problem.text, hint=problem.hint) from problem
        if request.stdin:
            await remote.write(request.stdin)
        return self._kept(remote, running, unread)

    def _kept(self, remote: Remote, running: "asyncio.Task[None]", unread: Unread) -> Background:
        def lost(done: "asyncio.Task[None]") -> None:
            if not done.cancelled() and isinstance(problem := done.exception(), Problem):
                unread.take(f"\n{problem.text}\n".encode())

        async def end() -> None:
            if not running.done():
                running.cancel()  # which ends all that it started over there
                await asyncio.wait({running})

        running.add_done_callback(lost)
        status = lambda: KILLED if remote.status is None else remote.status  # noqa: E731
        process = Background(unread, over=running.done, status=status, write=remote.write, end=end)
        self._background = {**{p: t for p, t in self._background.items() if p.running}, process: running}
        return process

    async def close(self) -> None:
        """End what runs in the background."""
        processes, self._background = self._background, {}
        await asyncio.gather(*(process.kill() for process in processes))

    async def _end(self, mark: str, leader: int, file: str = "") -> None:
        """End everything a command started over there, through the connection that is still open."""
        words = sh(scripts.KILL, mark, str(leader), file)
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


class _NoFolder(ToolError):
    pass


class Ssh(Backend):
    """Opens folders of the configured host."""

    name = "ssh"
    features = frozenset({Feature.BACKGROUND})

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
