"""The pipes of a process in a workspace, as one side of a connection has them."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from hermes_acp_wire.peer import LARGEST
from hermes_core.errors import ToolError

if TYPE_CHECKING:
    from hermes_core.kinds import Process

__all__ = ["Pipes"]

_LOOK = 0.2  # seconds between two looks at whether it still runs


class Pipes:
    """What a process writes is fed to ``reader``; what is written here goes to its input, in order."""

    def __init__(self) -> None:
        self.reader = asyncio.StreamReader(limit=LARGEST)
        self.transport = self
        self._waiting: asyncio.Queue[bytes] = asyncio.Queue()
        self._held = 0
        self._closed = False
        self._tasks: list[asyncio.Task[None]] = []

    def take(self, data: bytes) -> None:
        """Take what the process wrote."""
        if not self._closed:
            self.reader.feed_data(data)

    def run(self, process: "Process", ended: Callable[[int | None], None]) -> None:
        """Begin to carry what is written, and to look whether the process ends."""
        self._tasks = [asyncio.create_task(self._carry(process)), asyncio.create_task(self._look(process, ended))]

    async def _carry(self, process: "Process") -> None:
        while True:
            data = await self._waiting.get()
            try:
                await process.write(data)
            except (ToolError, OSError):
                self.over()
                return
            self._held -= len(data)

    async def _look(self, process: "Process", ended: Callable[[int | None], None]) -> None:
        while (status := await process.poll()) is None:  # noqa: ASYNC110 - a process tells nobody that it ends
            await asyncio.sleep(_LOOK)
        ended(status)
        self.over()

    def over(self) -> None:
        """Say that nothing more comes."""
        if not self._closed:
            self._closed = True
            with suppress(AssertionError):
                self.reader.feed_eof()

    # --- as asyncio.StreamWriter ------------------------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        """Have something written."""
        self._held += len(data)
        self._waiting.put_nowait(data)

    def get_write_buffer_size(self) -> int:
        """Return how much waits."""
        return self._held

    def is_closing(self) -> bool:
        """Tell whether nothing is carried any more."""
        return self._closed

    async def drain(self) -> None:
        """Wait until what was written is carried."""
        while self._held > LARGEST // 64 and not self._closed:  # noqa: ASYNC110 - the process reads, or does not
            await asyncio.sleep(0.01)

    def close(self) -> None:
        """Carry nothing any more."""
        self.over()
        for task in self._tasks:
            task.cancel()
