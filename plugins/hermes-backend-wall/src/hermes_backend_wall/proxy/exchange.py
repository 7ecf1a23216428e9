"""One request of plain HTTP passed on, and its response back. h11 frames both, so nothing is passed on as it came."""

import asyncio
import socket
from contextlib import suppress
from typing import Any

import h11

from hermes_backend_wall.proxy.dialing import receive
from hermes_backend_wall.proxy.refusal import Refusal
from hermes_backend_wall.proxy.requests import Request, without_hops
from hermes_backend_wall.proxy.tunnel import Moved
from hermes_backend_wall.proxy.upstream import Upstream

__all__ = ["Exchange"]

_HEAD = 65_536  # bytes of a response's head
_PIECE = 262_144


class Exchange:
    """A request of a client and where it goes. ``begun``: something of a response went to the client already.

    ``rest`` is, in the end, what the client sent behind the request.
    """

    def __init__(self, client: socket.socket, request: Request, raw: bytes) -> None:
        self._client = client
        self._request = request
        self._inbound = h11.Connection(h11.SERVER, max_incomplete_event_size=_HEAD)
        self._outbound = h11.Connection(h11.CLIENT, max_incomplete_event_size=_HEAD)
        self._loop = asyncio.get_running_loop()
        self.begun = False
        try:
            self._inbound.receive_data(raw)
            self._inbound.next_event()
        except h11.RemoteProtocolError as error:
            raise Refusal(400, f"The request is malformed: {error}") from error

    async def pass_on(self, server: socket.socket, upstream: Upstream | None, up: Moved, down: Moved) -> None:
        """Pass on the request and its response. Raises Refusal before anything of a response was sent, or OSError."""
        self._server, self._up, self._down = server, up, down
        sending = asyncio.create_task(self._pass_body(self._head(upstream)))
        broken: h11.RemoteProtocolError | None = None
        try:
            await self._pass_response()
        except h11.RemoteProtocolError as error:
            broken = error
        finally:
            sending.cancel()  # done, unless the response came before the whole request or not at all
            problem = (await asyncio.gather(sending, return_exceptions=True))[0]
        if isinstance(problem, h11.RemoteProtocolError):
            raise Refusal(400, f"The body of the request is malformed: {problem}") from problem
        if broken:
            raise Refusal(502, f"{self._request.target.host} does not speak proper HTTP: {broken}") from broken

    @property
    def rest(self) -> bytes:
        """What the client sent behind the request."""
        return self._inbound.trailing_data[0]

    @property
    def client_stays(self) -> bool:
        """Whether the client's connection is good for another request."""
        return self._inbound.our_state is h11.DONE and self._inbound.their_state is h11.DONE

    @property
    def server_stays(self) -> bool:
        """Whether the server's connection is good for another request."""
        done = self._outbound.our_state is h11.DONE and self._outbound.their_state is h11.DONE
        return done and not self._outbound.trailing_data[0]

    def _head(self, upstream: Upstream | None) -> bytes:
        target, request = self._request.target, self._request
        headers = [header for header in without_hops(request.headers) if header[0] not in (b"host", b"expect")]
        if request.values(b"transfer-encoding"):
            headers.append((b"transfer-encoding", b"chunked"))
        headers.insert(0, (b"host", target.authority.encode()))
        if upstream and upstream.authorization:
            headers.append((b"proxy-authorization", upstream.authorization.encode()))
        path = target.url if upstream else target.path
        return self._outbound.send(h11.Request(method=request.method, target=path, headers=headers)) or b""

    async def _pass_body(self, head: bytes) -> None:
        try:
            await self._send(self._server, head, self._up)
            while not await self._pass_piece():
                pass
        except (h11.RemoteProtocolError, OSError):
            with suppress(OSError):
                self._server.shutdown(socket.SHUT_RDWR)  # or both would wait for each other
            raise

    async def _pass_piece(self) -> bool:
        """Pass on what is there of the body, or wait for more; True at its end."""
        event = self._inbound.next_event()
        if event is h11.NEED_DATA:
            if self._inbound.they_are_waiting_for_100_continue:
                proceed = h11.InformationalResponse(status_code=100, headers=[])
                await self._send(self._client, self._inbound.send(proceed) or b"", None)
            self._inbound.receive_data(await receive(self._client, _PIECE))
        elif isinstance(event, h11.Data):
            for piece in self._outbound.send_with_data_passthrough(h11.Data(data=event.data)) or ():
                await self._send(self._server, piece, self._up)
        else:
            await self._send(self._server, self._outbound.send(h11.EndOfMessage()) or b"", self._up)
            return True
        return False

    async def _pass_response(self) -> None:
        while True:
            event = self._outbound.next_event()
            if event is h11.NEED_DATA:
                data = await receive(self._server, _PIECE)
                self._down(len(data))
                self._outbound.receive_data(data)
            elif isinstance(event, h11.Response):
                await self._answer(self._response(event))
            elif isinstance(event, h11.Data):
                for piece in self._inbound.send_with_data_passthrough(h11.Data(data=event.data)) or ():
                    await self._send(self._client, piece, None)
            elif isinstance(event, h11.EndOfMessage):
                await self._answer(h11.EndOfMessage())
                return
            elif not isinstance(event, h11.InformationalResponse):
                raise OSError("the server ended the connection")

    def _response(self, event: h11.Response) -> h11.Response:
        headers = without_hops([(bytes(name), bytes(value)) for name, value in event.headers.raw_items()])
        return h11.Response(status_code=event.status_code, reason=event.reason, headers=headers)

    async def _answer(self, event: Any) -> None:
        self.begun = True
        await self._send(self._client, self._inbound.send(event) or b"", None)

    async def _send(self, sock: socket.socket, data: Any, moved: Moved | None) -> None:
        if data:
            await self._loop.sock_sendall(sock, data)
            if moved:
                moved(len(data))
