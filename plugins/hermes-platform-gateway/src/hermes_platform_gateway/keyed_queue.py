"""Work in order for each name, side by side for different ones."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable

__all__ = ["KeyedQueue"]

log = logging.getLogger(f"hermes.{__name__}")


class KeyedQueue:
    """What is put under one name is done one after another. A name without work costs nothing."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[Callable[[], Awaitable[None]]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def put(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """Do it after what waits under the name. What it raises is logged."""
        if name in self._waiting:
            self._waiting[name].append(work)
            return
        self._waiting[name] = deque([work])
        self._keep(asyncio.create_task(self._run(name)))

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

    def _keep(self, task: "asyncio.Task[None]") -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, name: str) -> None:
        waiting = self._waiting[name]
        try:
            while waiting:
                await _logged(waiting[0])
                waiting.popleft()
        finally:
            del self._waiting[name]


async def _logged(work: Callable[[], Awaitable[None]]) -> None:
    try:
        await work()
    except Exception:
        log.exception("work of the gateway broke")
