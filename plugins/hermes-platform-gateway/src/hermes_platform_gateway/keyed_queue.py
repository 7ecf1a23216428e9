"""Work in order for each name, side by side for different ones."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable

from attrs import Factory

from hermes_core.values import define

__all__ = ["KeyedQueue"]

log = logging.getLogger(f"hermes.{__name__}")


@define
class _Lane:
    """What waits under one name, and how many tasks do it."""

    waiting: deque[Callable[[], Awaitable[None]]] = Factory(deque)
    tasks: int = 0


class KeyedQueue:
    """What is put under one name is done one after another. A name without work costs nothing."""

    def __init__(self) -> None:
        self._lanes: dict[str, _Lane] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def put(self, name: str, work: Callable[[], Awaitable[None]], *, beside: int = 1) -> None:
        """Do it after what waits under the name, so much of it ``beside`` each other. What it raises is logged."""
        lane = self._lanes.setdefault(name, _Lane())
        lane.waiting.append(work)
        if lane.tasks < beside:
            lane.tasks += 1
            self._keep(asyncio.create_task(self._run(name, lane)))

    def beside(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do it now, whatever waits."""
        self._keep(asyncio.create_task(_logged(work)))

    async def settle(self) -> None:
        """Wait until everything is done."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def close(self) -> None:
        """Stop what runs and give up what waits."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._lanes.clear()  # of a task that never began, too

    def _keep(self, task: "asyncio.Task[None]") -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, name: str, lane: _Lane) -> None:
        try:
            while lane.waiting:
                await _logged(lane.waiting.popleft())
        finally:
            lane.tasks -= 1
            if not lane.tasks:
                self._lanes.pop(name, None)


async def _logged(work: Callable[[], Awaitable[None]]) -> None:
    try:
        await work()
    except Exception:
        log.exception("work of the gateway broke")
