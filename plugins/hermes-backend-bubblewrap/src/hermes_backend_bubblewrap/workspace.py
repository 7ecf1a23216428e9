"""The workspace: a folder of this machine, with commands that see little else."""

import asyncio
import logging
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from attrs import evolve

from hermes_backend_bubblewrap.config import Config
from hermes_backend_bubblewrap.recipe import Strict, wall_of
from hermes_backend_kit.background import Background
from hermes_backend_kit.endings import SHORT_GRACE, TIMED_OUT
from hermes_backend_kit.files import PART, READ_LIMIT
from hermes_backend_kit.output import Capture
from hermes_backend_kit.places import absolute
from hermes_backend_kit.shell import Shell, is_shell, parse_exports
from hermes_backend_wall.background import started
from hermes_backend_wall.job import Job
from hermes_backend_wall.looking import looked
from hermes_backend_wall.protected import Protected
from hermes_backend_wall.reading import Reading
from hermes_backend_wall.sandbox import Sandbox
from hermes_backend_wall.several import Several
from hermes_backend_wall.trace import Trace
from hermes_core.errors import ToolError, UserError
from hermes_core.kinds import Process, Workspace
from hermes_core.types import ExecRequest, ExecResult, Feature, Folder

FILE_SECONDS = 120.0
_log = logging.getLogger("hermes.backend_bubblewrap")


class Inside(Workspace):
    """``cwd`` has the same path inside and outside. The sandbox is made with the first command and lasts until close.

    Files are read and written by a process in the sandbox: a link that leads out of the folder leads, in there, to
    what is visible in there.
    """

    def __init__(
        self,
        folder: str,
        source: str,
        config: Config,
        hidden: Sequence[Path],
        offered: Sequence[Path] = (),
        also: Sequence[Folder] = (),
        others: Sequence[Protected] = (),
        *,
        bash: bool,
    ) -> None:
        """``others`` compare those of the folders ``also`` that commands may change."""
        self.cwd, self.also = folder, tuple(also)
        self._others = Several(others)
        self._looking: asyncio.Future[None] | None = None
        self.wall = wall_of(config)
        self.features = frozenset({Feature.BACKGROUND, Feature.LOCAL, Feature.FOLDERS})
        if not config.network:  # with it, the services of this machine can be reached: no wall
            self.features |= {Feature.ISOLATED, Feature.OFFLINE}
        if bash:
            self.features |= {Feature.PERSISTENT_SHELL}
        self._source, self._config, self._hidden, self._offered = source, config, hidden, offered
        self._home = os.path.normpath(os.path.expanduser("~"))  # noqa: PTH111
        self._sandbox: Sandbox | None = None
        self._making = asyncio.Lock()
        self._env: dict[str, str] = {}
        self._shell = Shell(folder)
        self._background: list[Background] = []
        self._redirects = self._redirected()

    @property
    def shell_cwd(self) -> str:
        """Where the next bash command begins."""
        return self._shell.cwd

    @property
    def busy(self) -> bool:
        """Whether a command runs in the background."""
        return any(process.running for process in self._background)

    async def _ready(self) -> Sandbox:
        async with self._making:
            if self._sandbox is None or not self._sandbox.alive:
                if self._sandbox is not None:
                    await self._sandbox.close()
                self._sandbox = None
                recipe = Strict(self.cwd, self._source, self._config, self._hidden, self._offered, self.also)
                sandbox = Sandbox(recipe)
                try:
                    await sandbox.start()
                except UserError as error:
                    raise ToolError(error.text, hint=error.hint, retry=False) from error
                self._sandbox = sandbox
                self._env = self._env or dict(recipe.environment)
            return self._sandbox

    async def run(self, request: ExecRequest) -> ExecResult:
        """Run a command to its end."""
        _must_be_sayable(request)
        sandbox = await self._ready()
        if not is_shell(request.argv):
            env = {**self._env, **request.env}
            return await self._run(sandbox, request, self._asked(request.argv, self._path(request.cwd), env))
        began_in = self._path(request.cwd or self._shell.cwd)
        began_with = {**self._shell.over(self._env), **request.env}
        trace = Trace()
        try:
            asked = self._asked(trace.wrap(request.argv), began_in, began_with)
            asked["else"] = "" if request.cwd else self.cwd  # the last command may have removed where it was
            result = await self._run(sandbox, request, asked, trace.descriptor)
            if state := trace.read():
                self._shell.learn(state[0], parse_exports(state[1]), began_in, began_with)
            return result
        finally:
            trace.close()

    @staticmethod
    def _asked(argv: Sequence[str], cwd: str, env: Mapping[str, str]) -> dict[str, Any]:
        return {"kind": "exec", "argv": list(argv), "cwd": cwd, "else": "", "env": {**env, "PWD": cwd}}

    async def _run(
        self, sandbox: Sandbox, request: ExecRequest, asked: Mapping[str, Any], trace: int = -1
    ) -> ExecResult:
        capture = Capture(request.limit, request.on_output)
        job = Job(sandbox, capture.take)
        self._others.begin()
        reading = Reading(self.also)
        try:
            with reading:
                await job.start(asked, request.stdin, trace)
                async with asyncio.timeout(request.seconds):
                    status = await job.finished
        except TimeoutError:
            await job.end()
            status = TIMED_OUT
        except ToolError as error:
            name = asked["argv"][0] if asked["kind"] == "exec" else asked["path"]
            raise ToolError(f"Cannot run {name}: {error.text}", hint=error.hint) from error
        except BaseException:
            await job.end(SHORT_GRACE)
            raise
        finally:
            job.forget()
            put_back = self._others.end(left=sandbox.left)
            self._go_on_looking(sandbox)
        if said := self._unredirect():
            capture.add(said)
        if put_back:
            capture.add(f"\n{put_back}\n".encode())
        return evolve(capture.result(status), online=reading.was_seen)

    def _go_on_looking(self, sandbox: Sandbox) -> None:
        """Look at what something may change in folders of others that a command left behind."""
        others = self._others
        if (others.unsettled or others.shallow) and (self._looking is None or self._looking.done()):
            self._looking = asyncio.ensure_future(looked(others, lambda: sandbox.left))

    async def start(self, request: ExecRequest) -> Process:
        """Start a command in the background. It begins where the shell is, and leaves no state."""
        _must_be_sayable(request)
        sandbox = await self._ready()
        shell = is_shell(request.argv)
        cwd = self._path(request.cwd or (self._shell.cwd if shell else ""))
        env = {**(self._shell.over(self._env) if shell else self._env), **request.env}
        self._others.begin()
        ended = partial(self._ended_beside, sandbox)
        process = await started(sandbox, self._asked(request.argv, cwd, env), request, ended=ended)
        self._go_on_looking(sandbox)
        self._background = [p for p in self._background if p.running] + [process]
        return process

    def _ended_beside(self, sandbox: Sandbox) -> str:
        return self._others.end(left=sandbox.left)

    async def read(self, path: str) -> bytes:
        """The bytes of a file, as commands see it."""
        result = await self._file("read", path, b"", READ_LIMIT)
        if result.truncated:
            raise ToolError(
                f"Cannot read {path}: it has more than {READ_LIMIT:,} bytes.",
                hint=PART,
            )
        return result.output

    async def write(self, path: str, data: bytes) -> None:
        """Replace a file as a whole, as a command would: what they cannot change, this cannot either."""
        await self._file("write", path, data, 10_000)

    async def _file(self, kind: str, path: str, data: bytes, limit: int) -> ExecResult:
        if "\0" in path:
            raise ToolError("A path cannot hold a NUL character.")
        sandbox = await self._ready()
        asked = {"kind": kind, "path": self._path(path), "cwd": self.cwd, "else": "/", "env": {}}
        request = ExecRequest(argv=(), stdin=data, seconds=FILE_SECONDS, limit=limit)
        result = await self._run(sandbox, request, asked)
        if result.status:
            why = result.output.decode(errors="replace").strip()[-300:] if result.status == 1 else "it was interrupted"
            raise ToolError(f"Cannot {kind} {path}: {why}.", hint=self._hint(path, why))
        return result

    def _hint(self, path: str, why: str) -> str:
        full = self._path(path)
        if ("read-only" in why or "busy" in why) and full.startswith(f"{self.cwd}/.git"):
            return "Hooks and settings of git cannot be changed from inside (backends.bubblewrap.git)."
        if not full.startswith(f"{self.cwd}/"):
            return f"Commands and files see only {self.cwd} and what backends.bubblewrap.readable and writable name."
        return ""

    async def close(self) -> None:
        """End everything that was ever started inside."""
        self._background = []
        async with self._making:
            sandbox, self._sandbox = self._sandbox, None
            if sandbox is not None:
                await sandbox.close()
        if self._looking:
            self._looking.cancel()
            await asyncio.wait([self._looking])
        if said := self._others.close():
            _log.warning("%s: %s", self.cwd, said)
        self._unredirect()

    def _redirected(self) -> bool:
        return (Path(self._source) / ".git" / "commondir").exists()

    def _unredirect(self) -> bytes:
        """Remove the one file that makes git take hooks and settings from elsewhere; a mount cannot forbid it."""
        if self._config.git != "guarded" or self._redirects:
            return b""
        with suppress(OSError):
            # By descriptor: a link that takes the place of .git in the meantime leads nowhere.
            git = os.open(f"{self._source}/.git", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                os.unlink("commondir", dir_fd=git)
            finally:
                os.close(git)
            return b"\n[.git/commondir was removed: it would make git use other hooks and settings]\n"
        return b""

    def _path(self, path: str) -> str:
        return absolute(path, self.cwd, self._home)


def _must_be_sayable(request: ExecRequest) -> None:
    """Raises ToolError for what no program can be given."""
    words = (*request.argv, request.cwd, *request.env, *request.env.values())
    if not request.argv or any("\0" in word for word in words):
        raise ToolError("Cannot run this: there is no command, or a NUL character in it.")
