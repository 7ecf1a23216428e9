"""The head of a request to a proxy, read strictly: RFC 9112, without what it merely tolerates.

Two programs that read one request in two ways are how a request is smuggled past the one to the other. So lines end
with CR LF, nothing is folded, a body has one length, and the ``Host`` says what the request line says. h11 reads the
same head again, and what goes on to the server is written anew.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from hermes_backend_wall.proxy.refusal import Refusal
from hermes_backend_wall.proxy.rules import read_authority
from hermes_core.context import UrlRules
from hermes_core.errors import OutOfReach
from hermes_tool_kit.addresses import CheckedUrl, check_url

__all__ = ["Request", "end_of_head", "read_request", "without_hops"]

MOST_HEADERS = 128
_LOOSE = re.compile(rb"(?<!\r)\n|\r(?!\n|\Z)|\x00")
_LINE = re.compile(rb"([A-Z][A-Z-]{0,31}) ([!-~]{1,8192}) HTTP/1\.([01])")
_HEADER = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}):([\t -~\x80-\xff]*)")
_LENGTH = re.compile(rb"[0-9]{1,18}")
# RFC 9110 7.6.1, and what older programs put there.
_HOPS = frozenset(
    b"connection keep-alive proxy-connection proxy-authenticate proxy-authorization te trailer transfer-encoding "
    b"upgrade http2-settings".split()
)
_NEVER_HOPS = frozenset(b"host content-length content-type content-encoding authorization expect".split())

Headers = Sequence[tuple[bytes, bytes]]


class Request(NamedTuple):
    """A request's head. ``target`` is where it goes; ``headers`` have lower-case names."""

    method: str
    target: CheckedUrl
    headers: Headers

    @property
    def is_tunnel(self) -> bool:
        """Whether bytes are to be passed on unread."""
        return self.method == "CONNECT"

    def values(self, name: bytes) -> list[bytes]:
        """What the headers of a name say."""
        return [value for key, value in self.headers if key == name]


def end_of_head(data: bytes, limit: int, seen: int = 0) -> int:
    """How many bytes the head has; 0 as long as it is not whole. Raises Refusal for one without end or of loose lines.

    ``limit`` bounds it in bytes; the first ``seen`` of them were looked at before.
    """
    start = max(0, seen - 3)
    end = data.find(b"\r\n\r\n", start)
    if _LOOSE.search(data, start, end + 4 if end >= 0 else len(data)):
        raise Refusal(400, "The lines of the request do not end with CR LF")
    if max(end + 4, len(data) if end < 0 else 0) > limit:
        raise Refusal(431, f"The head of the request has more than {limit} bytes")
    return end + 4 if end >= 0 else 0


def read_request(head: bytes) -> Request:
    """Read a whole head, its blank line included. Raises Refusal."""
    first, *lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    line = _LINE.fullmatch(first)
    if not line:
        raise Refusal(400, "The request line has no method, target and HTTP/1.1 between single spaces")
    if len(lines) > MOST_HEADERS:
        raise Refusal(431, f"The request has more than {MOST_HEADERS} headers")
    headers = [_header(text) for text in lines]
    method, written, minor = line[1].decode(), line[2].decode(), line[3]
    request = Request(method, _target(method, written), headers)
    _check_host(request, required=minor == b"1")
    _check_length(request, old=minor == b"0")
    return request


def _header(text: bytes) -> tuple[bytes, bytes]:
    match = _HEADER.fullmatch(text)
    if not match:
        raise Refusal(400, "A header of the request is malformed, or goes on in a second line")
    return match[1].lower(), match[2].strip(b" \t")


def _target(method: str, written: str) -> CheckedUrl:
    try:
        if method == "CONNECT":
            return read_authority(written)
        if not re.match(r"(?i:http)://", written):
            raise Refusal(400, "A proxy is asked by CONNECT host:port, or with the whole http:// address")
        target = check_url(written, UrlRules(allow_private=True))
    except OutOfReach as error:
        raise Refusal(403, error.text.rstrip(".")) from error
    if "#" in written:
        raise Refusal(400, "The address of the request has a fragment")
    return target


def _check_host(request: Request, *, required: bool) -> None:
    hosts = request.values(b"host")
    if len(hosts) > 1 or (required and not hosts):
        raise Refusal(400, "The request has no Host header, or several")
    if not hosts:
        return
    written = hosts[0].decode("latin-1")
    named = written if re.search(r":[0-9]+\Z", written) else f"{written}:{request.target.port}"
    try:
        same = read_authority(named, request.target.scheme)[1:3] == request.target[1:3]
    except OutOfReach:
        same = False
    if not same:
        raise Refusal(400, "The Host header names another host than the request line")


def _check_length(request: Request, *, old: bool) -> None:
    lengths, codings = request.values(b"content-length"), request.values(b"transfer-encoding")
    if len(lengths) + len(codings) > 1:
        raise Refusal(400, "The request says the length of its body twice")
    if any(not _LENGTH.fullmatch(length) for length in lengths):
        raise Refusal(400, "The length of the request's body is no number")
    if codings and (old or codings[0].lower() != b"chunked"):
        raise Refusal(400, "The body of the request comes in an encoding that is not read here")
    if request.is_tunnel and (codings or any(length.strip(b"0") for length in lengths)):
        raise Refusal(400, "A CONNECT has no body")
    if _named_hops(request.headers) & _NEVER_HOPS:
        raise Refusal(400, "The Connection header takes away what the server needs")


def _named_hops(headers: Headers) -> set[bytes]:
    named = b",".join(value for name, value in headers if name.lower() == b"connection")
    return {token.strip(b" \t").lower() for token in named.split(b",")}


def without_hops(headers: Headers) -> list[tuple[bytes, bytes]]:
    """The headers that go on: without those that are for this connection alone."""
    away = _HOPS | _named_hops(headers)
    return [(name, value) for name, value in headers if name.lower() not in away]
