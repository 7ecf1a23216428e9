"""A session's place in a container: commands, files, background processes."""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from hermes_backend_docker.attach import Refused
from hermes_backend_docker.background import background
from hermes_backend_docker.command import Command, wrapped
from hermes_backend_docker.lease import Lease
from hermes_backend_docker.shell import NOT_KEPT, state_of, wrap
from hermes_backend_docker.walls import wall_of
from hermes_backend_kit.background import Background
from hermes_backend_kit.endings import TIMED_OUT
from hermes_backend_kit.files import read_by, write_by
from hermes_backend_kit.output import Capture, Unread
from hermes_backend_kit.places import absolute
from hermes_backend_kit.shell import Shell, is_shell
from hermes_core.environment import MARK
from hermes_core.errors import ToolError, UserError
from hermes_core.kinds import Process, Workspace
from hermes_core.types import ExecRequest, ExecResult, Feature

__all__ = ["Inside"]

AT_ONCE = 16  # commands; each is three processes of the limit
LONGEST_WORD = 131_071  # bytes of one argument that Linux takes
LONGEST = 1_500_000  # bytes of all of them
GRACE, SHORT_GRACE = 20, 3  # tenths of a second between SIGTERM and SIGKILL


class Inside(Workspace):
    """A folder in a container. ``cwd`` stays where it was opened; only bash commands carry their own folder on."""

    def __init__(self, lease: Lease, forward: Sequence[str], environ: Mapping[str, str]) -> None:
        plan = lease.plan
        self.cwd = plan.cwd
        self.wall = wall_of(network=not plan.offline, mount=not plan.volume)
        self.features = frozenset({Feature.BACKGROUND})
        self.features |= {Feature.ISOLATED} if plan.isolated else set()
        self.features |= {Feature.OFFLINE} if plan.offline else set()
        # Mounted under the same path, so a file inside is the file of this machine that has its name.
        self.features |= set() if plan.volume else {Feature.LOCAL}
        if lease.site.bash:
            self.features |= {Feature.PERSISTENT_SHELL}
        self._lease = lease
        self._forward = {name: environ[name] for name in forward if name in environ}
        self._shell = Shell(plan.cwd)
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._background: dict[Background, Command] = {}

    @property
    def shell_cwd(self) -> str:
        """Where the next bash command begins."""
        return self._shell.cwd

    @property
    def busy(self) -> bool:
        """Whether a command runs in the background."""
        return any(process.running for process in self._background)

    async def run(self, request: ExecRequest) -> ExecResult:
        """Run a command to its end."""
        if not is_shell(request.argv):
            return await self._run(request, request.argv, self._path(request.cwd), {**self._forward, **request.env})
        began_in = self._path(request.cwd) if request.cwd else self._shell.cwd
        own = {**self._forward, **self._shell.env, **request.env}
        argv, file = wrap(request.argv, self._lease.site.bash, self._shell.removed - own.keys())
        saw = {n: v for n, v in self._lease.site.base.items() if n not in self._shell.removed} | own

        def learn(told: bytes) -> None:
            if state := state_of(told):
                self._shell.learn(state[0] or began_in, state[1], began_in, saw, NOT_KEPT)

        try:
            return await self._run(request, argv, began_in, own, file, learn)
        except _NoFolder:
            if request.cwd or began_in == self.cwd:
                raise
        self._shell.cwd = self.cwd  # the folder it was in is gone
        return await self._run(request, argv, self.cwd, own, file, learn)

    async def _run(
        self,
        request: ExecRequest,
        argv: Sequence[str],
        cwd: str,
        env: Mapping[str, str],
        state: str = "",
        learn: Callable[[bytes], None] = lambda _: None,
    ) -> ExecResult:
        capture = Capture(request.limit, request.on_output)
        status = TIMED_OUT
        running: list[Command] = []
        try:
            async with asyncio.timeout(request.seconds), self._slots:
                command = await self._begin(running, capture.take, argv, cwd, env, stdin=request.stdin, state=state)
                status = await self._status(command, request, cwd, capture.take)
                learn(command.marks.state)
        except TimeoutError:
            await self._end_all(running, GRACE)
        except BaseException:
            await self._end_all(running, SHORT_GRACE)
            raise
        finally:
            for one in running:
                await one.close()
        return capture.result(status)

    async def _begin(
        self,
        running: list[Command],
        sink: Callable[[bytes], None],
        argv: Sequence[str],
        cwd: str,
        env: Mapping[str, str],
        *,
        stdin: bytes = b"",
        open_input: bool = False,
        state: str = "",
    ) -> Command:
        """Start a command and see it appear. A container that ended in the meantime is started once more."""
        _must_fit(argv, env)
        trouble = ""
        for _ in range(2):
            try:
                site = await self._lease.ready()
            except UserError as error:
                raise ToolError(error.text, hint=error.hint) from error
            command = Command(site, sink, env[MARK])
            running.append(command)
            words = wrapped(site, command.token, argv, cwd=cwd, stdin=stdin, open_input=open_input, state=state)
            marked = {("HERMES_PATH" if name == "PATH" else name): value for name, value in env.items()}
            marked[MARK] = command.run
            try:
                await command.begin(words, marked, stdin=stdin, open_input=open_input)
                if await command.appeared():
                    return command
                trouble = command.marks.complaint
            except Refused as refused:
                trouble = str(refused)
            running.remove(command)
            await command.close()
            if await self._lease.check():
                break  # it runs, so it is not the container's end that was in the way
        raise ToolError(f"Cannot run {argv[0] if argv else 'nothing'} in the container: {_plain(trouble)}.")

    async def _status(self, command: Command, request: ExecRequest, cwd: str, sink: Callable[[bytes], None]) -> int:
        marks = await command.ended()
        if marks.no_folder:
            raise _NoFolder(f"Cannot run {request.argv[0]}: there is no folder {cwd} in the container.")
        if marks.status is None:
            text, hint = await self._lease.lost()
            raise ToolError(text, hint=hint)
        if self._lease.ran_out(marks.killed):
            limit = self._lease.plan.create["memory"]
            sink(f"\n[A process was killed: the container's memory limit of {limit} was reached.]\n".encode())
        return marks.status

    async def _end_all(self, commands: Sequence[Command], grace: int) -> None:
        for command in commands:
            ending = asyncio.ensure_future(self._lease.end(command, grace))
            try:
                await asyncio.shield(ending)
            except asyncio.CancelledError:
                await asyncio.wait({ending})  # bounded in itself; nothing may be left behind
                raise

    async def start(self, request: ExecRequest) -> Process:
        """Start a command in the background. It begins where the shell is, and leaves no state."""
        shell = is_shell(request.argv)
        cwd = self._path(request.cwd) if request.cwd or not shell else self._shell.cwd
        env = {**self._forward, **(self._shell.env if shell else {}), **request.env}
        unread = Unread(request.limit, request.on_output)
        running: list[Command] = []
        try:
            command = await self._begin(running, unread.take, request.argv, cwd, env, open_input=True)
        except BaseException:
            await self._end_all(running, SHORT_GRACE)
            raise
        if request.stdin:
            await command.write(request.stdin)
        for ended in (c for p, c in self._background.items() if not p.running):
            await ended.close()
        process = background(command, unread, self._end_one)
        self._background = {**{p: c for p, c in self._background.items() if p.running}, process: command}
        return process

    async def _end_one(self, command: Command) -> None:
        await self._lease.end(command, GRACE)

    async def read(self, path: str) -> bytes:
        """The bytes of a file. It is opened inside, so a link leads to what it means there."""
        return await read_by(self.run, self._path(path), path)

    async def write(self, path: str, data: bytes) -> None:
        """Replace a file as a whole; a lost connection leaves the old one."""
        await write_by(self.run, self._path(path), path, data)

    async def close(self) -> None:
        """End what runs, and let go of the container. It stops by itself when nobody uses it."""
        processes, self._background = self._background, {}
        if running := [command for process, command in processes.items() if process.running]:
            await self._lease.end_mine(GRACE, running)
        for process in processes:
            with suppress(ToolError):
                await process.kill()
        await self._lease.close()

    async def discard(self) -> None:
        """Close it, and take its container and its files away."""
        await self._lease.remove()
        await self.close()

    def _path(self, path: str) -> str:
        return absolute(path, self.cwd, self._lease.site.home)


class _NoFolder(ToolError):
    pass


def _must_fit(argv: Sequence[str], env: Mapping[str, str]) -> None:
    words = [os.fsencode(word) for word in (*argv, *(f"{n}={v}" for n, v in env.items()))]
    if max(map(len, words), default=0) > LONGEST_WORD or sum(map(len, words)) > LONGEST:
        raise ToolError("Cannot run this: the command line is too long; write it to a file first, or use stdin.")
    try:
        if any("\0" in word for word in argv):
            raise ToolError("Cannot run this: there is a NUL character in it.")
        "".join(argv).encode()
    except UnicodeEncodeError:
        raise ToolError("Cannot run this: only UTF-8 reaches a container; use stdin for other bytes.") from None


def _plain(trouble: str) -> str:
    if "argument list too long" in trouble:
        return "the command line is too long; write it to a file first, or use stdin"
    if "Resource temporarily unavailable" in trouble or "resource temporarily unavailable" in trouble:
        return "it has as many processes as backends.docker.pids allows"
    return trouble.rstrip(". \n") or "its shell did not start"
