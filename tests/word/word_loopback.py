"""Whoever answers on loopback from a thread of its own, as long as a test wants it."""

import asyncio
import threading
from typing import Self


class Loopback:
    """Answers connections at ``port`` by ``connected``."""

    def __init__(self) -> None:
        self.port, self._ready, self._loop = 0, threading.Event(), asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *exception: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection."""

    def _serve(self) -> None:
        server = self._loop.run_until_complete(asyncio.start_server(self.connected, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))
