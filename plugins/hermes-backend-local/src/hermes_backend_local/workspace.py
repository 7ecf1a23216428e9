"""The backend ``local`` and its workspace."""

import asyncio
import contextlib
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from hermes_backend_kit.endings import SHORT_GRACE, TIMED_OUT
from hermes_backend_kit.output import Capture
from hermes_backend_kit.places import folder_here
from hermes_backend_kit.shell import Shell, is_shell
from hermes_backend_local import disk
from hermes_backend_local.background import Background
from hermes_backend_local.shell import Exports, Trace
from hermes_backend_local.spawn import Spawned
from hermes_core.environment import without_secrets
from hermes_core.kinds import Backend, Process, Workspace
from hermes_core.places import PathRules
from hermes_core.types import ExecRequest, ExecResult, Feature

SMALL = 1_000_000  # bytes that a disk takes or gives quicker than a thread starts


class Here(Workspace):
    """A folder of this machine. ``cwd`` stays where it was opened; only bash commands carry their own folder on."""

    def __init__(self, cwd: str, env: Mapping[str, str], guarded: Iterable[Path] = ()) -> None:
        self.cwd = cwd
        self._rules = PathRules(cwd=cwd, guarded=tuple(guarded), spelled=True)
        self.features = frozenset({Feature.BACKGROUND, Feature.LOCAL})
        if shutil.which("bash", path=env.get("PATH")):
            self.features |= {Feature.PERSISTENT_SHELL}
        self._env = dict(env)
        self._shell = Shell(cwd)
        self._exports = Exports()
        self._background: list[Background] = []

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
        if not is_shell(request.argv):
            return await self._run(request, self._folder(request.cwd), {**self._env, **request.env})
        began_in = self._folder(request.cwd or self._shell_folder())
        began_with = {**self._shell.over(self._env), **request.env}
        trace = Trace()
        try:
            result = await self._run(request, began_in, began_with, trace)
            if state := trace.read():
                folder = began_in if state[0] == os.path.realpath(began_in) else state[0]
                self._shell.learn(folder, self._exports.read(state[1]), began_in, began_with)
            return result
        finally:
            trace.close()

    async def _run(
        self, request: ExecRequest, cwd: str, env: Mapping[str, str], trace: Trace | None = None
    ) -> ExecResult:
        capture = Capture(request.limit, request.on_output)
        command = Spawned(
            trace.wrap(request.argv) if trace else request.argv,
            cwd=cwd,
            env={**env, "PWD": cwd},  # else a linked folder would lose its name
            sink=capture.take,
            stdin=request.stdin,
            pass_fds=(trace.descriptor,) if trace else (),
        )
        try:
            async with asyncio.timeout(request.seconds):
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

    async def start(self, request: ExecRequest) -> Process:
        """Start a command in the background. It begins where the shell is, and leaves no state."""
        shell = is_shell(request.argv)
        cwd = self._folder(request.cwd or (self._shell_folder() if shell else ""))
        env = {**(self._shell.over(self._env) if shell else self._env), **request.env, "PWD": cwd}
        process = Background(request, cwd, env)
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

    async def close(self) -> None:
        """End what was started in the background."""
        processes, self._background = self._background, []
        for process in processes:
            await process.kill()

    def _path(self, path: str) -> str:
        return os.path.normpath(os.path.join(self.cwd, os.path.expanduser(path)))  # noqa: PTH111, PTH118

    def _folder(self, path: str) -> str:
        return self._path(path) if path else self.cwd

    def _shell_folder(self) -> str:
        if not Path(self._shell.cwd).is_dir():  # removed in the meantime
            self._shell.cwd = self.cwd
        return self._shell.cwd


class Local(Backend):
    """Opens folders of this machine."""

    name = "local"
    features = frozenset({Feature.BACKGROUND, Feature.LOCAL})

    def __init__(
        self,
        passthrough: Iterable[str] = (),
        environ: Mapping[str, str] | None = None,
        guarded: Iterable[Path] = (),
    ) -> None:
        self._passthrough, self._guarded = tuple(passthrough), tuple(guarded)
        self._environ = os.environ if environ is None else environ

    async def ready(self) -> bool:
        """This machine is always there."""
        return True

    async def open(self, key: str) -> Workspace:
        """Open a folder; an empty key means the current one. Raises UserError."""
        environ = without_secrets(self._environ, self._passthrough)
        return Here(os.path.normpath(folder_here(key)), environ, self._guarded)
