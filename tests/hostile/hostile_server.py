"""A server of this machine that sends the bytes it is told to, and judges every request as a strict provider would."""

import asyncio
from collections import deque
from collections.abc import Sequence

from attrs import define, field
from hostile_dialects import problems

STALL = b"<stall>"  # in a piece list: say nothing more until the other side leaves


@define
class Server:
    """``script`` holds the answers still to be given, each a list of pieces; after those comes ``good``."""

    url: str = ""
    good: Sequence[bytes] = ()
    script: deque[Sequence[bytes]] = field(factory=deque)
    found: list[str] = field(factory=list)
    asked: int = 0
    busy: set["asyncio.Task[None]"] = field(factory=set)

    async def start(self) -> "asyncio.Server":
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0, limit=2**26)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        return server

    async def close(self) -> None:
        """End every connection."""
        for task in self.busy:
            task.cancel()
        await asyncio.gather(*self.busy, return_exceptions=True)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self.busy.add(task)
        task.add_done_callback(self.busy.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.strip().split("\r\n")
        headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
        raw = await reader.readexactly(int(headers.get("content-length", 0)))
        method, path, _ = first.split(" ")
        if method == "GET":  # a list of models, asked for to explain an unknown one
            writer.write(http(b'{"data": [{"id": "m"}]}', "application/json"))
            await writer.drain()
            return True
        self.asked += 1
        self.found += problems(path, raw)
        pieces = self.script.popleft() if self.script else self.good
        for piece in pieces:
            if piece is STALL:
                await reader.read()
                return False
            writer.write(piece)
            await writer.drain()
            if len(pieces) > 1:
                await asyncio.sleep(0)
        return pieces is self.good


def http(body: bytes, kind: str = "text/event-stream", status: str = "200 OK", **headers: str) -> bytes:
    """A whole HTTP reply, by the book."""
    lines = [f"HTTP/1.1 {status}", f"content-type: {kind}", f"content-length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body
