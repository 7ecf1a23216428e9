"""The workspace of the backend ``local``: a folder of this machine."""

import asyncio
import contextlib
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import evolve

from hermes_backend_kit.endings import SHORT_GRACE, TIMED_OUT
from hermes_backend_kit.output import Capture
from hermes_backend_kit.shell import Shell, is_shell
from hermes_backend_kit.walls import no_wall
from hermes_backend_local import disk
from hermes_backend_local.shell import Exports, Trace
from hermes_backend_local.spawn import Spawned
from hermes_backend_local.wayout import WayOut
from hermes_backend_wall.apart import Apart
from hermes_backend_wall.trace import Trace as WalledTrace
from hermes_backend_wall.walled import Walled
from hermes_core.environment import for_commands
from hermes_core.errors import ToolError
from hermes_core.kinds import Process, Workspace
from hermes_core.types import ExecRequest, ExecResult, Feature, Wall
from hermes_paths.places import PathRules

if TYPE_CHECKING:
    from hermes_backend_kit.background import Background
    from hermes_backend_local.asking import Command
    from hermes_backend_wall.job import Job
    from hermes_backend_wall.sandbox import Sandbox

SMALL = 1_000_000  # bytes that a disk takes or gives quicker than a thread starts


class Here(Workspace):
    """A folder of this machine. ``cwd`` stays where it was opened; only bash commands carry their own folder on."""

    def __init__(
        self,
        cwd: str,
        passthrough: Iterable[str] = (),
        guarded: Iterable[Path] = (),
        walled: Walled | None = None,
        way: WayOut | None = None,
    ) -> None:
        self.cwd = cwd
        self._rules = PathRules(cwd=cwd, guarded=tuple(guarded), spelled=True)
        self._walled, self._way = walled, way
        self.features = frozenset({Feature.BACKGROUND, Feature.LOCAL})
        if walled is not None:
            self.features |= {Feature.WALLED, Feature.FOLDERS}
            self.also = walled.also
        if shutil.which("bash", path=os.environ.get("PATH")):
            self.features |= {Feature.PERSISTENT_SHELL}
        self._passed = {name: os.environ[name] for name in passthrough if name in os.environ}
        self._shell = Shell(cwd)
        # What commands behind the wall export (LD_PRELOAD, PATH, BASH_ENV) stays there: a person says yes to a command
        # outside of it, not to what those variables name. The folder goes along: the policy knows it.
        self._beyond = Shell(cwd)
        self._exports = Exports()
        self._background: list[Background] = []
        self._looking: asyncio.Future[None] | None = None

    @property
    def wall(self) -> Wall:  # type: ignore[override]
        """The wall that was made; before the first command, the one that will be tried."""
        return self._walled.wall if self._walled else no_wall()

    @property
    def shell_cwd(self) -> str:
        """Where the next bash command begins; a policy that judges relative paths in commands needs it."""
        return self._shell_folder()

    @property
    def busy(self) -> bool:
        """Whether a command runs in the background."""
        return any(process.running for process in self._background)

    async def run(self, request: ExecRequest) -> ExecResult:
        """Run a command to its end."""
        if self._walled and request.wall and isinstance(request, Apart):
            return await self._run_apart(request, self._walled)
        walled = self._walled if request.wall else None
        sandbox = await self._sandbox(walled)
        if not is_shell(request.argv):
            env = self._env(request)
            return await self._run(request, request.argv, self._folder(request.cwd), env, sandbox)
        began_in = self._folder(request.cwd or self._shell_folder())
        began_with = self._shell_env(request)
        shell = self._shell if request.wall or not self._walled else self._beyond
        trace = Trace() if sandbox is None else WalledTrace()
        try:
            argv = trace.wrap(request.argv)
            result = await self._run(request, argv, began_in, began_with, sandbox, trace.descriptor)
            if state := trace.read():
                folder = state[0]
                if folder != began_in and folder == os.path.realpath(began_in):
                    folder = began_in
                shell.learn(folder, self._exports.read(state[1]), began_in, began_with)
                if folder != began_in:
                    self._shell.cwd = folder
            return result
        finally:
            trace.close()

    async def _run_apart(self, request: ExecRequest, walled: Walled) -> ExecResult:
        if self._way:
            self._way.look()
        sandbox = await walled.another()
        try:
            base = walled.environment({**self._passed, **for_commands()}, sandbox)
            return await self._run(request, request.argv, self._folder(request.cwd), {**base, **request.env}, sandbox)
        finally:
            if sandbox is not None:
                await sandbox.close()

    async def _sandbox(self, walled: Walled | None) -> "Sandbox | None":
        if walled is None:
            return None
        if self._way:
            self._way.look()
        return await walled.sandbox()

    async def _run(
        self,
        request: ExecRequest,
        argv: Sequence[str],
        cwd: str,
        env: Mapping[str, str],
        sandbox: "Sandbox | None",
        trace: int = -1,
    ) -> ExecResult:
        capture = Capture(request.limit, request.on_output)
        env = {**env, "PWD": cwd}  # else a linked folder would lose its name
        if sandbox is None or self._walled is None:
            passed = (trace,) if trace >= 0 else ()
            argv = self._walled.behind(argv) if self._walled and request.wall else argv
            spawned = Spawned(argv, cwd=cwd, env=env, sink=capture.take, stdin=request.stdin, pass_fds=passed)
            return await _ended(spawned, request, capture)
        from hermes_backend_wall.job import Job, asked
        from hermes_backend_wall.reading import Reading

        protected, way = self._walled.protected, self._way
        since = way.now() if way else None
        job = Job(sandbox, capture.take)
        protected.begin()
        try:
            otherwise = "" if request.cwd else self.cwd  # the last command may have removed where it was
            kept = way.keep_to(request.hosts) if way else contextlib.nullcontext()
            asking = way.asking.of(request.opens) if way else contextlib.nullcontext()
            with kept, asking as asked_for, Reading(self.also) as reading:
                await job.start(asked(argv, cwd, env, otherwise), request.stdin, trace)
                result = await _ended(job, request, capture, asked_for)
            result = evolve(result, online=reading.was_seen)
        except ToolError as error:
            raise ToolError(f"Cannot run {request.argv[0]}: {error.text}", hint=error.hint) from error
        finally:
            job.forget()
            said = protected.end(left=sandbox.left)
            self._go_on_looking(self._walled)
        if said:
            capture.take(f"\n{said}\n".encode())
            result = evolve(capture.result(result.status), online=result.online)
        if way and since:
            return evolve(result, online=result.online or way.online(since), refused=way.refused(since))
        return result

    def _go_on_looking(self, walled: Walled) -> None:
        """Look through what no command waits for, and at what something may change that a command left behind."""
        protected = walled.protected
        if (protected.unsettled or protected.shallow) and (self._looking is None or self._looking.done()):
            from hermes_backend_wall.looking import looked

            self._looking = asyncio.ensure_future(looked(protected, lambda: walled.left))

    async def start(self, request: ExecRequest) -> Process:
        """Start a command in the background. It begins where the shell is, and leaves no state.

        One that is Apart has nothing of the shell but its folder: what was exported there may be anybody's.
        """
        walled = self._walled if request.wall else None
        sandbox, own = await self._sandbox(walled), walled is not None and isinstance(request, Apart)
        shell = is_shell(request.argv)
        cwd = self._folder(request.cwd or (self._shell_folder() if shell else ""))
        env = {**(self._shell_env(request) if shell and not own else self._env(request)), "PWD": cwd}
        if own and walled is not None and (sandbox := await walled.another()):
            env = {**env, **walled.environment({**self._passed, **for_commands()}, sandbox), **request.env}
        from hermes_backend_local.background import behind_the_wall, in_the_open
        from hermes_backend_wall.job import asked

        if sandbox is None or walled is None:
            process = in_the_open(evolve(request, argv=walled.behind(request.argv)) if walled else request, cwd, env)
        else:
            if self._way:
                with self._way.keep_to(request.hosts, for_good=True):
                    pass
            told = asked(request.argv, cwd, env)
            process = await behind_the_wall(sandbox, told, request, walled.protected, own=own)
            self._go_on_looking(walled)
        self._background = [p for p in self._background if p.running] + [process]
        return process

    async def read(self, path: str) -> bytes:
        """The bytes of a file, straight from the disk."""
        full = self._path(path)
        with contextlib.suppress(OSError):
            if Path(full).stat().st_size > SMALL:
                return await asyncio.to_thread(disk.read_file, full, self._rules)
        return disk.read_file(full, self._rules)

    async def write(self, path: str, data: bytes) -> None:
        """Replace a file as a whole, straight on the disk."""
        if len(data) > SMALL:
            await asyncio.to_thread(disk.write_file, self._path(path), data, self._rules)
        else:
            disk.write_file(self._path(path), data, self._rules)
        if self._walled:
            self._walled.protected.accept(os.path.realpath(self._path(path)))

    async def close(self) -> None:
        """End what was started in the background, and the wall with all that is left in it."""
        processes, self._background = self._background, []
        for process in processes:
            await process.kill()
        if self._looking:
            self._looking.cancel()
            await asyncio.wait([self._looking])
        if self._walled:
            await self._walled.close()
        if self._way:
            await self._way.close()

    def _path(self, path: str) -> str:
        return os.path.normpath(os.path.join(self.cwd, os.path.expanduser(path)))  # noqa: PTH111, PTH118

    def _folder(self, path: str) -> str:
        return self._path(path) if path else self.cwd

    def _env(self, request: ExecRequest) -> dict[str, str]:
        """The variables of a place; what is new for each command comes last."""
        base = {**self._passed, **for_commands()}
        if self._walled and request.wall:
            base = self._walled.environment(base)
        return {**base, **request.env}

    def _shell_env(self, request: ExecRequest) -> dict[str, str]:
        shell = self._shell if request.wall or not self._walled else self._beyond
        return {**shell.over(self._env(request)), **request.env}

    def _shell_folder(self) -> str:
        inside = self._walled is not None and self._walled.name == "bubblewrap"  # its /tmp is not ours to look at
        if not inside and not Path(self._shell.cwd).is_dir():  # removed in the meantime
            self._shell.cwd = self.cwd
        return self._shell.cwd


async def _ended(
    command: "Spawned | Job", request: ExecRequest, capture: Capture, asked_for: "Command | None" = None
) -> ExecResult:
    """What a running command came to. Raises ToolError."""
    try:
        async with asyncio.timeout(request.seconds) as clock:
            if asked_for is not None:
                asked_for.clock = clock
            status = await command.finished
    except TimeoutError:
        await command.end()
        status = TIMED_OUT
    except BaseException:
        await command.end(SHORT_GRACE)
        raise
    finally:
        command.close()
    return capture.result(status)
