"""The wall of one workspace: which one it is, what commands begin with, and the sandbox they run in.

What makes the sandbox is imported with the first command: many a conversation runs none.
"""

import asyncio
import logging
import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import evolve

from hermes_backend_kit.walls import no_wall
from hermes_backend_wall.plan import Kind, Plan, chosen, home_of, was_lost
from hermes_core.errors import ToolError
from hermes_core.types import Folder, Wall

if TYPE_CHECKING:
    from hermes_backend_wall.bounds import Bounds
    from hermes_backend_wall.home import Own
    from hermes_backend_wall.sandbox import Sandbox
    from hermes_backend_wall.several import Guarded

__all__ = ["Walled", "expected"]

_log = logging.getLogger("hermes.backend_wall")
_IDLE = (
    120.0  # seconds after which a sandbox in which nothing runs is ended: it takes megabytes, and a new one little time
)
_LOCAL = "localhost,127.0.0.1,::1"
_PROXIED = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


def expected(kind: Kind) -> Wall:
    """The wall that is tried first, in words, and what would make a better one."""
    from hermes_backend_wall.better import better

    return evolve(_told(chosen(kind)), better=better() if kind == "auto" else ())


def _told(name: str) -> Wall:
    if name == "landlock":
        from hermes_backend_wall import landlock

        return Wall(name=name, missing=landlock.missing(landlock.version()))
    if name == "bubblewrap":
        from hermes_backend_wall import namespaces

        return Wall(name=name, missing=namespaces.missing())
    if name == "seatbelt":
        from hermes_backend_wall import seatbelt

        return Wall(name=name, missing=seatbelt.MISSING)
    return no_wall()


class Walled:
    """Makes the sandbox with the first command. ``name`` is the wall's, known for sure once that was made."""

    def __init__(self, folder: str, plan: Plan, also: Sequence[Folder] = ()) -> None:
        self.also = tuple(also)
        self.folder, self._source, self._plan = folder, os.path.realpath(folder), plan
        self._person = os.path.realpath(os.path.expanduser("~"))  # noqa: PTH111
        self.name = chosen(plan.kind)
        self._sandbox: Sandbox | None = None
        self._making = asyncio.Lock()
        self._idle: asyncio.TimerHandle | None = None
        self._resting: asyncio.Future[None] | None = None
        self._base: tuple[Mapping[str, str], dict[str, str]] = ({}, {})

    @cached_property
    def _own(self) -> "Own":
        from hermes_backend_wall.home import Own

        return Own(self._plan.homes, self._source, self._person)

    @cached_property
    def protected(self) -> "Guarded":
        """What of the folder, and of those of others beside it, no command changes for good."""
        import tempfile

        from hermes_backend_wall.protected import Protected

        writable = [os.path.expanduser(path) for path in self._plan.writable]  # noqa: PTH111
        reach = [str(self._plan.homes), tempfile.gettempdir(), *writable]
        kept = Path(f"{home_of(self._plan.homes, self._source)}.kept")
        own = Protected(self._source, kept, Path(self._record), [os.path.realpath(path) for path in reach])
        if not any(one.writes for one in self.also):
            return own
        from hermes_backend_wall.several import Several, of_others

        return Several([own, *of_others(self.also, self._plan.homes, self._plan.records or self._plan.homes)])

    @property
    def _record(self) -> str:
        return home_of(self._plan.records or self._plan.homes, self._source)

    def recover(self) -> None:
        """Put back what commands changed before a Hermes was killed, if one was; told with the first result."""
        if self.name != "none" and was_lost(self._record):
            self.protected.recover()

    @property
    def left(self) -> bool:
        """Whether something may live that a command left behind."""
        return self._sandbox is not None and self._sandbox.left

    @property
    def wall(self) -> Wall:
        """What holds, in words."""
        return _told(self.name)

    def behind(self, argv: Sequence[str]) -> Sequence[str]:
        """A command that needs no sandbox to be behind this wall. Raises ToolError."""
        if self.name != "seatbelt":
            return argv
        from hermes_backend_wall import seatbelt

        return seatbelt.behind(argv, self._bounds_of(self.name))

    async def sandbox(self) -> "Sandbox | None":
        """The running one, made where there is none; None where commands have none around them. Raises ToolError."""
        self._wait()
        if self._sandbox is not None and self._sandbox.alive:
            return self._sandbox
        if self.name == "seatbelt":
            self._prepare()
        if self.name in ("none", "seatbelt"):
            return None
        async with self._making:
            if self._sandbox is None or not self._sandbox.alive:
                if self._sandbox is not None:
                    await self._sandbox.close()
                self._sandbox = None
                self._sandbox = await self._make()
        return self._sandbox

    async def another(self) -> "Sandbox | None":
        """One more, for one command; whoever asked closes it. None where commands have none. Raises ToolError."""
        if await self.sandbox() is None:
            return None
        from hermes_backend_wall.raising import raised

        plan = self._plan
        made, _ = await raised(plan.kind, self.name, self._bounds_of, plan.limits, plan.on_connection)
        return made

    def _wait(self) -> None:
        """Look later whether anything runs in it still."""
        if self._idle is not None:
            self._idle.cancel()
        self._idle = asyncio.get_running_loop().call_later(_IDLE, self._look)

    def _look(self) -> None:
        self._resting = asyncio.ensure_future(self._rest())

    async def _rest(self) -> None:
        """End the sandbox if nothing runs in it; the next command makes another. Its files stay."""
        async with self._making:
            sandbox = self._sandbox
            if sandbox is not None and sandbox.alive and (sandbox.busy or sandbox.left):
                self._wait()
            elif sandbox is not None:
                self._sandbox = None
                await sandbox.close()

    async def _make(self) -> "Sandbox":
        from hermes_backend_wall.raising import raised

        self._prepare()
        plan = self._plan
        made, self.name = await raised(plan.kind, self.name, self._bounds_of, plan.limits, plan.on_connection)
        return made

    def _prepare(self) -> None:
        self._must_be_one_project()
        if not self._own.scratch:
            self._own.open()
        self._base = ({}, {})

    def _bounds_of(self, wall: str) -> "Bounds":
        self._own.lead_back(mounted=wall == "bubblewrap")
        return self._bounds()

    def _must_be_one_project(self) -> None:
        from hermes_backend_wall.system import WHOLE

        wide = {self.folder, self._source} & set(WHOLE) or f"{self._person}/".startswith(f"{self._source}/")
        if wide:
            raise ToolError(
                f"{self.folder} is too wide a folder for commands: a wall around it would hold your keys.",
                hint="Start Hermes in the folder of your project, set terminal.cwd, or, to run commands there without "
                "any wall, backends.local.wall none.",
                retry=False,
            )

    def _bounds(self) -> "Bounds":
        from hermes_backend_wall.bounds import Bounds
        from hermes_backend_wall.protected import fixed
        from hermes_backend_wall.toolchains import found

        def named(paths: Sequence[str]) -> list[str]:
            return [os.path.normpath(os.path.expanduser(path)) for path in paths]  # noqa: PTH111

        offered = [str(path) for path in self._plan.offered if path.is_dir()]
        return Bounds(
            folder=self.folder,
            source=self._source,
            home=os.path.realpath(self._own.home),
            scratch=self._own.scratch,
            person=self._person,
            readable=[*found(self._person, os.environ), *offered, *named(self._plan.readable)],
            writable=named(self._plan.writable),
            hidden=[os.path.realpath(path) for path in self._plan.hidden],
            fixed=fixed(self._source),
            also=self.also,
        )

    def environment(self, given: Mapping[str, str], other: "Sandbox | None" = None) -> dict[str, str]:
        """What commands begin with instead of ``given``: their own home and temporary folder, and the way out.

        The way out is that of an ``other`` sandbox, where one is given.
        """
        if other is not None:
            doors = dict.fromkeys((*_PROXIED, *map(str.lower, _PROXIED)), f"http://127.0.0.1:{other.door}")
            return {**self.environment(given), **(doors if other.door else {})}
        known, made = self._base
        if known == given and made:
            return dict(made)
        from hermes_backend_wall.toolchains import HOMES, MOVED

        env = {name: value for name, value in given.items() if name not in MOVED}
        inside = self.name == "bubblewrap"
        env["HOME"] = self._person if inside else self._own.home
        env["TMPDIR"] = "/tmp" if inside else self._own.scratch  # noqa: S108 - inside it is the scratch folder
        for name, place in HOMES.items():
            if name not in env and os.path.isdir(f"{self._person}/{place}"):  # noqa: PTH112
                env[name] = f"{self._person}/{place}"
        if self._sandbox is not None and self._sandbox.door:
            for name in _PROXIED:
                env[name] = env[name.lower()] = f"http://127.0.0.1:{self._sandbox.door}"
            env["NO_PROXY"] = env["no_proxy"] = _LOCAL
            env["NODE_USE_ENV_PROXY"] = "1"  # its own fetch heeds the others only with it
        self._base = (dict(given), env)
        return dict(env)

    async def close(self) -> None:
        """End everything that was ever started inside, and forget its temporary files."""
        if self._idle is not None:
            self._idle.cancel()
        async with self._making:
            sandbox, self._sandbox = self._sandbox, None
            if sandbox is not None:
                await sandbox.close()
        if "protected" in self.__dict__:
            protected = self.protected
            if protected.shallow:
                await asyncio.to_thread(protected.deepen)
                protected.watch()
            if said := protected.close():
                _log.warning("%s: %s", self.folder, said)
        self._own.close()
