"""From a host that was allowed to a connected socket.

A name is resolved here and once, each address is judged, and the connection goes to a judged one: a name that answers
differently the next time gains nothing. A name that nobody allowed is never resolved, since a question to a name
server already carries what is in the name.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from ipaddress import ip_address

import h11

from hermes_backend_wall.proxy.refusal import Refusal
from hermes_backend_wall.proxy.rules import Rule
from hermes_backend_wall.proxy.upstream import Upstream
from hermes_core.context import UrlRules
from hermes_core.errors import OutOfReach
from hermes_tool_kit.addresses import CheckedUrl, check_url, resolve

__all__ = ["Dialer", "Lookup", "receive", "swift"]

Lookup = Callable[[str, int], Awaitable[Sequence[str]]]

_LOOKUPS = 4  # at once: each holds a thread until the name server answers
_SHARE = 0.5  # of what is left of the time goes to one address while there are others,
_PATIENCE = 3.0  # and no more seconds than these: a way by IPv6 that leads nowhere is common
_ANSWER = 16_384  # bytes of an upstream proxy's head


class Dialer:
    """Opens connections. ``seconds`` bounds each, the look-up included."""

    def __init__(self, lookup: Lookup, seconds: float) -> None:
        self._lookup = lookup
        self._seconds = seconds
        self._lookups = asyncio.Semaphore(_LOOKUPS)
        self._looking: set[asyncio.Future[Sequence[str]]] = set()

    async def dial(self, target: CheckedUrl, rule: Rule, upstream: Upstream | None, *, tunnel: bool) -> socket.socket:
        """A socket that leads to the target, or to the proxy before it that plain requests are sent to.

        Raises Refusal.
        """
        rules = UrlRules(allow_private=rule.private, lookup=self._looked_up)
        try:
            async with asyncio.timeout(self._seconds) as bound:
                check_url(target.url, rules)
                if upstream:
                    return await self._through(upstream, target, bound, tunnel=tunnel)
                addresses = await resolve(target, rules)
                _refuse_own_machine(target, addresses)
                return await _connected(addresses, target.port, bound)
        except OutOfReach as error:
            unknown = isinstance(error.__cause__, OSError | UnicodeError)
            raise Refusal(502 if unknown else 403, error.text.rstrip(".")) from error
        except TimeoutError:
            raise Refusal(504, f"{target.host} did not take the connection in {self._seconds:g} seconds") from None
        except OSError as error:
            raise Refusal(502, f"{target.host} cannot be reached: {error.strerror or error}") from error

    async def _looked_up(self, host: str, port: int) -> Sequence[str]:
        await self._lookups.acquire()
        task = asyncio.ensure_future(self._lookup(host, port))
        self._looking.add(task)
        task.add_done_callback(self._found)
        return await asyncio.shield(task)  # nobody may wait any more: the thread is held all the same

    def _found(self, task: "asyncio.Future[Sequence[str]]") -> None:
        self._looking.discard(task)
        self._lookups.release()
        if not task.cancelled():
            task.exception()

    async def close(self) -> None:
        """Wait for no name any more."""
        for task in list(self._looking):
            task.cancel()
        await asyncio.gather(*self._looking, return_exceptions=True)

    async def _through(
        self, upstream: Upstream, target: CheckedUrl, bound: asyncio.Timeout, *, tunnel: bool
    ) -> socket.socket:
        addresses = await self._looked_up(upstream.host, upstream.port)
        sock = await _connected(list(dict.fromkeys(addresses)), upstream.port, bound)
        try:
            if tunnel:
                await _ask_through(sock, upstream, target)
        except BaseException:
            sock.close()
            raise
        return sock


def _refuse_own_machine(target: CheckedUrl, addresses: Sequence[str]) -> None:
    """A mirror in the person's network may be private. This machine's own services it is only by its own name."""
    own = [address for address in addresses if ip_address(address).is_loopback]
    if own and target.host not in ("localhost", *own) and not target.host.endswith(".localhost"):  # RFC 6761 6.3
        raise Refusal(403, f"{target.host} leads to {own[0]}, which is this machine")


async def _connected(addresses: Sequence[str], port: int, bound: asyncio.Timeout) -> socket.socket:
    loop = asyncio.get_running_loop()
    problem: OSError = OSError("its name has no address")
    for number, address in enumerate(addresses):
        left = (bound.when() or loop.time()) - loop.time()
        last = number == len(addresses) - 1
        try:
            async with asyncio.timeout(None if last else min(left * _SHARE, _PATIENCE)):
                return await _connect(address, port)
        except TimeoutError:
            if last:
                raise
            problem = OSError(f"{address} does not answer")
        except OSError as error:
            problem = error
    raise problem


async def _connect(address: str, port: int) -> socket.socket:
    sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        swift(sock)
        await asyncio.get_running_loop().sock_connect(sock, (address, port))
    except BaseException:
        sock.close()
        raise
    return sock


def swift(sock: socket.socket) -> None:
    """Have small pieces sent at once, where the socket knows of that."""
    with suppress(OSError):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


async def receive(sock: socket.socket, most: int = 65_536) -> bytes:
    """What came next; empty at the end. Raises OSError."""
    return await asyncio.get_running_loop().sock_recv(sock, most)


async def _ask_through(sock: socket.socket, upstream: Upstream, target: CheckedUrl) -> None:
    """Have the proxy of the person open the way. Raises Refusal."""
    connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=_ANSWER)
    host = f"[{target.host}]" if ":" in target.host else target.host
    authority = f"{host}:{target.port}"
    headers = [("Host", authority)]
    if upstream.authorization:
        headers.append(("Proxy-Authorization", upstream.authorization))
    asked = connection.send(h11.Request(method="CONNECT", target=authority, headers=headers))
    await asyncio.get_running_loop().sock_sendall(sock, (asked or b"") + (connection.send(h11.EndOfMessage()) or b""))
    try:
        while (event := connection.next_event()) is h11.NEED_DATA or isinstance(event, h11.InformationalResponse):
            if event is h11.NEED_DATA:
                connection.receive_data(await receive(sock))
    except h11.RemoteProtocolError as error:
        raise Refusal(502, "The proxy of your network does not speak proper HTTP") from error
    if not isinstance(event, h11.Response) or not 200 <= event.status_code < 300:
        status = event.status_code if isinstance(event, h11.Response) else "nothing"
        raise Refusal(502, f"The proxy of your network answered {status} for {authority}")
    if connection.trailing_data[0]:
        raise Refusal(502, "The proxy of your network said more than it was asked")
