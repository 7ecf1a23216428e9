"""Who may come in: whoever holds the token, in a browser that was not sent by another page."""

import hmac
import ipaddress
import secrets

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from hermes_platform_tui.web.page import told

__all__ = ["SAFE", "Gate", "is_loopback"]

# xterm.js makes style elements for its colours; everything else comes as files from here.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self' data:; "
    "connect-src 'self' ws://{host} wss://{host}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SAFE = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}
_CLOSED = "Open the address that <code>hermes web</code> printed; it ends in <code>?token=…</code>."
_WRONG = "This token is not valid. It changes each time <code>hermes web</code> starts; open the address it printed."
_ELSEWHERE = "This was asked for by another page or under another name, and is refused."


class Gate:
    """A middleware before every route. The cookie it gives is no use after the server has ended."""

    def __init__(self, token: str, *, exposed: str = "") -> None:
        """``exposed``: the address that other machines reach; empty when only this one does."""
        self._token = token.encode()
        self._exposed = exposed
        self._cookie = secrets.token_urlsafe(32).encode()
        self.port = 0

    @property
    def cookie(self) -> str:
        """The name of the cookie. Browsers keep one jar for all ports of a host."""
        return f"hermes-web-{self.port}"

    def middleware(self) -> Middleware:
        """For aiohttp."""

        @web.middleware
        async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
            try:
                return self._refusal(request) or await handler(request)
            except web.HTTPException as error:
                return _page(error.status, error.reason)

        return guard

    @staticmethod
    async def prepare(request: web.Request, response: web.StreamResponse) -> None:
        """Put the headers on every answer that keep it where it belongs."""
        for name, value in SAFE.items():
            response.headers.setdefault(name, value)
        response.headers.pop("Server", None)

    @staticmethod
    def policy(request: web.Request) -> str:
        """The content security policy of the terminal's page."""
        return _POLICY.format(host=request.host)

    def _refusal(self, request: web.Request) -> web.Response | None:
        """Why not, or the way in; None when the request may pass."""
        if request.method not in ("GET", "HEAD"):
            return _page(405, "There is nothing to send here.")
        if not self._is_own(request):
            return _page(403, _ELSEWHERE)
        if request.path == "/" and "token" in request.query:
            given = request.query.getall("token")
            if len(given) == 1 and hmac.compare_digest(given[0].encode("utf-8", "replace"), self._token):
                return self._welcome(request)
            return _page(403, _WRONG)
        known = request.cookies.get(self.cookie, "").encode("utf-8", "replace")
        return None if hmac.compare_digest(known, self._cookie) else _page(401, _CLOSED)

    def _welcome(self, request: web.Request) -> web.Response:
        if request.headers.get("Sec-Fetch-Site", "none") in ("none", "same-origin"):
            response = web.Response(status=303, headers={"Location": "/"})
        else:  # followed from another page, a redirect would not carry the cookie; our own page's step does
            response = _page(200, 'Go on to <a href="/">the terminal</a>.', onward=True)
        response.set_cookie(self.cookie, self._cookie.decode(), httponly=True, samesite="Strict", path="/")
        return response

    def _is_own(self, request: web.Request) -> bool:
        """Whether the request is under our name, and not another page's."""
        hosts = request.headers.getall("Host", [])
        if len(hosts) != 1 or not self._is_name(hosts[0]):
            return False
        origins = request.headers.getall("Origin", [])
        own = (f"http://{hosts[0]}".lower(), f"https://{hosts[0]}".lower())
        if any(origin.lower() not in own for origin in origins):
            return False
        if request.path == "/ws":
            return len(origins) == 1
        fetched = request.headers.get("Sec-Fetch-Site", "none")
        arriving = request.path == "/" and request.headers.get("Sec-Fetch-Dest", "document") == "document"
        return fetched in ("none", "same-origin") or arriving

    def _is_name(self, host: str) -> bool:
        """Whether a Host header names this server. A name that somebody points here is not one of ours."""
        name, port = _split(host)
        if port != str(self.port) and not (port == "" and self.port == 80):
            return False
        if not self._exposed:
            return is_loopback(name)
        return name == self._exposed.lower() or is_loopback(name) or _is_address(name)


def is_loopback(host: str) -> bool:
    """Whether an address or name reaches only this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def _split(host: str) -> tuple[str, str]:
    """The name and the port of a Host header."""
    if host.startswith("["):
        name, _, rest = host.partition("]")
        return name.lstrip("[").lower(), rest.removeprefix(":")
    name, _, port = host.partition(":")
    return name.lower(), port


def _page(status: int, text: str, *, onward: bool = False) -> web.Response:
    return web.Response(status=status, text=told(text, onward=onward), content_type="text/html", charset="utf-8")
