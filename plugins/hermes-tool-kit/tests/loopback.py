"""A web server on loopback that answers with the bytes it is told, well-behaved or not."""

import asyncio
from collections.abc import Callable

Page = bytes | Callable[[asyncio.StreamReader, asyncio.StreamWriter], object]


def page(body: bytes = b"", *, status: int = 200, length: int | None = None, **headers: str) -> bytes:
    """An answer; header names are written with underscores. ``length`` is what it claims, -1 for nothing."""
    lines = [f"HTTP/1.1 {status} X"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    if length != -1:
        lines.append(f"Content-Length: {len(body) if length is None else length}")
    return "\r\n".join([*lines, "", ""]).encode() + body


class Loopback:
    """Serves ``pages`` by path and keeps the requests it got."""

    def __init__(self, tls=None) -> None:
        self.pages: dict[str, Page] = {}
        self.requests: list[str] = []
        self._tls = tls

    async def __aenter__(self):
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *error):
        self._server.close()

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"{'https' if self._tls else 'http'}://{host}:{self.port}{path}"

    async def _serve(self, reader, writer):
        try:
            request = (await reader.readuntil(b"\r\n\r\n")).decode()
            self.requests.append(request)
            answer = self.pages.get(request.split(" ")[1], page(b"not here", status=404))
            if callable(answer):
                await answer(reader, writer)
            else:
                writer.write(answer)
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
