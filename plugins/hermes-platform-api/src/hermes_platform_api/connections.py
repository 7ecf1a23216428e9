"""What a connection may take: a head and a body that come in time and have an end, and a place among so many others."""

import asyncio
import resource
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["bounded", "most_connections"]

_HEAD = 65_536  # bytes of a request's first line and headers
_HEAD_SECONDS = 10.0  # from the connection, or from the first byte of a further request
_SILENCE_SECONDS = 10.0  # between two pieces of a body
_SLOWEST = 8_192  # bytes a second of a body, on average; a phone on a bad line has more
_RESERVED = 0.5  # of the descriptors a process may have, what is kept for files, models and commands
_LATE = b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
_FULL = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 5\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


def most_connections(wanted: int) -> int:
    """How many connections may be open at once: as many as wanted, if the system lets this process have them."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return wanted if soft == resource.RLIM_INFINITY else max(1, min(wanted, int(soft * _RESERVED)))


def bounded(most: int) -> type[HttpToolsProtocol]:
    """The protocol of a server that has at most ``most`` connections."""
    idle: dict[Bounded, None] = {}  # in the order in which they began to keep us waiting

    return type("Bounded", (Bounded,), {"most": most, "idle": idle})


class Bounded(HttpToolsProtocol):
    """One connection. While it waits for its client it is ``idle``, and the first to go where others want its place."""

    most = 1
    idle: "dict[Bounded, None]" = {}  # noqa: RUF012 - each server has its own

    _head: int | None = None
    _timer: asyncio.TimerHandle | None = None
    _began = 0.0
    _taken = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a place: a free one, else that of who has waited longest for nothing."""
        super().connection_made(transport)
        self._wait(_HEAD_SECONDS)
        if len(self.connections) > self.most:
            oldest = next((one for one in self.idle if one is not self), None)
            if oldest is None:
                self._end(_FULL)
            else:
                oldest._drop()

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of the place."""
        self._at_work()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """A request begins."""
        self._head = 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Its head is there; from now on its body is waited for."""
        self._head, self._taken, self._began = None, 0, self.loop.time()
        super().on_headers_complete()
        self._wait(_SILENCE_SECONDS)

    def on_body(self, body: bytes) -> None:
        """A piece of its body is there; the average of them counts as well as the last."""
        super().on_body(body)
        self._taken += len(body)
        if self.loop.time() - self._began > _SILENCE_SECONDS + self._taken / _SLOWEST:
            self._late()
        else:
            self._wait(_SILENCE_SECONDS)

    def on_message_complete(self) -> None:
        """The whole request is there; the client waits for us."""
        super().on_message_complete()
        self._at_work()

    def data_received(self, data: bytes) -> None:
        """Read on. A head without end is refused: the parser itself would keep all of it."""
        super().data_received(data)
        if self._head is not None:
            self._head += len(data)
            if self._head > _HEAD and not self.transport.is_closing():
                self.send_400_response("The headers are too large.")
        if self._timer is None and (self.cycle is None or self.cycle.response_complete):
            self._wait(_HEAD_SECONDS)

    def _wait(self, seconds: float) -> None:
        """Wait for the client, so long and no longer."""
        if self._timer:
            self._timer.cancel()
        self._timer = self.loop.call_later(seconds, self._late)
        self.idle.setdefault(self)

    def _at_work(self) -> None:
        """Stop waiting for the client."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
        self.idle.pop(self, None)

    def _late(self) -> None:
        if self.flow.read_paused:  # what came is not taken up yet: it is not the client who is late
            self._wait(_SILENCE_SECONDS)
        else:
            begun = self.cycle is not None and self.cycle.response_started
            self._end(b"" if begun else _LATE)

    def _end(self, words: bytes) -> None:
        """Say why, and close. Who reads nothing is not waited for."""
        self._at_work()
        transport: Any = self.transport
        if not transport.is_closing():
            transport.write(words)
            transport.close()
            self.loop.call_later(1, transport.abort)

    def _drop(self) -> None:
        self._at_work()
        self.transport.abort()
