"""A call that is worked on beside the requests of its client: what it wants to know meanwhile, and how it ended."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from uuid import uuid4

from hermes_core.types import Principal

__all__ = ["Ongoing"]

_PATIENCE = 300.0  # seconds that a question waits for its answer


class Ongoing:
    """Work of ``owner`` that has begun. It is given this, to ask with.

    ``name`` is what its client calls it; nobody can guess that.
    """

    def __init__(self, owner: Principal, work: Callable[["Ongoing"], Awaitable[Any]], name: str = "") -> None:
        self.owner, self.name = owner, name or uuid4().hex
        self.open: dict[str, Any] = {}  # what it waits for an answer to
        self.told: Callable[[], None] = lambda: None  # that this is something else now
        self._answers: dict[str, asyncio.Future[Any]] = {}
        self._asked = asyncio.Event()
        self.task: asyncio.Task[Any] = asyncio.ensure_future(work(self))

    async def ask(self, key: str, request: Any) -> Any:
        """Wait for the answer to a request; None where nobody gives one in time. Each key is used once."""
        self.open[key], self._answers[key] = request, asyncio.get_running_loop().create_future()
        self._asked.set()
        self.told()
        try:
            done, _ = await asyncio.wait([self._answers[key]], timeout=_PATIENCE)
            return self._answers[key].result() if done else None
        finally:
            self._close(key)

    def answer(self, given: object) -> None:
        """Take answers by their keys. What nobody asked, or somebody has answered, is passed over."""
        self._asked.clear()
        for key, one in given.items() if isinstance(given, Mapping) else ():
            waiting = self._answers.get(key)
            if waiting is not None and not waiting.done():
                waiting.set_result(one)
                self._close(key)

    def _close(self, key: str) -> None:
        if self.open.pop(key, None) is not None:
            self.told()

    async def step(self, seconds: float | None = None) -> None:
        """Wait until it has ended, or asks, but no longer than so. Whoever leaves meanwhile interrupts it."""
        asked = asyncio.ensure_future(self._asked.wait())
        try:
            await asyncio.wait({asked, self.task}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self.task.cancel()
            raise
        finally:
            asked.cancel()
