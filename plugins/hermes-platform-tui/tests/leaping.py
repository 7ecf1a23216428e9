"""An event loop whose clock leaps over the time in which nothing would happen.

A screen is full of short waits: Textual's own for an idle processor after every key, animations, timers. Here they cost
nothing, and what comes of them does not depend on how busy the machine is: all that is ready runs before the clock goes
on, however long that takes.
"""

import asyncio
import selectors
import time
from collections.abc import Callable
from typing import Any


class Leaping(asyncio.SelectorEventLoop):
    """Only waiting takes time; for a thread, a process or a socket it takes as much as everywhere."""

    def __init__(self) -> None:
        self._now = time.monotonic()
        self._threads = 0
        self._processes: list[asyncio.SubprocessTransport] = []
        super().__init__(_Selector(self))

    def time(self) -> float:
        return self._now

    def wait(self, seconds: float) -> None:
        self._now += seconds

    @property
    def alone(self) -> bool:
        """Whether nobody outside of the loop can bring anything: it listens to nothing but its own bell."""
        self._processes = [process for process in self._processes if process.get_returncode() is None]
        return not (self._threads or self._processes) and len(self._selector.get_map()) == 1  # type: ignore[attr-defined]

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> Any:
        self._threads += 1
        future = super().run_in_executor(executor, func, *args)
        future.add_done_callback(self._returned)
        return future

    def _returned(self, _: object) -> None:
        self._threads -= 1

    async def shutdown_default_executor(self, *args: Any) -> None:
        self._threads += 1
        await super().shutdown_default_executor(*args)
        self._threads -= 1

    async def subprocess_exec(self, *args: Any, **options: Any) -> Any:
        self._threads += 1  # until it is seen as a process
        try:
            transport, protocol = await super().subprocess_exec(*args, **options)
        finally:
            self._threads -= 1
        self._processes.append(transport)
        return transport, protocol


class _Selector(selectors.DefaultSelector):
    def __init__(self, loop: Leaping) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        if timeout is not None and timeout <= 0:
            return super().select(0)
        if timeout is not None and self._loop.alone:
            if not (found := super().select(0)):
                self._loop.wait(timeout)
            return found
        began = time.monotonic()
        found = super().select(timeout)
        self._loop.wait(time.monotonic() - began)
        return found


def now() -> float:
    """The time of the running loop; without one, that of the machine."""
    try:
        return asyncio.get_running_loop().time()
    except RuntimeError:
        return time.monotonic()
