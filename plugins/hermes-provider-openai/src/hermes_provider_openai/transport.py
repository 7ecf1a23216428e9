"""The HTTP client: made when first needed, and its failures in plain words."""

import ssl
import time
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from hermes_core import __version__
from hermes_core.errors import AuthError, ProviderError, Unavailable, UserError
from hermes_core.failures import Service

if TYPE_CHECKING:
    import httpx2

__all__ = [
    "Patience",
    "check_address",
    "is_loopback",
    "make_client",
    "network_failure",
    "read_capped",
    "request_headers",
    "stale",
]

CONNECT_SECONDS = 15.0
BODY_CAP = 256 * 1024


def check_address(name: str, base_url: str) -> str:
    """The address without a trailing slash or endpoint path. Raises UserError when it is no http(s) address."""
    url = base_url.strip().rstrip("/")
    for ending in ("/chat/completions", "/completions", "/responses", "/models"):
        url = url.removesuffix(ending)
    where = f"providers.{name}.base_url" if name else "base_url"
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        usable = False
    if not usable or any(c.isspace() for c in url):
        raise UserError(
            f"Provider {name} cannot be reached at {base_url!r}: that is no address.",
            hint=f"Set {where} to something like http://127.0.0.1:8000/v1.",
        )
    return url


def is_loopback(url: str) -> bool:
    """Whether the address is on this machine."""
    host = (urlsplit(url).hostname or "").lower()
    return host in ("localhost", "::1") or host.startswith("127.") or host.endswith(".localhost")


def make_client(base_url: str, stale_seconds: float) -> "httpx2.AsyncClient":
    """A client for one address.

    For plain http the certificates of the system are not read, which would take longer than the rest of a request;
    such a client trusts nobody, so it can never reach an https address by accident. Proxies from the environment
    are used for everything that is not on this machine. Redirects are not followed: they would carry the key away.
    """
    import httpx2

    plain = urlsplit(base_url).scheme == "http"
    # One connection for each turn that runs; how many that are, is decided elsewhere. Those that rest are all looked at
    # for each request: without a handshake, a new one costs less than to keep many.
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=20 if plain else 100)
    return httpx2.AsyncClient(
        limits=limits,
        verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else True,
        trust_env=not is_loopback(base_url),
        timeout=httpx2.Timeout(stale_seconds, connect=CONNECT_SECONDS, pool=None),
        follow_redirects=False,
    )


def request_headers(service: Service, *layers: Mapping[str, str]) -> dict[str, str]:
    """The headers of every request; later layers win. Raises AuthError for a key that cannot be one."""
    key = service.key
    if not key.isascii() or any(c.isspace() or not c.isprintable() for c in key):
        raise AuthError(f"The key for {service.title} holds characters no key has.", hint=service.key_hint)
    headers = {"user-agent": f"Hermes/{__version__}", "content-type": "application/json"}
    if key:
        headers["authorization"] = f"Bearer {key}"
    for layer in layers:
        headers.update({name.lower(): value for name, value in layer.items()})
    return headers


async def read_capped(pieces: AsyncIterator[bytes]) -> str:
    """The start of a body that may be endless."""
    body = bytearray()
    async for piece in pieces:
        body += piece
        if len(body) >= BODY_CAP:
            break
    return body[:BODY_CAP].decode("utf-8", "replace")


def stale(service: Service, seconds: float) -> Unavailable:
    """The error for a service that went silent in the middle of a reply, or never began one."""
    text = f"{service.title} at {service.url} sent nothing for {seconds:.0f} s."
    hint = f"Raise providers timeout if the model needs longer than {seconds:.0f} s."
    return Unavailable(text, hint=hint, reason="timeout")


class Patience:
    """Ends a reply that only keeps the connection alive: that is silence too, and no time-out sees it."""

    def __init__(self, service: Service, seconds: float) -> None:
        self._service, self._seconds, self._heard = service, seconds, time.monotonic()

    def hear(self, *, something: bool) -> None:
        """Bytes came, and they said ``something`` or nothing. Raises Unavailable."""
        if something:
            self._heard = time.monotonic()
        elif time.monotonic() - self._heard > self._seconds:
            raise stale(self._service, self._seconds)


def network_failure(service: Service, error: Exception, stale_seconds: float) -> ProviderError:
    """The error for a connection that failed or went silent."""
    import httpx2

    where = f"{service.title} at {service.url}"
    cause = _deepest(error)
    if isinstance(error, httpx2.ReadTimeout):
        return stale(service, stale_seconds)
    if isinstance(error, httpx2.TimeoutException):
        text = f"{where} did not answer within {CONNECT_SECONDS:.0f} s."
        return Unavailable(text, hint=_reach_hint(service), reason="timeout")
    if isinstance(cause, ssl.SSLError):
        text = f"No safe connection to {where}: {_tls_words(cause)}."
        return Unavailable(text, transient=False, hint=_tls_hint(cause), reason="ssl_cert_verification")
    if isinstance(error, httpx2.ConnectError):
        return Unavailable(f"Cannot connect to {where}: {_connect_words(cause)}.", hint=_reach_hint(service))
    if isinstance(error, httpx2.ProxyError):
        return Unavailable(f"The proxy on the way to {where} refused: {error}.", hint="Check HTTPS_PROXY and NO_PROXY.")
    if isinstance(error, httpx2.UnsupportedProtocol | httpx2.InvalidURL | httpx2.LocalProtocolError):
        return Unavailable(
            f"{where} cannot be asked: {type(error).__name__}.",
            transient=False,
            hint="Check base_url.",
            reason="wrong_address",
        )
    if isinstance(error, httpx2.RemoteProtocolError | httpx2.ReadError | httpx2.WriteError):
        return Unavailable(
            f"{where} closed the connection before the reply was complete.", hint="Try again in a moment."
        )
    if isinstance(error, httpx2.DecodingError):
        return Unavailable(f"{where} sent a compressed reply that cannot be unpacked.")
    return Unavailable(f"{where} failed: {type(error).__name__}.", hint="Try again in a moment.")


def _deepest(error: BaseException) -> BaseException:
    seen = error
    for _ in range(10):
        inner = seen.__cause__ or seen.__context__
        if inner is None or isinstance(seen, ssl.SSLError):
            break
        seen = inner
    return seen


def _connect_words(cause: BaseException) -> str:
    text = str(cause)
    if isinstance(cause, ConnectionRefusedError) or "refused" in text.lower() or "connection attempts failed" in text:
        return "nobody listens there"
    if "name" in text.lower() or "nodename" in text or "getaddrinfo" in text:
        return "this name is not known (DNS)"
    return text or type(cause).__name__


def _reach_hint(service: Service) -> str:
    if service.local or is_loopback(service.url):
        return f"Is the server running? Start it, or set base_url to where it listens (now {service.url})."
    return "Check the network, the proxy settings and base_url."


def _tls_words(cause: ssl.SSLError) -> str:
    if "WRONG_VERSION" in str(cause) or "record layer" in str(cause):
        return "the server does not speak TLS"
    return getattr(cause, "verify_message", "") or cause.reason or "the handshake failed"


def _tls_hint(cause: ssl.SSLError) -> str:
    if "WRONG_VERSION" in str(cause) or "record layer" in str(cause):
        return "Write http:// instead of https:// in base_url."
    return "Check the date of this machine and its certificates (package ca-certificates, or SSL_CERT_FILE)."
