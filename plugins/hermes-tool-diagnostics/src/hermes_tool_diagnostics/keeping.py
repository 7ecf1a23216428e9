"""The language servers of sessions: opened at first use, ended when idle, at rest, or by a person."""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from attrs import field

from hermes_core.errors import HermesError
from hermes_core.kinds import Jobs, Workspace
from hermes_core.types import Feature, Job, Session
from hermes_core.values import define
from hermes_tool_diagnostics.client import Gone, LanguageServer
from hermes_tool_diagnostics.config import Config
from hermes_tool_diagnostics.problems import Problem
from hermes_tool_diagnostics.rows import Found, Row, found_for, rows_of

MOST = 4  # servers of one session; the one that was used longest ago goes
FRESH = 60.0  # seconds that what was found for a folder holds
LONGEST = 60.0  # seconds that one look at a file may take
_WAIT = 3.0


@define(eq=False)
class Held:
    """One server. ``starting`` is done when it can be used; ``last`` is the text it knows of a file, and its words."""

    found: Found
    server: LanguageServer
    workspace: Workspace
    starting: asyncio.Task[None]
    since: float = field(factory=time.time)
    used: float = field(factory=time.monotonic)
    users: int = 0
    slow: bool = False
    last: tuple[str, str, Sequence[Problem]] = ("", "", ())
    timer: asyncio.TimerHandle | None = None


class Servers:
    """Those of one kernel, by session."""

    def __init__(self, config: Config, log: logging.Logger) -> None:
        self._config, self._rows, self._log = config, rows_of(config), log
        self._held: dict[str, dict[tuple[str, str], Held]] = {}
        self._found: WeakKeyDictionary[Workspace, dict[tuple[str, str], tuple[float, Sequence[Found]]]]
        self._found = WeakKeyDictionary()
        self._broken: set[tuple[str, str, str]] = set()
        self._ending: set[asyncio.Task[None]] = set()

    def wanted(self, workspace: Workspace) -> bool:
        """Whether servers may run in a place: they run code of the project, so a wall has to hold."""
        if self._config.servers == "never" or Feature.BACKGROUND not in workspace.features:
            return False
        walled = workspace.wall.name != "none" or Feature.ISOLATED in workspace.features
        return walled or self._config.servers == "always"

    def looks_at(self, path: str) -> Sequence[Row]:
        """The rows that a file is something for."""
        return [row for row in self._rows if row.language(path)]

    async def of(self, session: Session, workspace: Workspace, path: str) -> Sequence[Held]:
        """The servers for a file, started where they were not. Raises ToolError."""
        if not self.looks_at(path) or not self.wanted(workspace):
            return []
        folder, _, name = path.rpartition("/")
        key = (folder, name.rpartition(".")[2])
        known = self._found.setdefault(workspace, {})
        if key not in known or time.monotonic() - known[key][0] > FRESH:
            usable = [row for row in self._rows if (session.id, row.name, workspace.cwd) not in self._broken]
            known[key] = (time.monotonic(), await found_for(workspace, path, usable))
        return [
            self._open(session, workspace, one) for one in known[key][1] if not self._is_broken(session, workspace, one)
        ]

    def _is_broken(self, session: Session, workspace: Workspace, one: Found) -> bool:
        return (session.id, one.row.name, workspace.cwd) in self._broken

    def _open(self, session: Session, workspace: Workspace, found: Found) -> Held:
        mine, key = self._held.setdefault(session.id, {}), (found.row.name, found.root)
        held = mine.get(key)
        if held and (held.server.gone or held.workspace is not workspace):
            self._end(mine.pop(key))
            held = None
        if held is None:
            while len(mine) >= MOST:
                self._end(mine.pop(min(mine, key=lambda one: mine[one].used)))
            server = LanguageServer(found.row, found.root, workspace)
            held = mine[key] = Held(
                found, server, workspace, asyncio.ensure_future(self._start(session, server, workspace))
            )
        return held

    async def _start(self, session: Session, server: LanguageServer, workspace: Workspace) -> None:
        try:
            await server.start()
        except (Gone, HermesError) as error:
            # It is not tried again in this session; of its group another one is.
            self._broken.add((session.id, server.row.name, workspace.cwd))
            self._found.pop(workspace, None)
            server.gone = server.gone or str(error)
            self._log.info("the language server %s did not start: %s", server.row.name, error)

    async def ask(self, held: Held, path: str, text: str) -> Sequence[Problem]:
        """What a server says of a text in a file; nothing where it does not say it in time."""
        self._begin(held)
        try:
            async with asyncio.timeout(LONGEST), held.server.lock:
                await asyncio.shield(held.starting)
                if held.last[:2] != (path, text):
                    held.last = ("", "", ())
                    held.last = (path, text, await held.server.problems(path, text))
                return held.last[2]
        except (Gone, TimeoutError) as error:
            self._log.info("the language server %s said nothing of %s: %s", held.found.row.name, path, error)
            return []
        finally:
            self._done(held)

    def _begin(self, held: Held) -> None:
        held.users += 1
        held.used = time.monotonic()
        if held.timer:
            held.timer.cancel()

    def _done(self, held: Held) -> None:
        held.users -= 1
        held.used = time.monotonic()
        if not held.users and not held.server.gone:
            held.timer = asyncio.get_running_loop().call_later(self._config.idle, self._idle, held)

    def _idle(self, held: Held) -> None:
        if held.users:
            return
        for mine in self._held.values():
            for key in [key for key, one in mine.items() if one is held]:
                del mine[key]
        self._end(held)

    def _end(self, held: Held) -> asyncio.Task[None]:
        if held.timer:
            held.timer.cancel()

        async def end() -> None:
            held.starting.cancel()
            await held.server.close()

        return self._later(end())

    def _later(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.ensure_future(work)
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
        return task

    async def end(self, session_id: str) -> None:
        """End those of a session."""
        self._broken = {one for one in self._broken if one[0] != session_id}
        ending = [self._end(held) for held in self._held.pop(session_id, {}).values()]
        if ending:
            await asyncio.wait(ending, timeout=_WAIT)

    def running(self, session_id: str) -> Sequence[Held]:
        """Those of a session that run."""
        return [held for held in self._held.get(session_id, {}).values() if not held.server.gone]

    async def stop(self, session_id: str, name: str) -> bool:
        """End one by its id."""
        mine = self._held.get(session_id, {})
        keys = [key for key in mine if job_id(mine[key]) == name]
        if not keys:
            return False
        await asyncio.wait([self._end(mine.pop(key)) for key in keys], timeout=_WAIT)
        return True


def job_id(held: Held) -> str:
    """How one is named among what runs beside a conversation."""
    return f"{held.found.row.name}:{held.found.root.rsplit('/', 1)[-1]}"


class Running(Jobs):
    """The servers of a session, to be seen and stopped."""

    name = "language-server"

    def __init__(self, servers: Callable[[], Servers]) -> None:
        self._servers = servers

    async def running(self, session: Session) -> Sequence[Job]:
        """Return what runs now for a session, oldest first."""
        return [
            Job(
                id=job_id(held),
                kind="other",
                title=f"{held.found.row.name} in {held.found.root}",
                since=held.since,
                state="running" if held.users else "idle",
            )
            for held in sorted(self._servers().running(session.id), key=lambda one: one.since)
        ]

    async def stop(self, session: Session, job: str) -> bool:
        """Stop one by its id; False when it does not run any more."""
        return await self._servers().stop(session.id, job)
