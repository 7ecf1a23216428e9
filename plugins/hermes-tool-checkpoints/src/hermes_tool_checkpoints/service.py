"""Keeping the snapshots small while a gateway runs: nobody has to take one for the old ones to go."""

import asyncio
import time
from collections.abc import Callable

from hermes_core.errors import HermesError
from hermes_core.kinds import Service
from hermes_core.types import Check, Finding
from hermes_tool_checkpoints.git import GitFailed, Job
from hermes_tool_checkpoints.prune import Tidied, due, prune, size, tidied
from hermes_tool_checkpoints.store import Store

__all__ = ["Tidying", "last_tidying"]

_LOOK = 600.0  # seconds between two looks at whether there is something to do
_LONGEST = 600.0  # seconds that one tidying may take
_LATE = 3  # intervals without a tidying from which doctor says so
_MB = 1_000_000


class Tidying(Service):
    """Drops snapshots that are too old, too many or too large: once an interval, and when the store grew too large.

    The folder is this machine's, so it runs once on each; with commands, and sessions that tidy up after a snapshot, it
    shares a lock that a death lets go of. What a death cuts off is done by the next one.
    """

    name = "checkpoints"
    local = True

    def __init__(self, store: Callable[[], Store]) -> None:
        self._store = store
        self._wrong = ""

    async def run(self) -> None:
        """Look whether there is something to do, and do it, until cancelled."""
        while True:
            if (store := self._store()).config.auto_prune:
                job = Job(_LONGEST)
                tidying = asyncio.ensure_future(asyncio.to_thread(self._tidy, store, job))
                try:
                    await asyncio.shield(tidying)
                except asyncio.CancelledError:
                    job.stop()
                    await asyncio.wait({tidying})
                    raise
            await asyncio.sleep(_LOOK)

    def health(self) -> str:
        """Why the last tidying came to nothing."""
        return self._wrong

    async def status(self) -> str:
        """When the last tidying was, in whichever process, and what it freed."""
        store = self._store()
        return _told(tidied(store), await asyncio.to_thread(size, store))

    def _tidy(self, store: Store, job: Job) -> None:
        try:
            if due(store) or size(store) > store.config.max_total_size_mb * _MB:
                prune(store, job, wait=False)
        except GitFailed as error:
            self._wrong = "" if job.stopped or error.busy else f"The snapshots were not tidied up: {error.text}"
        except HermesError as error:
            self._wrong = f"The snapshots were not tidied up: {error.text}"
        else:
            self._wrong = ""


def last_tidying(store: Callable[[], Store]) -> Check:
    """What ``hermes doctor --deep`` is told of the last tidying."""

    async def run() -> list[Finding]:
        there = store()
        if not (there.repository / "hermes-ready").exists():
            return [Finding(level="ok", text="there are no snapshots yet")]
        last, config = tidied(there), there.config
        told = _told(last, await asyncio.to_thread(size, there))
        if config.auto_prune and time.time() - last.when > _LATE * config.min_interval_hours * 3600 and last.when:
            return [Finding(level="warning", text=f"snapshots: {told}", fix="hermes checkpoints prune")]
        return [Finding(level="ok", text=f"snapshots: {told}")]

    return Check(name="checkpoints", run=run)


def _told(last: Tidied, now: int) -> str:
    if not last.when:
        return f"never tidied up; {now / _MB:.1f} MB"
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(last.when))
    dropped = f"{last.dropped} snapshot{'' if last.dropped == 1 else 's'} dropped"
    return f"tidied up {when}, {dropped}, {max(0, last.freed) / _MB:.1f} MB freed; {now / _MB:.1f} MB now"
