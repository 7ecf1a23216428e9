"""The turns that wait in this process: who plays next, and how many side by side."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName
from hermes_core.kinds import TurnQueue

__all__ = ["LocalQueue", "open_queue"]

log = logging.getLogger(f"hermes.{__name__}")


class LocalQueue(TurnQueue):
    """Sessions in the order in which something came, for the one ``work`` of this process.

    One that is put while it plays is played again, behind those that wait by then. Nothing is lost with the process:
    what waits is in the store, and is put again at the next start.
    """

    name = "local"

    def __init__(self) -> None:
        self._ready: dict[str, None] = {}  # a set that keeps its order
        self._playing: set[str] = set()
        self._again: set[str] = set()
        self._changed = asyncio.Event()
        self._resting = False

    async def put(self, session_id: str) -> None:
        """Something waits in this session. Returns at once."""
        if session_id in self._playing:
            self._again.add(session_id)
        else:
            self._ready.setdefault(session_id)
        self._changed.set()

    async def work(self, play: Callable[[str], Awaitable[None]], workers: int) -> None:
        """Play sessions until cancelled. One whose ``play`` fails is logged, and its failure stops no other."""
        self._resting = False
        async with asyncio.TaskGroup() as tasks:
            while True:
                while self._ready and not self._resting and len(self._playing) < workers:
                    session_id = next(iter(self._ready))
                    del self._ready[session_id]
                    self._playing.add(session_id)
                    task = tasks.create_task(self._play(play, session_id))
                    task.add_done_callback(partial(self._played, session_id))  # also when it never began
                self._changed.clear()
                await self._changed.wait()

    def rest(self) -> None:
        """Take no more; what is put from now on waits for the next ``work``."""
        self._resting = True

    async def _play(self, play: Callable[[str], Awaitable[None]], session_id: str) -> None:
        try:
            await play(session_id)
        except Exception:
            log.exception("session %s could not be played; it is looked at again later", session_id)

    def _played(self, session_id: str, _task: "asyncio.Task[None]") -> None:
        self._playing.discard(session_id)
        if session_id in self._again:
            self._again.discard(session_id)
            self._ready.setdefault(session_id)
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
