"""One client's connection to the proxy: requests one after the other, or a tunnel."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from hermes_backend_wall.proxy.dialing import receive
from hermes_backend_wall.proxy.exchange import Exchange
from hermes_backend_wall.proxy.hello import ALERT, HelloReader, NotHello
from hermes_backend_wall.proxy.idle import Idle
from hermes_backend_wall.proxy.passages import Passage
from hermes_backend_wall.proxy.refusal import Refusal
from hermes_backend_wall.proxy.requests import Request, end_of_head, read_request
from hermes_backend_wall.proxy.rules import Rule, is_literal
from hermes_backend_wall.proxy.tunnel import relay
from hermes_tool_kit.addresses import CheckedUrl

if TYPE_CHECKING:
    from hermes_backend_wall.proxy.server import Proxy

__all__ = ["Connection"]

_LEFT = 262_144  # bytes of a refused request that are still taken, so that the answer is read
_LEFT_SECONDS = 2.0


class _Traffic:
    """Bytes of one passage."""

    def __init__(self, idle: Idle) -> None:
        self.up = self.down = 0
        self._idle = idle

    def sent(self, count: int) -> None:
        self.up += count
        self._idle.touch()

    def received(self, count: int) -> None:
        self.down += count
        self._idle.touch()


class Connection:
    """Serves one client."""

    def __init__(self, proxy: "Proxy", client: socket.socket) -> None:
        self._proxy = proxy
        self._client = client
        self._came = b""
        self._server: socket.socket | None = None
        self._place = ("", 0)
        self._served = False

    async def serve(self) -> None:
        """Serve it to its end. Raises nothing but its cancelling."""
        try:
            while await self._serve_request():
                pass
        except (OSError, TimeoutError):
            pass  # whoever broke off knows; what went through is told
        finally:
            self._leave_server()

    async def _serve_request(self) -> bool:
        """Serve the next request; whether another one may follow."""
        target: CheckedUrl | None = None
        try:
            head = await self._head()
            if not head:
                return False
            request = read_request(head)
            target = request.target
            self._proxy.check_token(request)
            rule, passage = await self._proxy.admit(target)
        except Refusal as refusal:
            self._proxy.tell_refusal(target, refusal)
            await self._refuse(refusal.answer)
            return False
        try:
            async with Idle(self._proxy.bounds.idle_seconds) as idle:
                with self._passing(passage, idle) as traffic:
                    if request.is_tunnel:
                        await self._tunnel(target, rule, traffic)
                        return False
                    return await self._exchange(request, head, rule, traffic)
        except Refusal as refusal:
            await self._refuse(refusal.answer)
        except NotHello:
            await self._refuse(ALERT)
        return False

    @contextmanager
    def _passing(self, passage: Passage, idle: Idle) -> Iterator[_Traffic]:
        self._proxy.tell(passage)
        traffic = _Traffic(idle)
        try:
            yield traffic
        except Refusal as refusal:
            passage = passage._replace(allowed=False, why=refusal.why)
            raise
        except NotHello as error:
            passage = passage._replace(allowed=False, why=str(error))
            raise
        finally:
            self._proxy.tell(passage._replace(up=traffic.up, down=traffic.down, over=True))

    async def _head(self) -> bytes:
        """The next request's head; empty where the client has gone. Raises Refusal."""
        bounds = self._proxy.bounds
        if not self._came:
            async with asyncio.timeout(bounds.idle_seconds if self._served else bounds.head_seconds):
                self._came = await receive(self._client)
        end, seen = 0, 0
        try:
            async with asyncio.timeout(bounds.head_seconds):
                while self._came and not (end := end_of_head(self._came, bounds.head_bytes, seen)):
                    if not (more := await receive(self._client)):
                        return b""
                    seen, self._came = len(self._came), self._came + more
        except TimeoutError:
            raise Refusal(408, f"The request was not whole in {bounds.head_seconds:g} seconds") from None
        head, self._came = self._came[:end], self._came[end:]
        return head

    async def _tunnel(self, target: CheckedUrl, rule: Rule, traffic: _Traffic) -> None:
        server = await self._server_for(target, rule, tunnel=True)
        await self._send(b"HTTP/1.1 200 Connection established\r\n\r\n")
        first = await self._hello(target)
        await asyncio.get_running_loop().sock_sendall(server, first)
        traffic.sent(len(first))
        await relay(self._client, server, traffic.sent, traffic.received)

    async def _hello(self, target: CheckedUrl) -> bytes:
        """The first bytes of TLS, which name the target. Raises NotHello."""
        reader = HelloReader()
        seconds = self._proxy.bounds.head_seconds
        try:
            async with asyncio.timeout(seconds):
                while (name := reader.feed(self._came)) is None:
                    if not (more := await receive(self._client)):
                        raise NotHello("it ended before it began TLS")
                    self._came = more
        except TimeoutError:
            raise NotHello(f"it did not begin TLS in {seconds:g} seconds") from None
        if name != ("" if is_literal(target.host) else target.host):
            raise NotHello(f"it asks for {name or 'no name'} in TLS and for {target.host} before it")
        return reader.raw

    async def _exchange(self, request: Request, head: bytes, rule: Rule, traffic: _Traffic) -> bool:
        exchange = Exchange(self._client, request, head + self._came)
        server = await self._server_for(request.target, rule, tunnel=False)
        upstream = self._proxy.upstream(request.target)
        try:
            await exchange.pass_on(server, upstream, traffic.sent, traffic.received)
        except Refusal as refusal:
            if exchange.begun:  # the client takes what it has for cut off
                raise OSError(refusal.why) from refusal
            raise
        self._served, self._came = True, exchange.rest
        if not exchange.server_stays:
            self._leave_server()
        return exchange.client_stays

    async def _server_for(self, target: CheckedUrl, rule: Rule, *, tunnel: bool) -> socket.socket:
        """A connection to where the request goes: the last one, where it leads there and still stands."""
        place = (target.host, target.port)
        if tunnel or self._place != place or self._server is None or _has_ended(self._server):
            self._leave_server()
            self._server = await self._proxy.dialer.dial(target, rule, self._proxy.upstream(target), tunnel=tunnel)
            self._place = place
        return self._server

    def _leave_server(self) -> None:
        if self._server:
            self._server.close()
        self._server = None

    async def _send(self, data: bytes) -> None:
        await asyncio.get_running_loop().sock_sendall(self._client, data)

    async def _refuse(self, answer: bytes) -> None:
        """Say no, and take what is still on its way: a socket closed over unread bytes takes the answer back."""
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(_LEFT_SECONDS):
                await self._send(answer)
                self._client.shutdown(socket.SHUT_WR)
                left = _LEFT
                while left > 0 and (data := await receive(self._client)):
                    left -= len(data)


def _has_ended(server: socket.socket) -> bool:
    """Whether a connection that nothing is due on was closed, or says what nobody asked."""
    try:
        server.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True
