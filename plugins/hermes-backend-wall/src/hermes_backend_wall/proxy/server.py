"""The proxy: one coroutine for each connected socket that it is handed."""

import asyncio
import base64
import hmac
import itertools
import socket
from collections.abc import Callable
from contextlib import suppress

from hermes_backend_wall.proxy.bounds import Bounds
from hermes_backend_wall.proxy.connection import Connection
from hermes_backend_wall.proxy.dialing import Dialer, Lookup, swift
from hermes_backend_wall.proxy.passages import OnPassage, Passage
from hermes_backend_wall.proxy.questions import Ask, Crossing, Questions
from hermes_backend_wall.proxy.refusal import Refusal
from hermes_backend_wall.proxy.requests import Request
from hermes_backend_wall.proxy.rules import Rule, Rules, is_literal
from hermes_backend_wall.proxy.upstream import Upstream
from hermes_tool_kit.addresses import CheckedUrl, resolve_with_system

__all__ = ["Proxy"]

_ACCEPT_AGAIN = 0.1  # seconds


class Proxy:
    """Lets what is connected to it reach the hosts of ``rules``, and those that ``ask`` says yes to.

    ``token`` is the password that a client must know (``Proxy-Authorization: Basic``) where others can connect too.
    ``on_passage`` is told each decision; it neither blocks nor raises. ``upstream`` says through which proxy of the
    person a target is reached; such a proxy resolves the names. ``lookup`` resolves them where the way is direct.
    ``mend`` is one sentence for refused clients: what would allow it.
    """

    def __init__(
        self,
        rules: Rules,
        ask: Ask | None = None,
        *,
        token: str = "",
        on_passage: OnPassage | None = None,
        upstream: Callable[[CheckedUrl], Upstream | None] | None = None,
        bounds: Bounds | None = None,
        lookup: Lookup = resolve_with_system,
        mend: str = "",
    ) -> None:
        self.bounds = bounds or Bounds()
        self.upstream = upstream or (lambda _: None)
        self._rules = rules
        self._questions = Questions(ask, self.bounds.ask_seconds, self.bounds.questions)
        self._token = token.encode()
        self._on_passage = on_passage or (lambda _: None)
        self._mend = mend
        self._ids = itertools.count(1)
        self._serving: set[asyncio.Task[None]] = set()
        self._listener: asyncio.Task[None] | None = None
        self._closed = False
        self.dialer = Dialer(lookup, self.bounds.dial_seconds)

    async def serve(self, sock: socket.socket) -> None:
        """Serve a connected stream socket to its end and close it. Raises nothing but its cancelling."""
        if self._closed or len(self._serving) >= self.bounds.connections:
            with suppress(OSError):
                sock.setblocking(False)
                sock.send(Refusal(503, "Too many connections are open, or the session ends").answer)
            sock.close()
            return
        task = asyncio.create_task(self._serve(sock))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)
        try:
            await task
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if not self._closed or (current and current.cancelling()):
                raise
        finally:
            sock.close()  # a task that is cancelled before it began has closed nothing

    async def _serve(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        swift(sock)
        await Connection(self, sock).serve()

    async def listen(self, host: str = "127.0.0.1", port: int = 0) -> int:
        """Accept connections of this machine too; returns the port. Raises OSError."""
        listener = socket.create_server((host, port))
        listener.setblocking(False)
        self._listener = asyncio.create_task(self._accept(listener))
        return int(listener.getsockname()[1])

    async def _accept(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        with listener:
            async with asyncio.TaskGroup() as group:
                while True:
                    try:
                        sock, _ = await loop.sock_accept(listener)
                    except OSError:  # no descriptor is free just now, or the client has gone already
                        await asyncio.sleep(_ACCEPT_AGAIN)
                        continue
                    group.create_task(self.serve(sock))

    async def close(self) -> None:
        """End every connection and question; nothing is left running."""
        self._closed = True
        tasks = [*self._serving, *([self._listener] if self._listener else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._questions.close()
        await self.dialer.close()

    def check_token(self, request: Request) -> None:
        """Raises Refusal where a token is due and another one or none came."""
        if not self._token:
            return
        given = b""
        for value in request.values(b"proxy-authorization")[:1]:
            scheme, _, login = value.partition(b" ")
            with suppress(ValueError):
                decoded = base64.b64decode(login.strip(), validate=True) if scheme.lower() == b"basic" else b""
                given = decoded.partition(b":")[2]
        if not hmac.compare_digest(given, self._token):
            raise Refusal(407, "This proxy is for the commands of another session")

    async def admit(self, target: CheckedUrl) -> tuple[Rule, Passage]:
        """The rule that opens a target, or one for what a person says yes to. Raises Refusal."""
        rule, why = self._rules.find(target.host, target.port), ""
        if rule is None and is_literal(target.host):
            why = "it is an address and no name"
        elif rule is None:
            why = await self._questions.refused(Crossing(target.host, target.port, target.scheme))
            rule = None if why else Rule(target.host, target.port, source="asked")
        if rule is None:
            raise Refusal(403, f"{target.host} (port {target.port}) is closed: {why}", self._mend)
        return rule, Passage(next(self._ids), target.host, target.port, target.scheme, True, rule.source)

    def tell(self, passage: Passage) -> None:
        """Tell a decision, or its end."""
        self._on_passage(passage)

    def tell_refusal(self, target: CheckedUrl | None, refusal: Refusal) -> None:
        """Tell a "no"; ``target`` is None where the request could not be read."""
        host, port, scheme = (target.host, target.port, target.scheme) if target else ("", 0, "")
        self.tell(Passage(next(self._ids), host, port, scheme, False, refusal.why))
