"""The wire on standard input and output: a line a message. What is printed meanwhile goes to standard error.

Threads read and write, as either may wait for ever; neither holds up the end of the process.
"""

import asyncio
import os
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from queue import SimpleQueue
from typing import IO, Any

__all__ = ["opened"]

_LONGEST = 16_000_000  # bytes of one message
_PATIENCE = 1.0  # seconds until what was said must be written at the end


class _Wire:
    """Two file descriptors, read and written by a thread each."""

    def __init__(self, source: int, sink: int, into: Any) -> None:
        self.broken = asyncio.Event()  # nobody listens any more
        self._source, self._sink, self._into = os.dup(source), sink, into
        self._loop = asyncio.get_running_loop()
        self._lines = SimpleQueue[bytes | None]()
        self._wire = os.dup(sink)
        os.dup2(2, sink)
        self._threads = [threading.Thread(target=one, daemon=True) for one in (self._read, self._write)]
        for one in self._threads:
            one.start()

    def say(self, line: bytes) -> None:
        """Have a line written."""
        self._lines.put(line)

    async def close(self) -> None:
        """Write what was said, as far as somebody reads it, and put the descriptors back."""
        self._lines.put(None)
        await asyncio.to_thread(self._threads[1].join, _PATIENCE)
        os.dup2(self._wire, self._sink)

    def _read(self) -> None:
        with os.fdopen(self._source, "rb") as file, suppress(OSError, RuntimeError):
            while line := file.readline(_LONGEST + 1):
                taken = self._taken(file, line)
                if taken != b"":
                    asyncio.run_coroutine_threadsafe(_heard(self._into, taken), self._loop).result()
        with suppress(RuntimeError):  # the loop is over
            self._loop.call_soon_threadsafe(self._into.close)

    def _taken(self, file: IO[bytes], line: bytes) -> bytes | None:
        """Return a line, or None for one that is too long, whose rest is passed over."""
        if len(line) <= _LONGEST:
            return line.strip()
        while line and not line.endswith(b"\n"):
            line = file.readline(_LONGEST)
        return None

    def _write(self) -> None:
        while (line := self._lines.get()) is not None:
            left = memoryview(line)
            try:
                while left:
                    left = left[os.write(self._wire, left) :]
            except OSError:
                with suppress(RuntimeError):
                    self._loop.call_soon_threadsafe(self.broken.set)
                return


@asynccontextmanager
async def opened(source: int = 0, sink: int = 1) -> AsyncIterator[tuple[Any, Any]]:
    """Open two streams of messages over two file descriptors, which are put back afterwards."""
    import anyio

    into, heard = anyio.create_memory_object_stream[Any](0)
    said, out = anyio.create_memory_object_stream[Any](0)
    wire = _Wire(source, sink, into)

    async def tell() -> None:
        async for one in out:
            wire.say(one.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")

    async def end() -> None:
        await wire.broken.wait()
        into.close()

    try:
        async with anyio.create_task_group() as group:
            group.start_soon(tell)
            group.start_soon(end)
            yield heard, said
            group.cancel_scope.cancel()
    finally:
        await wire.close()
        for stream in (into, heard, said, out):
            stream.close()


async def _heard(into: Any, line: bytes | None) -> None:
    import anyio
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    message: Any = ValueError(f"a message has at most {_LONGEST:,} bytes")
    if line is not None:
        try:
            message = SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
        except ValueError as error:
            message = error
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        await into.send(message)
