"""What programs ask of the proxy: who may, what may be asked, and how the answer goes back, piece by piece.

It speaks ASGI (https://asgi.readthedocs.io/en/latest/specs/www.html) to the server.
"""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any

from hermes_core.errors import AuthError, HermesError, RateLimited, Unavailable
from hermes_platform_proxy.key import fits
from hermes_platform_proxy.upstream import Answer, Asked, Upstream

if TYPE_CHECKING:
    from hermes_core.context import PluginContext

__all__ = ["App"]

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_PATHS: Mapping[str, str] = {
    "/v1/chat/completions": "POST",
    "/v1/completions": "POST",
    "/v1/embeddings": "POST",
    "/v1/responses": "POST",
    "/v1/models": "GET",
}
_MOST = 64 * 1024 * 1024  # bytes of a request
_ERROR = 256 * 1024  # bytes of a refusal that are read
_QUERY = re.compile(r"[\w.~=&%+-]{0,500}", re.ASCII)
_HOSTS = ("127.0.0.1", "localhost")
_PASSED = re.compile(r"content-type|retry-after(-ms)?|x-request-id|openai-[a-z-]+|x-ratelimit-[a-z-]+|ratelimit-[a-z]+")
_WORST = 400  # from here on an answer is a refusal


class _Refusal(Exception):
    def __init__(self, status: int, kind: str, text: str) -> None:
        super().__init__(text)
        self.status, self.kind = status, kind


class App:
    """Serves one service to whoever has the key, on this machine.

    Args:
        ctx: The plugin's.
        upstream: Who answers.
        key: What programs give.
    """

    def __init__(self, ctx: "PluginContext", upstream: Upstream, key: str) -> None:
        self._ctx, self._upstream, self._key = ctx, upstream, key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; nothing that goes wrong shows more than a sentence."""
        if scope["type"] != "http":
            return
        begun = False

        async def say(event: MutableMapping[str, Any]) -> None:
            nonlocal begun
            begun = begun or event["type"] == "http.response.start"
            await send(event)

        try:
            await self._serve(await self._asked(scope, receive), receive, say)
        except asyncio.CancelledError:
            return  # the server ends, and with it this connection: nobody is left to hear of it
        except _Refusal as refusal:
            await _told(say, refusal.status, refusal.kind, str(refusal))
        except HermesError as error:
            text = self._ctx.masks.text(" ".join(filter(None, (error.text, error.hint))))
            if begun:  # the server ends the connection: half an answer is not ended as if it were whole
                self._ctx.log.warning("an answer of the proxy broke off: %s", text)
                return
            status, kind = _status(error)
            wait = getattr(error, "retry_after", None)
            more = [(b"retry-after", str(max(1, round(wait))).encode())] if wait else []
            await _told(say, status, kind, text, more)

    async def _asked(self, scope: Scope, receive: Receive) -> Asked:
        """Read a request. Raises _Refusal for what is not let in."""
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if re.sub(r":\d+$", "", headers.get("host", "")) not in _HOSTS or "origin" in headers:
            raise _Refusal(403, "forbidden", "This is for programs on this machine, and for no page of the web.")
        if not fits(self._key, headers.get("authorization", "")):
            raise _Refusal(401, "invalid_api_key", f"The key is not right: {self._ctx.program} proxy --key shows it.")
        path, query = scope["path"], scope["query_string"].decode("latin-1")
        if path not in _PATHS or not _QUERY.fullmatch(query):
            raise _Refusal(404, "not_found", f"There is only {', '.join(_PATHS)} here.")
        if scope["method"] != _PATHS[path]:
            raise _Refusal(405, "method_not_allowed", f"Use {_PATHS[path]} here.")
        body = await _body(receive) if scope["method"] == "POST" else b""
        events = "text/event-stream" in headers.get("accept", "")
        accept = "text/event-stream" if events else "application/json"
        asked = f"?{query}" if query else ""
        return Asked(method=scope["method"], path=path.removeprefix("/v1"), query=asked, accept=accept, body=body)

    async def _serve(self, asked: Asked, receive: Receive, say: Send) -> None:
        gone = asyncio.ensure_future(_gone(receive))
        work = asyncio.ensure_future(self._passed(asked, say))
        try:
            await asyncio.wait({gone, work}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
            work.cancel()
            await asyncio.wait({gone, work})
        if not work.cancelled():
            work.result()

    async def _passed(self, asked: Asked, say: Send) -> None:
        """Send a request on, and its answer back as it comes: nothing is held back, nothing is kept."""
        async with self._upstream.answered(asked) as answer:
            if 300 <= answer.status < _WORST:
                raise Unavailable("The service leads elsewhere, and a login follows nobody.", transient=False)
            passed = [
                (name.encode(), value.encode("latin-1", "replace"))
                for name, value in answer.headers.items()
                if _PASSED.fullmatch(name) and answer.token not in value
            ]
            if answer.status >= _WORST:
                body = await self._refusal(answer)
                passed.append((b"content-length", str(len(body)).encode()))
                await say({"type": "http.response.start", "status": answer.status, "headers": passed})
                await say({"type": "http.response.body", "body": body})
                return
            await say({"type": "http.response.start", "status": answer.status, "headers": passed})
            async for piece in answer.pieces:
                await say({"type": "http.response.body", "body": piece, "more_body": True})
            await say({"type": "http.response.body", "body": b""})

    async def _refusal(self, answer: Answer) -> bytes:
        """Return why a service refused, without the token in it, should it say that again."""
        from hermes_provider_kit.replies import read_capped

        said = (await read_capped(answer.pieces, _ERROR)).replace(answer.token, "…")
        return self._ctx.masks.text(said).encode()


async def _body(receive: Receive) -> bytes:
    body = bytearray()
    while True:
        event = await receive()
        if event["type"] != "http.request":
            raise _Refusal(400, "invalid_request", "The request broke off.")
        body += event.get("body", b"")
        if len(body) > _MOST:
            raise _Refusal(413, "too_large", f"A request has at most {_MOST // 1024 // 1024} MiB here.")
        if not event.get("more_body"):
            return bytes(body)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _status(error: HermesError) -> tuple[int, str]:
    if isinstance(error, RateLimited):
        return 429, "rate_limit_exceeded"
    if isinstance(error, AuthError):
        return 503, "login_ended"  # not 401: the program's own key is right
    return 502, "upstream"


async def _told(say: Send, status: int, kind: str, text: str, more: Iterable[tuple[bytes, bytes]] = ()) -> None:
    body = json.dumps({"error": {"message": text, "type": kind, "code": kind, "param": None}}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *more]
    await say({"type": "http.response.start", "status": status, "headers": headers})
    await say({"type": "http.response.body", "body": body})
