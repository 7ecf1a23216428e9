"""One connection to Home Assistant, by its WebSocket API: what is asked, and the events that are listened to.

The token goes to the address that the person set and nowhere else: no redirect is followed, no proxy of the environment
is used. An answer that does not come is told in words; nothing is asked twice by itself.
"""

import asyncio
import contextlib
import json
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from hermes_core.errors import ToolError, UserError

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

__all__ = ["TOKEN", "Client", "WrongToken", "address"]

TOKEN = "HASS_TOKEN"  # noqa: S105 - its name
LARGEST = 64_000_000  # bytes of one message: the states of a large home are a few
_MOST = 1_000  # events that may wait
Json = Any


class WrongToken(UserError):
    """Home Assistant does not know the token."""

    def __init__(self) -> None:
        super().__init__(
            "Home Assistant does not know this access token.",
            hint="Make one in its web page, under your profile, Security, Long-lived access tokens; then: "
            "hermes setup homeassistant",
        )


def address(url: str) -> str:
    """The address of the WebSocket API of a Home Assistant. Raises ValueError for what is none."""
    try:
        parts = urlsplit(url.strip())
        named, _ = parts.hostname, parts.port
    except ValueError:
        named, parts = None, urlsplit("")
    if parts.scheme not in ("http", "https") or not named or parts.username or parts.query or parts.fragment:
        raise ValueError(f"{url!r} is no address of Home Assistant: write http://192.168.1.10:8123")
    path = parts.path.rstrip("/").removesuffix("/api")
    return f"{'wss' if parts.scheme == 'https' else 'ws'}://{parts.netloc}{path}/api/websocket"


class Client:
    """Open it before use. ``told`` says why it is not open any more."""

    def __init__(self, url: str, token: str, seconds: float = 30.0) -> None:
        self._url, self._token, self._seconds = url, token, seconds
        self._where = urlsplit(url).netloc
        self._socket: ClientConnection | None = None
        self._reader: asyncio.Task[None] | None = None
        self._number = 0
        self._waiting: dict[int, asyncio.Future[Json]] = {}
        self._listening: dict[int, Callable[[Json], None]] = {}
        self._kept: dict[str, Json] = {}
        self._queues: list[asyncio.Queue[Json]] = []
        self.told, self.version = "", ""

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return self._reader is not None and not self._reader.done()

    async def open(self) -> None:
        """Connect and say who we are. Raises WrongToken, and ToolError for one that is not reached."""
        if not self._token:
            raise ToolError(f"Home Assistant needs the secret {TOKEN}.", hint="hermes setup homeassistant", retry=False)
        try:
            async with asyncio.timeout(self._seconds):
                self._socket = await _connect(address(self._url))
                try:
                    await self._greet()
                except BaseException:
                    self._socket.transport.abort()
                    raise
        except TimeoutError:
            raise ToolError(f"Home Assistant at {self._where} does not answer.", hint=_HINT) from None
        except _trouble() as error:
            raise ToolError(
                f"Home Assistant at {self._where} cannot be reached: {_said(error)}.", hint=_HINT
            ) from error
        self._reader = asyncio.create_task(self._read())

    async def _greet(self) -> None:
        first = await self._receive()
        if first.get("type") == "auth_required":
            await self._send({"type": "auth", "access_token": self._token})
            first = await self._receive()
        if first.get("type") == "auth_invalid":
            raise WrongToken
        if first.get("type") != "auth_ok":
            raise ValueError("it does not speak as Home Assistant does")
        self.version = str(first.get("ha_version", ""))[:40]

    async def close(self) -> None:
        """Let go of it."""
        if self._reader:
            self._reader.cancel()
            await asyncio.wait({self._reader})
        if self._socket:
            with contextlib.suppress(Exception):
                async with asyncio.timeout(1):
                    await self._socket.close()
            self._socket.transport.abort()

    async def ask(self, what: str, **more: Json) -> Json:
        """The answer to one command. Raises ToolError."""
        if not self.alive or self._socket is None:
            raise ToolError(f"The connection to Home Assistant is over: {self.told or 'it was closed'}.")
        self._number += 1
        number, answer = self._number, asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            async with asyncio.timeout(self._seconds):
                await self._send({"id": number, "type": what, **more})
                return await answer
        except TimeoutError:
            text = f"Home Assistant did not answer within {self._seconds:g} seconds"
            raise ToolError(f"{text}; what was asked may have been done.", hint=_HINT) from None
        except _trouble() as error:
            raise ToolError(f"The connection to Home Assistant ended: {_said(error)}.") from error
        finally:
            self._waiting.pop(number, None)

    async def kept(self, what: str) -> Json:
        """The answer to a command whose answer hardly changes; asked once for a connection. Raises ToolError."""
        if what not in self._kept:
            self._kept[what] = await self.ask(what)
        return self._kept[what]

    async def listen(self, event: str) -> "asyncio.Queue[Json]":
        """Events of a kind from now on, a None when the connection is over. Raises ToolError.

        The connection ends when more wait than can be kept.
        """
        queue = asyncio.Queue[Json]()

        def take(one: Json) -> None:
            if queue.qsize() >= _MOST:
                raise ValueError("more happens than can be looked at")
            queue.put_nowait(one)

        self._queues.append(queue)
        self._listening[self._number + 1] = take
        await self.ask("subscribe_events", event_type=event)
        return queue

    async def _send(self, message: Mapping[str, Json]) -> None:
        assert self._socket
        await self._socket.send(json.dumps(message))

    async def _receive(self) -> dict[str, Json]:
        assert self._socket
        try:
            message = json.loads(await self._socket.recv())
        except RecursionError:
            raise ValueError("what it sends has no end") from None
        if not isinstance(message, dict):
            raise ValueError("it does not speak as Home Assistant does")
        return message

    async def _read(self) -> None:
        try:
            while True:
                self._take(await self._receive())
        except _trouble() as error:
            self.told = _said(error)
        finally:
            self.told = self.told or "it was closed"
            for queue in self._queues:
                queue.put_nowait(None)
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_exception(ToolError(f"The connection to Home Assistant ended: {self.told}."))

    def _take(self, message: dict[str, Json]) -> None:
        number = message.get("id")
        if message.get("type") == "event" and number in self._listening:
            self._listening[number](message.get("event"))
            return
        answer = self._waiting.get(number) if isinstance(number, int) else None
        if answer is None or answer.done() or message.get("type") != "result":
            return
        if message.get("success"):
            answer.set_result(message.get("result"))
            return
        error = message.get("error")
        code, text = (error.get("code"), error.get("message")) if isinstance(error, dict) else ("", "")
        answer.set_exception(ToolError(f"Home Assistant refused: {_plain(text) or _plain(code) or 'it says not why'}."))


_HINT = "Is it running, and is the address right? `hermes config get tools.homeassistant.url`"


def _trouble() -> tuple[type[Exception], ...]:
    """What ends a connection."""
    from websockets.exceptions import WebSocketException

    return (OSError, ValueError, WebSocketException)


async def _connect(url: str) -> "ClientConnection":
    from websockets.asyncio.client import connect

    class Straight(connect):
        """To this address, wherever it would lead."""

        def process_redirect(self, exc: Exception) -> Exception | str:
            return exc

    return await Straight(
        url, proxy=None, max_size=LARGEST, compression=None, open_timeout=None, close_timeout=2, user_agent_header=None
    )


def _said(error: Exception) -> str:
    from websockets.exceptions import ConnectionClosed, InvalidStatus

    if isinstance(error, InvalidStatus):
        return f"it answers with HTTP status {error.response.status_code}"
    if isinstance(error, ConnectionClosed):
        return "it closed the connection"
    return _plain(getattr(error, "strerror", "") or str(error)) or type(error).__name__


def _plain(text: object) -> str:
    return re.sub(r"[^\x20-\x7e\u00a0-\uffff]+", " ", str(text or ""))[:300].strip().rstrip(".")
