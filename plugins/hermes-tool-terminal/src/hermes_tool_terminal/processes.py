"""The processes of a session that run in the background: begun, looked at, typed into, ended, found again."""

import asyncio
import contextlib
import hashlib
import time
from collections.abc import Callable
from pathlib import Path

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.environment import MARK
from hermes_core.errors import HermesError, ToolError
from hermes_core.kinds import Process, Resource, ToolContext, Workspace
from hermes_core.types import ExecRequest, Feature, Session
from hermes_tool_terminal.line import Line
from hermes_tool_terminal.output import Output
from hermes_tool_terminal.records import HAD, Holder, Record, add, keep, load, plan_of, wait_for, wait_no_more
from hermes_tool_terminal.watching import Watch
from hermes_tool_terminal.wrapping import end_left, folder_of, look_at, wrapped

__all__ = ["DIED", "Kept", "Processes", "Running", "Table", "forget_session", "said", "table_of"]

AT_ONCE = 16  # of one session
IN_ALL = 64  # of this Hermes
_LOOK, _LOOK_LEFT = 0.2, 2.0  # seconds between looks at one of ours, and at one that was found again
_OLD = 7 * 86_400.0  # seconds after which output is forgotten that nobody came back to
_FOREVER = 1e9
_LAST = 3.0  # seconds that clearing away may take when the session rests
DIED = "Hermes died, and it died with it"


class Running:
    """One process. ``record`` is what is written down of it; ``over`` is set once it has ended and that is written."""

    def __init__(self, record: Record, output: Output, on_news: Callable[[], None]) -> None:
        self.record, self.output, self._on_news = record, output, on_news
        self.handle: Process | None = None
        self.over = asyncio.Event()
        self.heard = asyncio.Event()
        self.news: list[str] = []  # lines it was watched for, which the model was not told of yet
        self.planned = False  # a turn of its own tells of its end
        self.typed = False  # whether it takes input
        self.line, self.typing = Line(), asyncio.Lock()
        self.awaits: tuple[str, str] | None = None  # a line that is judged now, and the keys that complete it
        self.looking: asyncio.Task[None] | None = None
        self.watch = Watch(record.watch)

    def take(self, data: bytes) -> None:
        """Hear what it prints."""
        lines = self.output.take(data)
        if seen := self.watch.see(lines):
            self.news = [*self.news, *seen][-5:]
            self._on_news()
        self.heard.set()

    def watch_for(self, words: str) -> None:
        """Watch its output for words from now on; none: no more."""
        self.watch = Watch(words)
        self.record = evolve(self.record, watch=words)

    @property
    def ended(self) -> bool:
        """Whether it has ended."""
        return self.record.state == "ended"

    def said(self) -> str:
        """How it is, in a line."""
        return said(self.record)


def said(one: Record) -> str:
    """How a process is, in a line."""
    if one.state == "running":
        return f"{one.id} runs, since {_ago(time.time() - one.since)}"
    status = "" if one.status is None else f" with exit {one.status}"
    return f"{one.id} has ended{status}{f': {one.how}' if one.how else ''}"


class Processes:
    """Those of one session, by id."""

    def __init__(self, ctx: PluginContext, session: Session, workspace: Workspace, table: "Table") -> None:
        self._ctx, self._session, self._workspace, self._table = ctx, session, workspace, table
        self._data = ctx.paths.data
        self._folder = folder_of(workspace, ctx.paths.data)
        self.known: dict[str, Running] = {}
        self._starting = asyncio.Lock()

    @property
    def outside(self) -> bool:
        """Whether what they print may come from outside: a wall that opens for hosts does not say for whom, and no
        place says which of them read what somebody else shares.
        """
        return Feature.WALLED in self._workspace.features or bool(self._workspace.also)

    @property
    def running(self) -> list[Running]:
        """Those that run."""
        return [one for one in self.known.values() if not one.ended]

    async def open(self) -> None:
        """Find again what an earlier Hermes left; what nobody else keeps and runs is kept from here on."""
        planned = ((await plan_of(self._ctx, self._session)).get("plan") or {}).get("ids", ())
        for record in (await load(self._ctx, self._session)).values():
            await self._found(record, planned=record.id in planned)

    async def _found(self, record: Record, *, planned: bool) -> None:
        one = self.known[record.id] = self._make(record)
        one.planned = planned
        if record.state == "ended":
            one.over.set()
        left = record.state == "running" and not self._table.holder.lives(record)
        fate = await look_at(self._workspace, record.mark, self._folder) if left and record.outlives else None
        one.output.restore(fate.output if fate else b"")
        if not left:
            return None
        if fate is None:
            return await self._over(one, None, DIED, told=False)
        if fate.state == "running":
            one.record = evolve(record, holder=self._table.holder.id)
            await keep(self._ctx, self._session, one.record)
            one.looking = asyncio.ensure_future(self._look_at_left(one))
            return None
        how = "by itself, after Hermes had died" if fate.state == "ended" else "nobody can look, as Hermes has died"
        return await self._over(one, fate.status, how, told=False)

    def _make(self, record: Record) -> Running:
        return Running(record, Output(_file_of(self._data, record), tty=record.tty), self._tell)

    def _tell(self) -> None:
        """Have the conversation told, also where nobody speaks in it."""
        from hermes_tool_terminal.telling import telling_of

        telling_of(self._ctx).soon(self._session)

    async def start(
        self, context: ToolContext, program: str, command: str, *, workdir: str, wall: bool, tty: bool
    ) -> Running:
        """Start one in the place of a call, as it may use that; it is written down before. Raises ToolError."""
        workspace, session = context.workspace, context.session
        if Feature.BACKGROUND not in workspace.features:
            raise ToolError("Nothing can run in the background here.", hint="Run it in the foreground with a timeout.")
        from hermes_tool_terminal.telling import bounds_as_json, speaker_as_json

        async with self._starting:
            self._must_fit()
            outlives = workspace.wall.name == "none" or not wall
            argv = wrapped(program, command, tty=tty, outlives=self._folder if outlives else "", workspace=workspace)
            taken: list[Running] = []
            request = ExecRequest(
                argv=argv, cwd=workdir, seconds=_FOREVER, limit=1_000, wall=wall,
                on_output=lambda data: taken[0].take(data),  # noqa: PLW0108 - it is not there yet
            )  # fmt: skip
            record = Record(
                id="", session=self._session.id, command=command[:2_000], mark=request.env[MARK],
                since=time.time(), holder=self._table.holder.id, host=self._table.holder.host, tty=tty,
                outlives=outlives, walled=wall, begins=not session.parent, outside=session.untrusted,
                speaker=speaker_as_json(session), bounds=bounds_as_json(session),
            )  # fmt: skip
            if record.begins:
                await wait_for(self._ctx, session, record.host)
            record = await add(self._ctx, self._session, record)
            one = self.known[record.id] = self._make(record)
            taken.append(one)
            self._ctx.state.setdefault(HAD, set()).add(self._session.id)
            try:
                one.handle = await workspace.start(request)
            except BaseException as error:
                how = error.text if isinstance(error, ToolError) else "it was not begun"
                await asyncio.shield(self._over(one, None, how, told=True))
                raise
            one.typed = True
            one.looking = asyncio.ensure_future(self._look(one, one.handle))
            return one

    def _must_fit(self) -> None:
        if len(self.running) >= AT_ONCE:
            raise ToolError(f"{AT_ONCE} processes of this conversation run already.", hint="End one first.")
        if self._table.count() >= IN_ALL:
            raise ToolError(f"{IN_ALL} processes of this Hermes run already.", hint="Wait until one ends.")

    async def _look(self, one: Running, handle: Process) -> None:
        while (status := await handle.poll()) is None:  # noqa: ASYNC110 - a place is asked; it does not tell
            await asyncio.sleep(_LOOK)
        await self._over(one, status, one.record.how, told=False)

    async def _look_at_left(self, one: Running) -> None:
        while True:
            await asyncio.sleep(_LOOK_LEFT)
            with contextlib.suppress(HermesError):
                fate = await look_at(self._workspace, one.record.mark, self._folder, one.output.total)
                if fate.output:
                    one.take(fate.output)
                if fate.state == "ended":
                    return await self._over(one, fate.status, "by itself, after Hermes had died", told=False)

    async def _over(self, one: Running, status: int | None, how: str, *, told: bool) -> None:
        """Write down that it ended, and let go of what was kept for the case of a death."""
        one.record = evolve(one.record, state="ended", status=status, how=how, told=told)
        with contextlib.suppress(HermesError):  # the conversation was deleted meanwhile
            await keep(self._ctx, self._session, one.record)
        one.over.set()
        one.heard.set()
        if one.record.begins and not told:
            self._tell()
        if one.record.outlives:
            with contextlib.suppress(HermesError):
                await end_left(self._workspace, one.record.mark, self._folder)

    async def end(self, one: Running, how: str, *, told: bool = True) -> None:
        """End one with all it started; ``how`` is by whom. Nobody's end but its own begins a turn."""
        if one.ended:
            return
        one.record = evolve(one.record, how=how, begins=False)
        if one.looking:
            one.looking.cancel()
            await asyncio.wait([one.looking])
        status = None
        if one.handle is not None:
            await one.handle.kill()
            status = await one.handle.poll()
        else:
            self.must_be_ours(one, "End it there.")
        if not one.ended:
            await self._over(one, status, how, told=told)

    def must_be_ours(self, one: Running, hint: str) -> None:
        """Raise ToolError for one that another Hermes began which lives still."""
        if one.record.holder != self._table.holder.id and self._table.holder.lives(one.record):
            raise ToolError(f"{one.record.id} belongs to another Hermes that runs.", hint=hint)

    async def told(self, one: Running) -> None:
        """Write down that the model knows how it ended."""
        one.record = evolve(one.record, told=True)
        await keep(self._ctx, self._session, one.record)

    async def watched(self, one: Running, words: str) -> None:
        """Watch one for words, and write that down."""
        one.watch_for(words)
        await keep(self._ctx, self._session, one.record)

    async def close(self) -> None:
        """End all that run: the session rests, or Hermes ends."""
        from hermes_tool_terminal.telling import telling_of

        await telling_of(self._ctx).stop(self._session.id)
        mine = [one for one in self.running if one.handle is not None or one.looking is not None]
        await asyncio.gather(
            *(self.end(one, "it ended with the session", told=False) for one in mine), return_exceptions=True
        )
        last = [one.looking for one in self.known.values() if one.looking and not one.looking.done()]
        if last:  # of those that ended a moment ago, what was kept for the case of a death is not cleared away yet
            await asyncio.wait(last, timeout=_LAST)
        if not any(one.record.begins and not one.record.told for one in self.known.values()):
            with contextlib.suppress(HermesError):
                await wait_no_more(self._ctx, self._session.id)


class Table:
    """The processes of this Hermes, by session."""

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx = ctx
        self.sessions: dict[str, Processes] = {}
        self._holder: Holder | None = None

    @property
    def holder(self) -> Holder:
        """The lock by which others see that this Hermes lives."""
        if self._holder is None:
            self._holder = Holder(self._ctx.paths.data / "holders")
            _forget_old(self._ctx.paths.data)
        return self._holder

    def count(self) -> int:
        """How many run."""
        return sum(len(one.running) for one in self.sessions.values())


def table_of(ctx: PluginContext) -> Table:
    """The table of a kernel."""
    table = ctx.state.get("processes")
    if not isinstance(table, Table):
        table = ctx.state["processes"] = Table(ctx)
    return table


class Kept(Resource):
    """Keeps the processes of a session for as long as it is at work, or they are."""

    name = "processes"
    idle = 3600.0

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx = ctx

    async def open(self, session: Session, workspace: Workspace) -> Processes:
        """Find again what was left. Raises ToolError."""
        table = table_of(self._ctx)
        found = Processes(self._ctx, session, workspace, table)
        await found.open()
        table.sessions[session.id] = found
        return found

    async def close(self, thing: Processes) -> None:
        """End those that run."""
        table = table_of(self._ctx)
        for name, one in list(table.sessions.items()):
            if one is thing:
                del table.sessions[name]
        await thing.close()

    def busy(self, thing: Processes) -> bool:
        """Whether one runs."""
        return bool(thing.running)

    def describe(self, thing: Processes) -> str:
        """How many run."""
        return f"processes in the background: {len(thing.running) or 'none'}"


def _file_of(data: Path, record: Record) -> Path:
    """Where Hermes keeps what one printed."""
    return data / "processes" / f"{_digest(record.session)}-{record.mark[:32]}.out"


def forget_session(data: Path, session_id: str) -> None:
    """Take away what the processes of a session printed."""
    with contextlib.suppress(OSError):
        for path in (data / "processes").glob(f"{_digest(session_id)}-*.out"):
            path.unlink(missing_ok=True)


def _digest(session_id: str) -> str:
    return hashlib.sha256(session_id.encode("utf-8", "replace")).hexdigest()[:16]


def _forget_old(data: Path) -> None:
    for name in ("processes", "outlived"):
        with contextlib.suppress(OSError):
            for path in (data / name).iterdir():
                if time.time() - path.stat().st_mtime > _OLD:
                    path.unlink(missing_ok=True)


def _ago(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7_200 else f"{seconds / 3600:.0f} h"
