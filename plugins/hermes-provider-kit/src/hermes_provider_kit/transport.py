"""The HTTP client of one service, made when it is first used, and the ways it fails in plain words."""

import asyncio
import ssl
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from hermes_core import __version__
from hermes_core.errors import AuthError, ProviderError, Unavailable, UserError
from hermes_provider_kit.failures import Service

if TYPE_CHECKING:
    import httpx2

__all__ = ["Connection", "check_address", "is_loopback", "network_failure", "request_headers", "silence"]

CONNECT_SECONDS = 15.0


class Connection:
    """The client for one address, with its connections kept alive between calls; another event loop gets another one.

    Args:
        url: The address of the service.
        stale_seconds: After how long a silence the service is given up.
    """

    def __init__(self, url: str, stale_seconds: float) -> None:
        self._url, self._stale_seconds = url, stale_seconds
        self._client: httpx2.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._asked: tuple[object, ...] = ()  # client, address and headers of the last request
        self._built: tuple[list[tuple[bytes, bytes]], Mapping[str, Any]] = ([], {})  # and what the client made of them

    def client(self) -> "httpx2.AsyncClient":
        """Get the client of the running loop."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            self._client, self._loop = _make_client(self._url, self._stale_seconds), loop
        return self._client

    def request(self, url: "httpx2.URL", data: bytes, headers: dict[str, str]) -> "httpx2.Request":
        """Build a POST as the client does; of one like the last only the length is another."""
        client = self.client()
        if self._asked == (client, url, headers) and not client.cookies:
            import httpx2

            length, (raw, more) = str(len(data)).encode(), self._built
            all_raw = [(name, length if name.lower() == b"content-length" else held) for name, held in raw]
            return httpx2.Request("POST", url, headers=all_raw, stream=httpx2.ByteStream(data), extensions=more)
        made = client.build_request("POST", url, content=data, headers=headers)
        self._asked, self._built = (client, url, headers), (made.headers.raw, made.extensions)
        return made

    async def close(self) -> None:
        """Let go of the connections; the next call makes new ones."""
        client, self._client, self._asked = self._client, None, ()
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.aclose()


def _make_client(url: str, stale_seconds: float) -> "httpx2.AsyncClient":
    """A client for one address.

    For plain http the certificates of the system are not read; such a client trusts nobody, so it can never reach an
    https address by accident. Proxies from the environment are used for everything that is not on this machine, by the
    library's transport. Redirects are not followed: they would carry the key away.
    """
    from urllib.request import getproxies

    import httpx2

    from hermes_provider_kit.direct import DirectTransport, distrusting, trusting

    plain = urlsplit(url).scheme == "http"
    context = distrusting if plain else trusting
    # One connection for each turn that runs; how many that are, is decided elsewhere. Without a handshake, a new one
    # costs less than to keep many.
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=20 if plain else 100)
    proxied = not is_loopback(url) and bool(getproxies())
    return httpx2.AsyncClient(
        transport=None if proxied else DirectTransport(context, limits),
        limits=limits,
        verify=context() if proxied else True,
        trust_env=proxied,
        timeout=httpx2.Timeout(stale_seconds, connect=CONNECT_SECONDS, pool=None),
        follow_redirects=False,
    )


def check_address(provider: str, base_url: str, *, endings: Iterable[str], example: str) -> str:
    """Check the address that requests are made below, and take the paths of requests off its end.

    Args:
        provider: Whose address it is, as the configuration names it.
        base_url: What the person wrote.
        endings: Paths that people copy along, such as ``/chat/completions``; the longest first.
        example: An address as it should be.

    Raises:
        UserError: It is no http(s) address.
    """
    url = base_url.strip().rstrip("/")
    for ending in endings:
        url = url.removesuffix(ending).rstrip("/")
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        usable = False
    if not usable or any(c.isspace() for c in url):
        raise UserError(
            f"Provider {provider} cannot be reached at {base_url!r}: that is no address.",
            hint=f"Set {f'providers.{provider}.' if provider else ''}base_url to something like {example}.",
        )
    return url


def is_loopback(url: str) -> bool:
    """Tell whether an address is on this machine."""
    host = (urlsplit(url).hostname or "").lower()
    return host in ("localhost", "::1") or host.startswith("127.") or host.endswith(".localhost")


def request_headers(service: Service, *layers: Mapping[str, str]) -> dict[str, str]:
    """Put together the headers of a request, names in lower case; later layers win.

    Raises:
        AuthError: The key holds what no header can.
    """
    key = service.key
    if not key.isascii() or any(c.isspace() or not c.isprintable() for c in key):
        raise AuthError(f"The key for {service.title} holds characters no key has.", hint=service.key_hint)
    headers = {"user-agent": f"Hermes/{__version__}", "content-type": "application/json"}
    for layer in layers:
        headers.update({name.lower(): value for name, value in layer.items()})
    return headers


def silence(service: Service, seconds: float) -> Unavailable:
    """Make the error for a service that went silent in the middle of a reply, or never began one."""
    text = f"{service.title} at {service.place} sent nothing for {seconds:.0f} s."
    hint = f"Raise providers timeout if the model needs longer than {seconds:.0f} s."
    return Unavailable(text, hint=hint, reason="timeout")


def endless(service: Service, seconds: float, size: int) -> Unavailable:
    """Make the error for a reply that goes on and on. The same again would be as long, so it is not waited for."""
    text = f"{service.title} at {service.place} answered for {seconds:.0f} s ({size:,} bytes) and came to no end."
    hint = "Raise providers timeout if such long replies are wanted: a reply may take thirty times that."
    return Unavailable(text, transient=False, hint=hint, reason="timeout")


def network_failure(service: Service, error: Exception, stale_seconds: float) -> ProviderError:
    """Make the error for a connection that failed or went silent, from what ``httpx2`` or the system raised."""
    import httpx2

    where = f"{service.title} at {service.place}"
    cause = _deepest(error)
    if isinstance(error, httpx2.ReadTimeout):
        return silence(service, stale_seconds)
    if isinstance(error, httpx2.TimeoutException):
        text = f"{where} did not answer within {CONNECT_SECONDS:.0f} s."
        return Unavailable(text, hint=_reach_hint(service), reason="timeout")
    if isinstance(cause, ssl.SSLError):
        return _tls_failure(where, cause)
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
    if "name" in text.lower() or "getaddrinfo" in text:
        return "this name is not known (DNS)"
    return text or type(cause).__name__


def _reach_hint(service: Service) -> str:
    if service.local or is_loopback(service.url):
        return f"Is the server running? Start it, or set base_url to where it listens (now {service.place})."
    return "Check the network, the proxy settings and base_url."


def _tls_failure(where: str, cause: ssl.SSLError) -> Unavailable:
    words = getattr(cause, "verify_message", "") or getattr(cause, "reason", "") or "the handshake failed"
    hint = "Check the date of this machine and its certificates (package ca-certificates, or SSL_CERT_FILE)."
    if "WRONG_VERSION" in str(cause) or "record layer" in str(cause):
        words, hint = "the server does not speak TLS", "Write http:// instead of https:// in base_url."
    text = f"No safe connection to {where}: {words}."
    return Unavailable(text, transient=False, hint=hint, reason="ssl_cert_verification")
