"""Streams of server-sent events that notice when nobody reads them any more."""

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from hermes_platform_api.errors import ApiError

__all__ = ["EventStream", "answered", "event", "json_answer", "unless_gone"]

T = TypeVar("T")
_ANTHROPIC = "/v1/messages"  # where Anthropic's protocol is spoken
_FIRST = 1.0  # seconds in which a failure still gets a status of its own, before the stream begins


def event(data: object, name: str = "") -> bytes:
    """One event as bytes."""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return (f"event: {name}\n" if name else "").encode() + b"data: " + text.encode("utf-8", "replace") + b"\n\n"


async def unless_gone(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """What some work comes to. A client that leaves cancels it. Raises ClientDisconnect then."""
    working = asyncio.ensure_future(work)
    watching = asyncio.ensure_future(_gone(request.receive))
    try:
        await asyncio.wait({working, watching}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise ClientDisconnect
    finally:
        for task in (working, watching):
            task.cancel()
        await asyncio.wait({working, watching})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


class EventStream(Response):
    """Sends what ``body`` yields; closes it when it ends, fails, or the client leaves.

    ``failed`` makes an event of an error that comes when the stream has begun. ``headers`` are asked for when it does.
    ``ping`` is sent where nothing was for so long as ``silence``.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        body: AsyncGenerator[bytes, None],
        *,
        silence: float,
        failed: Callable[[ApiError], bytes],
        headers: Callable[[], Mapping[str, str]] = dict,
        ping: bytes = b": keep-alive\n\n",
    ) -> None:
        super().__init__(headers={"cache-control": "no-cache", "x-accel-buffering": "no"})
        del self.headers["content-length"]  # nobody knows it
        self._stream, self._silence, self._failed, self._more = body, silence, failed, headers
        self._begun, self._waiting, self._ping = False, asyncio.Lock(), ping
        self._last = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        this, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert this
        self._last = loop.time()
        left = False

        async def watch() -> None:
            nonlocal left
            pause = _FIRST
            while True:
                try:
                    async with asyncio.timeout(pause):
                        await _gone(receive)
                except TimeoutError:
                    quiet = loop.time() - self._last
                    if not self._begun or quiet >= self._silence:
                        await self._send(send, self._ping)
                        quiet = 0.0
                    pause = max(0.05, self._silence - quiet)
                    continue
                left = True
                this.cancel()
                return

        watching = asyncio.create_task(watch())
        try:
            async with contextlib.aclosing(self._stream) as body:
                async for data in body:
                    await self._send(send, data)
        except asyncio.CancelledError:
            if not left or this.uncancel():
                raise
            return
        except ApiError as error:
            if not self._begun:
                watching.cancel()
                await answered(error, scope["path"])(scope, receive, send)
                return
            await self._send(send, self._failed(error))
        finally:
            watching.cancel()
            await asyncio.wait({watching})
        await self._send(send, b"", more=False)

    async def _send(self, send: Send, data: bytes, *, more: bool = True) -> None:
        async with self._waiting:
            if not self._begun:
                self._begun = True
                for name, value in self._more().items():
                    self.headers[name] = value
                await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            self._last = asyncio.get_running_loop().time()
            await send({"type": "http.response.body", "body": data, "more_body": more})


def json_answer(body: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A whole answer."""
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return Response(text.encode("utf-8", "replace"), status, headers, "application/json")


def answered(error: ApiError, path: str = "") -> Response:
    """An error as a whole answer, in the shape of the protocol that is spoken at a path."""
    if path == _ANTHROPIC or path.startswith(f"{_ANTHROPIC}/"):
        headers = {"request-id": f"req_{os.urandom(12).hex()}", **error.headers}
        return json_answer({**error.anthropic, "request_id": headers["request-id"]}, error.status, headers)
    return json_answer(error.body, error.status, error.headers)
