"""The gate: one snapshot before the first change of a turn, and never a call that is lost to a slow disk."""

import asyncio
import logging
import threading
import time
from pathlib import Path
from weakref import WeakKeyDictionary

from attrs import define, evolve

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.kinds import Workspace
from hermes_core.types import Effect, Feature, Session, Text, ToolCall, ToolResult, Verdict
from hermes_tool_checkpoints.config import Config
from hermes_tool_checkpoints.git import Job
from hermes_tool_checkpoints.notes import Notes
from hermes_tool_checkpoints.prune import tidy
from hermes_tool_checkpoints.store import About, Store

CHANGING = frozenset({Effect.WRITE_FILES, Effect.EXECUTE})
_WARM = 60.0  # seconds a snapshot that came too late may go on reading, so that the next one is quick
_AGAIN = 600.0  # seconds after which a folder that failed is tried again
_TIDY = 60.0


class _Claim:
    """Whether a snapshot is kept: decided once, by whoever comes first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._decided: bool | None = None

    def decide(self, kept: bool) -> bool:
        """Decide, unless it was; what was decided."""
        with self._lock:
            if self._decided is None:
                self._decided = kept
            return self._decided


@define(eq=False)
class _Try:
    """A snapshot under way. ``reason`` says why there is none."""

    turn: str
    folder: Path
    job: Job
    task: "asyncio.Task[str]"


class Keeper:
    """Takes snapshots for the sessions of one kernel."""

    def __init__(self, store: Store, notes: Notes, log: logging.Logger) -> None:
        self.store, self.notes = store, notes
        self._config, self._log = store.config, log
        self._tries: dict[str, _Try] = {}
        self._failed: dict[Path, tuple[float, str]] = {}
        self._reading: dict[Path, tuple[asyncio.Task[None], Job]] = {}
        self._told: set[tuple[str, str]] = set()
        self._notes: dict[str, str] = {}

    async def before(
        self, session: Session, call: ToolCall, effects: frozenset[Effect], workspace: Workspace
    ) -> Verdict | None:
        """Called before every call. None lets it go on its way, whether there is a snapshot or not."""
        if not self._config.enabled or not effects & CHANGING or Feature.LOCAL not in workspace.features:
            return None
        reason = await self._snapshot(session, call, workspace.cwd)
        if not reason or (session.id, reason) in self._told:
            return None
        self._told.add((session.id, reason))
        self._log.warning("no snapshot of %s: %s", workspace.cwd, reason)
        if self._config.on_failure == "ask":
            return Verdict(outcome="ask", reason=f"changes files that /rollback cannot bring back ({reason})")
        self._notes[call.id] = f"No snapshot was taken before this call ({reason}); /rollback cannot undo it."
        return None

    def noted(self, call: ToolCall, result: ToolResult) -> ToolResult | None:
        """The result of a call with what has to be said about its snapshot."""
        note = self._notes.pop(call.id, "")
        return evolve(result, parts=(*result.parts, Text(text=note))) if note else None

    async def end(self, session: Session) -> None:
        """Stop what still reads for a session, and let it end."""
        self._tries.pop(session.id, None)
        for task, job in list(self._reading.values()):
            job.stop()
            await asyncio.wait([task])

    async def _snapshot(self, session: Session, call: ToolCall, cwd: str) -> str:
        """Why there is no snapshot for the turn; empty when there is one."""
        current = self._tries.get(session.id)
        if current is None or not session.turn or current.turn != session.turn or str(current.folder) != cwd:
            about = About(session=session.id, turn=session.turn, tool=call.name, backend=session.backend)
            job = Job(_WARM)
            task = asyncio.create_task(self._try(cwd, about, job))
            current = self._tries[session.id] = _Try(session.turn, Path(cwd), job, task)
        return await asyncio.shield(current.task)

    async def _try(self, cwd: str, about: About, job: Job) -> str:
        try:
            folder = await asyncio.to_thread(self.store.checked, cwd)
        except HermesError as error:
            return error.text
        since, reason = self._failed.get(folder, (0.0, ""))
        if reason and time.monotonic() - since < _AGAIN:
            return reason
        if folder in self._reading:
            return "the folder is still being read for the first time"
        claim = _Claim()
        outcome: list[str] = []

        def work() -> None:
            try:
                self.store.take(folder, about, job, lambda: claim.decide(kept=True))
            except HermesError as error:
                outcome.append(error.text)
            else:
                outcome.append("")

        task = asyncio.create_task(asyncio.to_thread(work))
        self._reading[folder] = (task, job)
        task.add_done_callback(lambda _: self._reading.pop(folder, None))
        await asyncio.wait([task], timeout=self._config.wait_seconds)
        if not task.done():
            if not claim.decide(kept=False):  # it reads on, so that the next one is quick
                return f"it took longer than {self._config.wait_seconds:g} s"
            await asyncio.wait([task], timeout=1.0)  # all is read; only the snapshot itself is being written
        reason = outcome[0] if outcome else "it took too long"
        if reason:
            self._failed[folder] = (time.monotonic(), reason)
        else:
            self._tidy(folder)
        return reason

    def _tidy(self, folder: Path) -> None:
        if folder in self._reading:
            return
        job = Job(_TIDY)
        task = asyncio.create_task(asyncio.to_thread(tidy, self.store, job))
        key = self.store.root
        self._reading[key] = (task, job)
        task.add_done_callback(lambda _: self._reading.pop(key, None))


_KEEPERS: "WeakKeyDictionary[PluginContext, Keeper]" = WeakKeyDictionary()


def keeper_of(ctx: PluginContext) -> Keeper:
    """The keeper of a kernel, one and the same for all its hooks and commands."""
    if ctx not in _KEEPERS:
        store = Store(ctx.paths.data, ctx.config or Config(), closed=ctx.paths.home)
        _KEEPERS[ctx] = Keeper(store, Notes(ctx.paths.data / "notes"), ctx.log)
    return _KEEPERS[ctx]
