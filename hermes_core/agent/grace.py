"""Ending work that may not want to end: it is asked once, waited for a moment, and then left to itself.

Nor may it end what it is a part of.
"""

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

__all__ = ["contained", "stop"]

T = TypeVar("T")


async def contained(work: Awaitable[T]) -> T:
    """Do work that may want to end this process, with all else that is at work in it: a RuntimeError then."""
    try:
        return await work
    except SystemExit as error:
        raise RuntimeError(f"it called sys.exit({error.code})") from None


async def stop(task: "asyncio.Task[Any]", seconds: float) -> bool:
    """Cancel a task and wait for its end. False: it still runs after ``seconds``, and nobody waits for it any more."""
    task.cancel()
    task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # nobody else will look at it
    await asyncio.wait({task}, timeout=seconds)
    return task.done()
