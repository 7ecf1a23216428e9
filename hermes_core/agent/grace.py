"""Ending work that may not want to end: it is asked once, waited for a moment, and then left to itself."""

import asyncio
from typing import Any

__all__ = ["stop"]


async def stop(task: "asyncio.Task[Any]", seconds: float) -> bool:
    """Cancel a task and wait for its end. False: it still runs after ``seconds``, and nobody waits for it any more."""
    task.cancel()
    task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # nobody else will look at it
    await asyncio.wait({task}, timeout=seconds)
    return task.done()
