"""The turns that wait in this process: whose is next, and how many play side by side."""

import asyncio
import itertools
import logging
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName
from hermes_core.kinds import TurnQueue

__all__ = ["LocalQueue", "open_queue"]

log = logging.getLogger(f"hermes.{__name__}")


class LocalQueue(TurnQueue):
    """Sessions by person, for the one ``work`` of this process: who has the fewest that play comes first.

    Among those it is who waits longest; what waits for one person keeps its order. One that is put while it plays is
    played again, behind those that wait by then. Nothing is lost with the process: what waits is in the store, and is
    put again at the next start.
    """

    name = "local"

    def __init__(self) -> None:
        self._ready: dict[str, dict[str, int]] = {}  # by person: sessions in order, and when each came
        self._whose: dict[str, str] = {}  # of those that wait
        self._playing: dict[str, str] = {}  # session: person
        self._again: dict[str, str] = {}
        self._plays: Counter[str] = Counter()
        self._number = itertools.count()
        self._changed = asyncio.Event()
        self._resting = False

    async def put(self, session_id: str, person: str = "") -> None:
        """Something waits in this session. Returns at once."""
        if session_id in self._playing:
            self._again.setdefault(session_id, person)
        else:
            self._wait(session_id, person)
        self._changed.set()

    async def work(self, play: Callable[[str], Awaitable[None]], workers: int, most: Callable[[str], int]) -> None:
        """Play sessions until cancelled. One whose ``play`` fails is logged, and its failure stops no other."""
        self._resting = False
        async with asyncio.TaskGroup() as tasks:
            while True:
                while not self._resting and len(self._playing) < workers and (session_id := self._next(most)):
                    task = tasks.create_task(self._play(play, session_id))
                    task.add_done_callback(partial(self._played, session_id))  # also when it never began
                self._changed.clear()
                await self._changed.wait()

    def holds(self, session_id: str) -> bool:
        """Whether a session waits here, or is put back when its play has ended."""
        return session_id in self._whose or session_id in self._again

    def rest(self) -> None:
        """Take no more; what is put from now on waits for the next ``work``."""
        self._resting = True

    def _wait(self, session_id: str, person: str) -> None:
        if session_id not in self._whose:
            self._whose[session_id] = person
            self._ready.setdefault(person, {})[session_id] = next(self._number)

    def _next(self, most: Callable[[str], int]) -> str:
        """The session that is to play now, which plays from here on; empty: none may."""
        free = [person for person in self._ready if self._plays[person] < most(person)]
        if not free:
            return ""
        person = min(free, key=lambda one: (self._plays[one], next(iter(self._ready[one].values()))))
        waiting = self._ready[person]
        session_id = next(iter(waiting))
        del waiting[session_id], self._whose[session_id]
        if not waiting:
            del self._ready[person]
        self._playing[session_id] = person
        self._plays[person] += 1
        return session_id

    async def _play(self, play: Callable[[str], Awaitable[None]], session_id: str) -> None:
        try:
            await play(session_id)
        except Exception:
            log.exception("session %s could not be played; it is looked at again later", session_id)

    def _played(self, session_id: str, _task: "asyncio.Task[None]") -> None:
        person = self._playing.pop(session_id)
        self._plays[person] -= 1
        if not self._plays[person]:
            del self._plays[person]
        if session_id in self._again:
            self._wait(session_id, self._again.pop(session_id))
        self._changed.set()


def open_queue(ctx: PluginContext) -> TurnQueue:
    """The queue that ``workers.queue`` names, for this process. Raises UnknownName when no plugin has it."""
    name = ctx.host.section("workers").queue
    if name == LocalQueue.name:
        return LocalQueue()
    found, _ = ctx.host.contributed("queues", [name])
    if name not in found:
        hint = f"pip install hermes-backend-{name}, or set workers.queue."
        raise UnknownName("turn queue", name, [LocalQueue.name, *ctx.plugins.offered("queues")], hint=hint)
    queue: TurnQueue = found[name]
    return queue
