"""What stands before every route: who may ask from where, with which key, and what an error looks like."""

import asyncio
import ipaddress
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import lru_cache

from attrs import evolve
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hermes_core.errors import HermesError
from hermes_core.types import Principal
from hermes_platform_api.errors import ApiError, of_error
from hermes_platform_api.keys import Keys
from hermes_platform_api.mounts import Mount
from hermes_platform_api.routes import OPEN
from hermes_platform_api.sse import answered

__all__ = ["Guard", "is_loopback"]

log = logging.getLogger(f"hermes.{__name__}")
_SAFE = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cache-control": "no-store",
}
_PAGE = "default-src 'self'; frame-ancestors 'none'"  # of what plugins serve, where they say nothing else
_ASKED = (
    "authorization, x-api-key, anthropic-version, anthropic-beta, anthropic-dangerous-direct-browser-access, "
    "content-type, idempotency-key, x-hermes-session-id, x-hermes-session-key, x-stainless-arch, "
    "x-stainless-lang, x-stainless-os, x-stainless-package-version, x-stainless-retry-count, x-stainless-runtime, "
    "x-stainless-runtime-version, x-stainless-timeout, openai-organization, openai-project, last-event-id, "
    "mcp-method, mcp-name, mcp-protocol-version, mcp-session-id"
)
_SHOWN = (
    "request-id, x-hermes-session-id, x-hermes-completed, x-hermes-partial, x-hermes-error, retry-after, mcp-session-id"
)
_PREFLIGHT = 600  # seconds a browser may remember what it may send


async def _open(_who: Principal) -> bool:
    return False


class Guard:
    """Lets a request through to the app, or says why not. Nothing that goes wrong inside shows a traceback."""

    def __init__(
        self,
        app: ASGIApp,
        keys: Keys,
        *,
        host: str,
        hosts: Sequence[str],
        origins: Sequence[str],
        mounts: Sequence[Mount] = (),
        owner: Principal | None = None,
        closed: Callable[[Principal], Awaitable[bool]] = _open,
    ) -> None:
        """``mounts`` are what plugins serve beside the app, ``owner`` whose Hermes this is.

        ``closed`` tells of whom nothing is heard now, such as who is blocked: their keys open nothing.

        On loopback only loopback's own names and ``hosts`` are answered: no page gets in by rebinding a name."""
        self._app, self._keys, self._mounts, self._owner = app, keys, mounts, owner or Principal()
        self._closed = closed
        self._hosts = {name.lower() for name in hosts} if is_loopback(host) else None
        self._origins = {origin.rstrip("/").lower() for origin in origins}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers, begun = Headers(scope=scope), False
        more = {**_SAFE}
        if any(one.holds(scope["path"]) for one in self._mounts):
            more["content-security-policy"] = _PAGE

        async def sending(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                known = MutableHeaders(raw=message.setdefault("headers", []))
                for name, value in more.items():
                    known.setdefault(name, value)
            await send(message)

        failure: ApiError | None = None
        try:
            self._check_host(headers)
            more |= self._cors(headers)
            await self._answer(scope, headers, receive, sending)
        except ClientDisconnect:
            pass
        except asyncio.CancelledError:  # the server closes, and this one had its time
            failure = ApiError(503, "closing", "The server closes. Ask again when it is back.")
        except ApiError as error:
            failure = error
        except HermesError as error:
            failure = of_error(error)
        except Exception:
            log.exception("a request could not be answered")
            failure = ApiError(500, "internal_error", "Something went wrong here. The server's log says what.")
        if failure and not begun:
            await answered(failure, scope["path"])(scope, receive, sending)

    async def _answer(self, scope: Scope, headers: Headers, receive: Receive, send: Send) -> None:
        if scope["method"] == "OPTIONS" and "access-control-request-method" in headers and "origin" in headers:
            await Response(status_code=204, headers=_preflight())(scope, receive, send)
            return
        mount = next((one for one in self._mounts if one.holds(scope["path"])), None)
        if mount and mount.public:
            await mount.serve(self._keyless(scope, headers), receive, send, None)
            return
        if scope["path"] not in OPEN:
            scope["hermes.person"] = person = self._person(headers)
            if person and await self._closed(evolve(self._owner, person=person)):
                raise ApiError(403, "key_closed", "This key is closed. Whoever runs this server can open it again.")
            if mount:
                owner = evolve(self._owner, person=person) if person else self._owner
                await mount.serve(self._keyless(scope, headers), receive, send, owner)
                return
        await self._app(scope, receive, send)

    def _check_host(self, headers: Headers) -> None:
        if self._hosts is None:
            return
        name = _name(headers.get("host", ""))
        if len(headers.getlist("host")) != 1 or not (name in self._hosts or name == "localhost" or is_loopback(name)):
            text = f"This server does not answer to the host {name[:80]!r}. List it in platforms.api.hosts."
            raise ApiError(403, "host_not_allowed", text)

    def _cors(self, headers: Headers) -> Mapping[str, str]:
        """What a browser needs to hear. Raises ApiError for a page that is not listed, and not served here.

        Where no host but loopback's is answered to, a page of the same address is one of ours."""
        origin = headers.get("origin")
        if origin is None:
            return {}
        own = self._hosts is not None and origin.lower() == f"http://{headers.get('host', '').lower()}"
        if not own and origin.lower() not in self._origins and "*" not in self._origins:
            raise ApiError(
                403, "origin_not_allowed", "Pages of this origin may not call this server: platforms.api.origins."
            )
        return {"access-control-allow-origin": origin, "vary": "Origin", "access-control-expose-headers": _SHOWN}

    def _keyless(self, scope: Scope, headers: Headers) -> Scope:
        """The same without keys of ours: who gets a request may not send others in the name of who sent it."""
        ours = {b"authorization": self._known, b"x-api-key": self._keys.person}
        kept = [
            (name, value)
            for name, value in scope["headers"]
            if not (find := ours.get(name.lower())) or find(value.decode("latin-1")) is None
        ]
        return scope if len(kept) == len(scope["headers"]) else {**scope, "headers": kept}

    def _known(self, given: str) -> str | None:
        scheme, _, key = given.partition(" ")
        return self._keys.person(key.strip()) if scheme.lower() == "bearer" else None

    def _person(self, headers: Headers) -> str:
        given, other = headers.getlist("authorization"), headers.getlist("x-api-key")
        person = self._known(given[0]) if len(given) == 1 else None
        if not given and len(other) == 1:  # Anthropic's clients
            person = self._keys.person(other[0].strip())
        if person is None:
            text = "The key is missing or wrong. Send it as: Authorization: Bearer KEY, or as x-api-key."
            raise ApiError(401, "invalid_api_key", text, headers={"www-authenticate": "Bearer"})
        return person


@lru_cache(maxsize=256)  # each request asks of the same few
def is_loopback(host: str) -> bool:
    """Whether an address or name reaches only this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _name(host: str) -> str:
    """The name in a Host header, without its port."""
    if host.startswith("["):
        return host.partition("]")[0].lstrip("[").lower()
    return host.partition(":")[0].rstrip(".").lower()


def _preflight() -> dict[str, str]:
    return {
        "access-control-allow-methods": "GET, POST, PATCH, DELETE",
        "access-control-allow-headers": _ASKED,
        "access-control-max-age": str(_PREFLIGHT),
    }
