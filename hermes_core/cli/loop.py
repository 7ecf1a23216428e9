"""The event loop of a command: what will not end keeps no command from ending."""

import asyncio
import concurrent.futures
import gc
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from hermes_core.plugins.fence import in_threads, keep_thread, log

__all__ = ["run_loop"]

T = TypeVar("T")
STARTED = 1.0  # seconds after which garbage is collected again: what starts is imported by then
_GRACE = 0.3  # seconds for what is left to put things down
_WRITES = 1.5  # seconds for threads of our own: one may be writing a file


class _Threads(concurrent.futures.ThreadPoolExecutor):
    """What may block works here. Of plugins it is known who began it, and at the end nobody waits for it."""

    def __init__(self) -> None:
        super().__init__(thread_name_prefix="hermes")
        self._ours = set[concurrent.futures.Future[Any]]()

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> concurrent.futures.Future[T]:
        work = super().submit(fn, *args, **kwargs)
        keep_thread(work)
        self._ours.add(work)
        work.add_done_callback(self._ours.discard)
        return work

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(wait=False, cancel_futures=cancel_futures)
        if wait:
            concurrent.futures.wait([work for work in list(self._ours) if work not in in_threads], _WRITES)


def run_loop(work: Coroutine[Any, Any, T]) -> T:
    """Run as ``asyncio.run`` does; a task that swallows its cancellation is left behind, and ends with the process."""
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        loop.set_default_executor(_Threads())
        # What nobody waited for: a person is told of it by who began it, or needs not know.
        loop.set_exception_handler(lambda _, told: log.error("%s", told["message"], exc_info=told.get("exception")))
        # What a start made stays: to look at it again and again would hold up turns.
        loop.call_later(STARTED, gc.freeze)
        loop.call_later(STARTED, gc.enable)
        try:
            return runner.run(work)
        finally:
            loop.run_until_complete(_end_all())


async def _end_all() -> None:
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    if left:
        await asyncio.wait(left, timeout=_GRACE)
    streams = asyncio.ensure_future(asyncio.get_running_loop().shutdown_asyncgens())
    await asyncio.wait({streams}, timeout=_GRACE)
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        asyncio._unregister_task(task)  # else the loop waits for it for ever
        task._log_destroy_pending = False  # type: ignore[attr-defined]  # its plugin was named when it was late
