"""What a memory learns from finished turns, beside whatever comes next."""

import asyncio
import logging
from collections.abc import Sequence

from hermes_core.kinds import Memory
from hermes_core.store.outside import outside
from hermes_core.types import Message, Session

__all__ = ["Learning"]

log = logging.getLogger(__name__)
_SECONDS = 60.0  # a memory may look at one turn


class Learning:
    """The looks at turns that are under way."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, memory: Memory | None, session: Session, messages: Sequence[Message]) -> None:
        """Let a memory look at a turn. What a page says is not learned on its own word."""
        if memory is None or type(memory).learn is Memory.learn or outside(messages):
            return

        async def learn() -> None:
            try:
                async with asyncio.timeout(_SECONDS):
                    await memory.learn(session, messages)
            except Exception:  # what was not learned is not worth the person's time
                log.exception("the memory could not learn")

        task = asyncio.create_task(learn())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def end(self) -> None:
        """Wait for those under way."""
        if self._tasks:
            await asyncio.wait(self._tasks)
