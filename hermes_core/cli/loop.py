"""The event loop of a command: what will not end keeps no command from ending."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

__all__ = ["run_loop"]

T = TypeVar("T")
_GRACE = 0.3  # seconds for what is left to put things down


def run_loop(work: Coroutine[Any, Any, T]) -> T:
    """The same as ``asyncio.run``; a task that swallows its cancellation is left behind, and ends with the process."""
    with asyncio.Runner() as runner:
        try:
            return runner.run(work)
        finally:
            runner.get_loop().run_until_complete(_end_all())


async def _end_all() -> None:
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    _, left = await asyncio.wait(left, timeout=_GRACE) if left else (left, left)
    for task in left:
        asyncio._unregister_task(task)  # else the loop waits for it for ever
        task._log_destroy_pending = False  # type: ignore[attr-defined]  # its plugin was named when it was late
