"""Where a server is started: behind a wall of its own, with the hosts and folders that its settings name.

The wall is that of commands, so what the server starts ends with it, and all of it with Hermes. What it fetches is kept
for it alone.
"""

import asyncio
import os
import shutil
import stat
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from hermes_core.context import PluginContext
from hermes_core.environment import for_commands
from hermes_core.errors import ToolError
from hermes_core.types import ExecRequest
from hermes_tool_mcp.config import ServerSettings
from hermes_tool_mcp.given import Given, kept_as
from hermes_tool_mcp.wire import Heard, spoken

if TYPE_CHECKING:
    from hermes_backend_wall.proxy.server import Proxy

__all__ = ["Said", "started"]

_SPEAK = ': >"$0"; exec "$@" 2>>"$0"'  # what it says to people would come in between its messages
_MOST, _LOOK = 1_000_000, 2.0  # bytes of that which lie on the disk, and seconds between two looks at them
_TAIL = 2_000  # bytes of that, for whoever asks why it ended
_PROCESSES = 512
# Hidden folders of a home in which installers put programs.
_PROGRAMS = frozenset((
    ".asdf", ".bun", ".cargo", ".deno", ".local", ".nvm", ".npm-global", ".pyenv", ".rbenv", ".venv", ".volta",
    "node_modules",
))  # fmt: skip
_LONG = 1e9


class Said:
    """What a server wrote for people."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._before = ""  # the end of what was said before it began anew

    def clear(self) -> None:
        """Take away what is no file of its own, as a server may have left it: it would be written to."""
        with suppress(OSError):
            told = self.path.lstat()
            if not stat.S_ISREG(told.st_mode) or told.st_nlink > 1:
                self.path.unlink()

    def tail(self) -> str:
        """Return the end of it; empty where it wrote nothing."""
        with suppress(OSError), self._opened(os.O_RDONLY) as (file, size):
            file.seek(max(0, size - _TAIL))
            if said := file.read(_TAIL).decode(errors="replace").strip():
                return said
        return self._before

    def bound(self) -> None:
        """Begin anew where it is long; the end of it is kept in mind."""
        with suppress(OSError), self._opened(os.O_RDWR) as (file, size):
            if size > _MOST:
                file.seek(size - _TAIL)
                self._before = file.read(_TAIL).decode(errors="replace").strip()
                os.ftruncate(file.fileno(), 0)  # it is written to at its end, wherever that is

    async def watch(self) -> None:
        """Keep it short, until cancelled."""
        while True:
            await asyncio.sleep(_LOOK)
            self.bound()

    @contextmanager
    def _opened(self, how: int) -> Iterator[tuple[BinaryIO, int]]:
        """Open it, and tell its size. Raises OSError.

        It lies where the server writes. So a link in its place, which would be followed on this side of the wall, a
        pipe, which would be waited for, and what has another name elsewhere are not opened.
        """
        opened = os.open(self.path, how | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(opened, "rb") as file:  # noqa: PTH123 - it is open
            told = os.fstat(opened)
            if not stat.S_ISREG(told.st_mode) or told.st_nlink != 1:
                raise OSError("it is no file of its own")
            yield file, told.st_size


@asynccontextmanager
async def started(
    ctx: PluginContext,
    name: str,
    server: ServerSettings,
    folder: str,
    ended: Callable[[str], None],
) -> AsyncIterator[tuple[tuple[Any, Any], Said]]:
    """Start a server and open its streams; it and all it started is gone afterwards. Raises ToolError.

    ``folder`` is where it works, ``ended`` is told why it ended.
    """
    kept = ctx.paths.cache / "kept" / kept_as(name, server)
    place = _place(ctx, kept.name, server, folder)
    for path in (kept, Path(place)):
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.utime(kept)  # it is in use
    heard = Heard(ended)
    open_one = _walled if server.wall else _free
    async with (
        open_one(ctx, name, server, place, kept, heard) as (process, said),
        spoken(process, heard) as streams,
    ):
        watching = asyncio.ensure_future(said.watch())
        try:
            yield streams, said
        finally:
            watching.cancel()


def _place(ctx: PluginContext, name: str, server: ServerSettings, folder: str) -> str:
    """Return the folder that a server works in: its own where the session's would show the whole home."""
    from hermes_backend_wall.system import WHOLE

    if server.folder:
        return os.path.realpath(Path(server.folder).expanduser())
    real = os.path.realpath(folder) if folder else ""
    person = os.path.realpath(Path.home())
    if not real or real in WHOLE or f"{person}/".startswith(f"{real}/") or not Path(real).is_dir():
        return str(ctx.paths.cache / "places" / name)
    return real


def _named(server: ServerSettings) -> list[str]:
    """Return where the program lies that a person named by its path, and its script, with what belongs to them."""
    from hermes_backend_wall.system import WHOLE

    person, found = Path.home().resolve(), list[str]()
    words: Sequence[str] = (server.command, *server.args)
    if isinstance(server, Given):  # its program and its script: what more an editor names is no program's
        words = (server.command, next((one for one in server.args if not one.startswith("-")), ""))
    for path in map(Path, words):
        if not path.is_absolute() or not path.is_file() or (isinstance(server, Given) and _private(path, person)):
            continue
        for place in {path, path.resolve()} if isinstance(server, Given) else {path}:
            folder = place.parent.parent if place.parent.name == "bin" else place.parent
            packages = next((one for one in place.parents if one.name == "node_modules"), None)
            folder = packages or folder
            mixed = isinstance(server, Given) and folder.resolve().parent == person and folder.name.startswith(".")
            if mixed or str(folder) in WHOLE or person.is_relative_to(folder.resolve()):
                folder = place  # alone: what lies beside it is the person's
            found.append(str(folder))
    return found


def _private(path: Path, person: Path) -> bool:
    """Tell whether a file lies in a hidden folder of the person's home where no programs are: keys, other settings."""
    real = path.resolve()
    parts = real.relative_to(person).parts if real.is_relative_to(person) else ()
    return any(one.startswith(".") for one in parts) and _PROGRAMS.isdisjoint(parts)


def _caches(kept: Path) -> dict[str, str]:
    """Return the variables by which package runners keep what they fetch."""
    return {
        "NPM_CONFIG_CACHE": str(kept / "npm"),
        "UV_CACHE_DIR": str(kept / "uv"),
        "UV_TOOL_DIR": str(kept / "uv-tools"),
        "PIP_CACHE_DIR": str(kept / "pip"),
    }


@asynccontextmanager
async def _walled(
    ctx: PluginContext, name: str, server: ServerSettings, place: str, kept: Path, heard: Heard
) -> AsyncIterator[tuple[Any, Said]]:
    from hermes_backend_wall.background import started as begun
    from hermes_backend_wall.job import asked
    from hermes_backend_wall.limits import Limits
    from hermes_backend_wall.plan import INSTALL, Plan, base_of, chosen, records_of
    from hermes_backend_wall.walled import Walled

    if chosen("auto") == "none":
        hint = f"{INSTALL} Or let it do whatever you can do: {ctx.program} config set mcp.servers.{name}.wall false"
        raise ToolError(f"The MCP server {name} is not started: nothing here makes a wall.", hint=hint, retry=False)
    proxy = _way_out(name, server, ctx)
    plan = Plan(
        homes=ctx.paths.cache / "homes" / kept.name,
        records=records_of(ctx.paths.home),
        hidden=(base_of(ctx.paths.home), ctx.paths.home),
        readable=(*server.readable, *(one for one in _named(server) if not Path(one).is_relative_to(place))),
        writable=(*server.writable, str(kept)),
        limits=Limits(processes=_PROCESSES),
        on_connection=proxy.serve,
    )
    walled = Walled(place, plan)
    walled.recover()
    process = None
    try:
        sandbox = await walled.sandbox()
        assert sandbox is not None, "a wall without a sandbox is no choice here"
        said = Said(kept / "said.log")
        said.clear()
        given = {**walled.environment(for_commands()), **_caches(kept), **server.env}
        argv = ("sh", "-c", _SPEAK, str(said.path), server.command, *server.args)
        request = ExecRequest(argv=argv, cwd=place, env=given, seconds=_LONG, limit=1_000, on_output=heard.take)

        def over() -> str:
            heard.over("it ended")
            return walled.protected.end(left=sandbox.left)

        walled.protected.begin()
        process = await begun(sandbox, asked(argv, place, request.env), request, ended=over)
        yield process, said
    finally:
        if process is not None:
            await process.kill()
        await walled.close()
        await proxy.close()


def _way_out(name: str, server: ServerSettings, ctx: PluginContext) -> "Proxy":
    """Return what lets it reach the package registries and its hosts, and nothing else."""
    from hermes_backend_wall.hosts.mirrors import mirrors
    from hermes_backend_wall.hosts.registries import registries
    from hermes_backend_wall.proxy.rules import Rule, Rules
    from hermes_backend_wall.proxy.server import Proxy
    from hermes_backend_wall.proxy.upstream import Upstreams

    mend = f"{ctx.program} mcp add {name}, with" if isinstance(server, Given) else f"{ctx.program} config edit,"
    own = [Rule.read(host, private=True, source=f"mcp.servers.{name}.hosts") for host in server.hosts]
    rules = [*registries(), *mirrors(Path.home(), os.environ).rules, *own]
    return Proxy(
        Rules(rules),
        upstream=Upstreams(os.environ),
        mend=f"To open it: {mend} mcp.servers.{name}.hosts",
    )


@asynccontextmanager
async def _free(
    ctx: PluginContext, name: str, server: ServerSettings, place: str, kept: Path, heard: Heard
) -> AsyncIterator[tuple[Any, Said]]:
    """Start one that a person let out of the wall, in a process group of its own."""
    from hermes_tool_mcp.outside import Loose

    if shutil.which(server.command) is None:
        raise ToolError(f"The MCP server {name} cannot be started: there is no {server.command!r}.", retry=False)
    said = Said(kept / "said.log")
    said.clear()
    process = await Loose.start(
        [server.command, *server.args], place, {**for_commands(), **server.env}, said.path, heard
    )
    try:
        yield process, said
    finally:
        await process.kill()
