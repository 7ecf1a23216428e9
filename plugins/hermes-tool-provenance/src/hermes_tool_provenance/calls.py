"""Carries the mark of outside text through files: what calls read, and what they leave behind."""

import asyncio
import logging
import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from attrs import evolve

from hermes_core.errors import UserError
from hermes_core.kinds import Workspace
from hermes_core.types import Effect, Session, Text, ToolCall, ToolResult, Verdict
from hermes_core.values import define
from hermes_tool_kit.provenance.changes import changed
from hermes_tool_kit.provenance.ledger import TICK, Ledger, Mark, digest_of
from hermes_tool_provenance.fence import fenced
from hermes_tool_provenance.shell import Part, parts

log = logging.getLogger(f"hermes.{__name__}")
_WRITES = frozenset({Effect.WRITE_FILES, Effect.EXECUTE})
_READS = frozenset({Effect.READ_FILES, Effect.EXECUTE})
_REMEMBERED = 2_000  # files


@define
class _Running:
    """A call that runs. ``reads``: it reads what is outside; ``brings``: so what it writes is outside."""

    effects: frozenset[Effect]
    since: int
    named: Sequence[str] = ()
    folders: Sequence[str] = ()
    reads: bool = False
    brings: bool = False
    window: int = 0


class Calls:
    """Follows the calls of one kernel."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self._running: dict[tuple[str, str], _Running] = {}
        self._settled: asyncio.Task[None] | None = None
        self._made: dict[str, int] = {}  # files, and when they changed last

    async def begin(
        self, session: Session, call: ToolCall, effects: frozenset[Effect], workspace: Workspace, *, outside: bool
    ) -> Verdict | None:
        """A call begins. What it may bring in is written down before it can; where it cannot be, it does not begin."""
        try:
            await self._begin(session, call, effects, workspace, outside=outside)
        except UserError as error:
            return Verdict(outcome="deny", reason=str(error), by="provenance")
        return None

    async def _begin(
        self, session: Session, call: ToolCall, effects: frozenset[Effect], workspace: Workspace, *, outside: bool
    ) -> None:
        await self._left()
        ledger = self.ledger.of(workspace.cwd)
        known = ledger.known(workspace.cwd)  # where that cannot be told, nothing begins
        running = _Running(effects=effects, since=time.time_ns() - TICK)
        if Effect.EXECUTE in effects:
            command, cwd = _command(call, workspace)
            found = list(parts(command, cwd))
            running.named = [place for part in found for place in (*part.places, *part.absent)]
            running.folders = list(dict.fromkeys(part.cwd for part in found))
            read = [part for part in found if self._reads_outside(ledger, part)]
            running.reads = bool(read) and any(part.speaks for part in found)
            running.brings = bool(read)
        running.brings = running.brings or outside or session.untrusted
        if effects & _WRITES and running.brings and known:
            running.window = ledger.begin(workspace.cwd, f"{call.name}, in {session.id}")
        self._running[session.turn, call.id] = running

    async def finish(
        self,
        session: Session,
        call: ToolCall,
        result: ToolResult,
        workspace: Workspace,
        touches: Iterable[str],
        *,
        twin: bool,
    ) -> ToolResult | None:
        """What came of a call, marked where it comes from outside; and what it left is marked too."""
        running = self._running.pop((session.turn, call.id), None)
        if running is None and not twin:
            return None  # it did not run
        running = running or _Running(effects=_READS, since=time.time_ns())
        places = [key[5:] for key in touches if key.startswith("file:")]
        try:
            outside = await self._outside(running, result, workspace, places, f"{call.name}, in {session.id}")
        except UserError as error:  # what cannot be looked up is not trusted; what was begun holds on
            log.warning("%s", error)
            outside = True
        if not outside or result.untrusted:
            return None
        shown = result.parts if "/" in call.id else fenced(result.parts, call.name)  # a program reads what is below
        return evolve(result, untrusted=True, parts=tuple(shown))

    async def _outside(
        self, running: _Running, result: ToolResult, workspace: Workspace, places: Sequence[str], why: str
    ) -> bool:
        """Whether a result comes from outside; what the call wrote is marked, or not any more. Raises UserError."""
        ledger = self.ledger.of(workspace.cwd)
        outside = result.untrusted or running.reads
        if not outside and running.effects & _READS:
            outside = any(not self._is_made(place) and _shows_outside(ledger, place, result) for place in places)
        if not outside and Effect.EXECUTE in running.effects:
            outside = any(ledger.names(folder, _text(result)) for folder in running.folders)
        if running.effects & _WRITES and (outside or running.brings):
            await self._mark(ledger, running, workspace.cwd, places, why)
        elif running.effects & _WRITES and Effect.EXECUTE not in running.effects and not result.failed:
            for place in places:
                ledger.own(place)
        if running.effects & _WRITES and not (outside or running.brings or result.failed):
            self._made_here(ledger, running.since, {*places, *running.named})
        return outside

    def _made_here(self, ledger: Ledger, since: int, places: Iterable[str]) -> None:
        """Remember what a call that read nothing from outside wrote beside the known folders: in a temporary one."""
        for place in places:
            changed_at = _changed_at(place)
            if changed_at >= since and os.path.isfile(place) and not ledger.known(place):  # noqa: PTH113
                self._made[os.path.realpath(place)] = changed_at
        while len(self._made) > _REMEMBERED:
            del self._made[next(iter(self._made))]

    def _is_made(self, place: str) -> bool:
        """Whether a file is as a call of this process left it, that read nothing from outside."""
        kept = self._made.get(os.path.realpath(place))
        return kept is not None and kept == _changed_at(place)

    async def rest(self, session: Session) -> None:
        """A turn is over: what of its calls was cut off has ended too."""
        for key in [key for key in self._running if key[0] == session.turn]:
            if window := self._running.pop(key).window:
                await asyncio.to_thread(self._settle, window, session.cwd)

    def _reads_outside(self, ledger: Ledger, part: Part) -> bool:
        if any(not self._is_made(place) and _holds_outside(ledger, place) for place in part.places):
            return True
        if part.speaks and ledger.outside(part.cwd):
            return True
        if part.objects and _was_fetched(ledger, part.cwd):
            return True
        return part.searches and ledger.holds(part.cwd)

    async def _left(self) -> None:
        """Once: mark what calls brought in that died with their process."""
        if self._settled is None:
            self._settled = asyncio.ensure_future(asyncio.to_thread(self._settle_all))
        await asyncio.shield(self._settled)

    def _settle_all(self) -> None:
        for window, folder in self.ledger.left():
            self._settle(window, folder)

    def _settle(self, window: int, folder: str) -> None:
        _end(self.ledger, window, folder, self.ledger.since(window))

    async def _mark(self, ledger: Ledger, running: _Running, cwd: str, places: Sequence[str], why: str) -> None:
        if places and Effect.EXECUTE not in running.effects:
            window = running.window or ledger.begin(cwd, why)
            marks = [_mark_of(place) for place in places if os.path.isfile(place)]  # noqa: PTH113
            await asyncio.to_thread(ledger.end, window, marks)
            return
        window = running.window
        if not window and ledger.known(cwd):
            window = ledger.begin(cwd, why)
        if window:
            await asyncio.to_thread(_end, ledger, window, cwd, running.since, running.named)


def _end(ledger: Ledger, window: int, folder: str, since: int, named: Sequence[str] = ()) -> None:
    """Mark what changed in a folder since a moment, and beside it in what a command named."""
    marked = frozenset(one.path for one in ledger.folders() if not one.known)
    real = os.path.realpath(folder)
    found = [changed(real, since, marked)]
    files = list(found[0].files)
    for place in {os.path.realpath(one) for one in named}:
        if place.startswith(f"{real}/") or place == real or not ledger.known(place):
            continue
        if os.path.isdir(place):  # noqa: PTH112
            found.append(changed(place, since, marked))
            files += found[-1].files
        elif os.path.isfile(place) and os.stat(place).st_ctime_ns >= since:  # noqa: PTH113, PTH116
            files.append(_mark_of(place))
    files += [Mark(repository, "", 0) for one in found for repository in one.fetched]
    trees = [tree for one in found for tree in one.trees]
    ledger.end(window, files, trees, whole=all(one.whole for one in found))


def _mark_of(place: str) -> Mark:
    try:
        return Mark(place, digest_of(place), os.stat(place).st_size)  # noqa: PTH116
    except OSError:
        return Mark(place, "", 0)


def _command(call: ToolCall, workspace: Workspace) -> tuple[str, str]:
    """The text of a command, and the folder it runs in. All texts of the arguments where none is called so."""
    given = call.arguments
    command = given.get("command")
    texts = [command] if isinstance(command, str) else [value for value in given.values() if isinstance(value, str)]
    folder = next((v for k in ("workdir", "cwd") if isinstance(v := given.get(k), str) and v), "")
    start = workspace.shell_cwd or workspace.cwd
    return "\n".join(texts), os.path.normpath(os.path.join(start, os.path.expanduser(folder)))  # noqa: PTH111, PTH118


def _changed_at(place: str) -> int:
    try:
        return os.stat(place).st_ctime_ns  # noqa: PTH116
    except (OSError, ValueError):
        return 0


def _holds_outside(ledger: Ledger, place: str) -> bool:
    return ledger.outside(place) or (os.path.isdir(place) and ledger.holds(place))  # noqa: PTH112


def _was_fetched(ledger: Ledger, cwd: str) -> bool:
    real = Path(os.path.realpath(cwd))
    return any(ledger.outside(above / ".git") for above in (real, *real.parents) if (above / ".git").exists())


def _shows_outside(ledger: Ledger, place: str, result: ToolResult) -> bool:
    """Whether a result shows something from outside of a file, or of what is in a folder."""
    if ledger.outside(place):
        return True
    if not os.path.isdir(place):  # noqa: PTH112
        return False
    marks = ledger.marks_in(place)
    if marks is None:
        return True
    return any(mark.rpartition("/")[2] in _text(result) for mark in marks)


def _text(result: ToolResult) -> str:
    return "\n".join(part.text for part in result.parts if isinstance(part, Text))
