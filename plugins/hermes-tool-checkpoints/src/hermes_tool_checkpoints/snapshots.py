"""The gate: one snapshot before the first change of a turn, and never a call that is lost to a slow disk."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.kinds import Workspace
from hermes_core.types import Feature, Session, Text, ToolCall, ToolResult, Verdict
from hermes_core.values import define
from hermes_paths.unsaved import forget, note_unsaved
from hermes_tool_checkpoints.config import Config
from hermes_tool_checkpoints.contents import TooMuch
from hermes_tool_checkpoints.git import Job
from hermes_tool_checkpoints.notes import Notes
from hermes_tool_checkpoints.prune import tidy
from hermes_tool_checkpoints.store import About, Store

_WARM = 60.0  # seconds a snapshot that came too late may go on reading, so that the next one is quick
_AGAIN = 600.0  # seconds after which a folder that failed is tried again
_TIDY = 60.0
_AT_THE_END = 1.0  # seconds a session waits for the tidying it began; less than the kernel waits for an observer


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


@define(eq=False)
class _Reading:
    """Work that a session began and does not wait for."""

    session: str
    job: Job
    task: "asyncio.Task[None]"


class Snapshots:
    """Takes snapshots for the sessions of one kernel."""

    def __init__(self, store: Store, notes: Notes, log: logging.Logger) -> None:
        self.store, self.notes = store, notes
        self._config, self._log = store.config, log
        self._tries: dict[str, _Try] = {}
        self._failed: dict[Path, tuple[float, str]] = {}
        self._reading: dict[Path, _Reading] = {}
        self._told: set[tuple[str, str]] = set()
        self._notes: dict[str, str] = {}

    async def before(self, session: Session, call: ToolCall, workspace: Workspace) -> Verdict | None:
        """Called before every call that may change files. None lets it go on, whether there is a snapshot or not."""
        if Feature.LOCAL not in workspace.features:
            return None
        reason = (await self._snapshot(session, call, workspace.cwd)).rstrip(".")
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
        """Stop what still works for a session, and let it end. What others began goes on."""
        if last := self._tries.pop(session.id, None):
            forget(self.store.home, last.turn)
        self._told = {(told, reason) for told, reason in self._told if told != session.id}
        own = [(place, work) for place, work in self._reading.items() if work.session == session.id]
        for place, work in own:
            if place == self.store.root:
                await asyncio.wait([work.task], timeout=_AT_THE_END)
            work.job.stop()
            await asyncio.wait([work.task])

    async def _snapshot(self, session: Session, call: ToolCall, cwd: str) -> str:
        """Why there is no snapshot for the turn; empty when there is one."""
        current = self._tries.get(session.id)
        if current is None or not session.turn or current.turn != session.turn or str(current.folder) != cwd:
            about = About(session=session.id, turn=session.turn, tool=call.name, backend=session.backend)
            job = Job(_WARM)
            task = asyncio.create_task(self._noted(session.turn, self._try(cwd, about, job)))
            if current:
                forget(self.store.home, current.turn)
            current = self._tries[session.id] = _Try(session.turn, Path(cwd), job, task)
        return await asyncio.shield(current.task)

    async def _noted(self, turn: str, trying: Coroutine[None, None, str]) -> str:
        """Let others know that a turn has no snapshot: what it deletes is lost."""
        if (reason := await trying) and turn:
            note_unsaved(self.store.home, turn, reason.rstrip("."))
        return reason

    async def _try(self, cwd: str, about: About, job: Job) -> str:
        try:
            folder = await asyncio.to_thread(self.store.checked, cwd)
            refused = await asyncio.to_thread(self.store.refused, folder)
        except HermesError as error:
            return error.text
        since, reason = self._failed.get(folder, (0.0, ""))
        if reason and time.monotonic() - since < _AGAIN:
            return reason
        if folder in self._reading:
            return "the folder is still being read for the first time"
        if refused:
            return refused
        claim = _Claim()
        outcome: list[str] = []

        def work() -> None:
            try:
                self.store.take(folder, about, job, lambda: claim.decide(kept=True))
                self.store.forgive(folder)
            except TooMuch as error:
                outcome.append(error.text)
                self.store.refuse(folder, error.text)
            except HermesError as error:
                outcome.append(error.text)
            else:
                outcome.append("")

        task = self._begin(folder, about.session, job, work)
        await asyncio.wait([task], timeout=self._config.wait_seconds)
        if not task.done() and (slow := await self._late(folder, claim, task)):
            return slow
        reason = outcome[0] if outcome else "it took too long"
        if reason and not job.stopped:
            self._failed[folder] = (time.monotonic(), reason)
        elif not reason and self.store.root not in self._reading:
            tidying = Job(_TIDY)
            self._begin(self.store.root, about.session, tidying, lambda: tidy(self.store, tidying))
        return reason

    async def _late(self, folder: Path, claim: _Claim, task: "asyncio.Task[None]") -> str:
        """Give a snapshot up whose time is over, unless all is read and only the snapshot itself is being written."""
        slow = f"it took longer than {self._config.wait_seconds:g} s"
        with suppress(HermesError):  # before it is decided: what is read to its end afterwards is forgiven
            await asyncio.to_thread(self.store.refuse, folder, slow)
        if not claim.decide(kept=False):
            return slow  # it reads on, so that the next one is quick
        await asyncio.wait([task], timeout=1.0)
        self.store.forgive(folder)
        return ""

    def _begin(self, place: Path, session: str, job: Job, work: Callable[[], None]) -> "asyncio.Task[None]":
        task = asyncio.create_task(asyncio.to_thread(work))
        self._reading[place] = _Reading(session, job, task)
        task.add_done_callback(lambda _: self._reading.pop(place, None))
        return task


def make_snapshots(ctx: PluginContext) -> Snapshots:
    """The snapshots of a new kernel."""
    store = Store(ctx.paths.data, ctx.config or Config(), closed=ctx.paths.home)
    return Snapshots(store, Notes(ctx.paths.data / "notes"), ctx.log)
