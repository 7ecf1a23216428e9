"""A request has one reading, or is refused."""

import h11
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hermes_backend_wall.proxy.refusal import Refusal
from hermes_backend_wall.proxy.requests import end_of_head, read_request, without_hops

GOOD = b"POST http://one.example/a?b HTTP/1.1\r\nHost: one.example\r\nContent-Length: 3\r\n\r\n"


def head(*lines: str, first: str = "GET http://one.example/ HTTP/1.1", host: str = "Host: one.example") -> bytes:
    return "\r\n".join([first, *([host] if host else []), *lines, "", ""]).encode("latin-1")


def test_a_whole_address_and_a_tunnel_are_read() -> None:
    request = read_request(GOOD)
    assert (request.method, request.target.host, request.target.port) == ("POST", "one.example", 80)
    assert request.target.path == "/a?b"
    tunnel = read_request(head(first="CONNECT One.Example.:443 HTTP/1.1", host="Host: one.example:443"))
    assert (tunnel.is_tunnel, tunnel.target.host, tunnel.target.port) == (True, "one.example", 443)


@pytest.mark.parametrize("host", ["one.example", "ONE.example", "one.example:80", "one.example."])
def test_a_host_says_the_same_in_its_spellings(host: str) -> None:
    assert read_request(head(host=f"Host: {host}")).target.host == "one.example"


def test_an_old_client_needs_no_host() -> None:
    assert read_request(b"CONNECT one.example:443 HTTP/1.0\r\n\r\n").is_tunnel


SMUGGLED = {
    "two lengths": head("Content-Length: 3", "Content-Length: 4"),
    "two equal lengths": head("Content-Length: 3", "Content-Length: 3"),
    "a list of lengths": head("Content-Length: 3, 3"),
    "a length with a sign": head("Content-Length: +3"),
    "a length in hex": head("Content-Length: 0x3"),
    "an endless length": head(f"Content-Length: {'9' * 30}"),
    "a length and chunks": head("Content-Length: 3", "Transfer-Encoding: chunked"),
    "two codings": head("Transfer-Encoding: chunked", "Transfer-Encoding: identity"),
    "another coding": head("Transfer-Encoding: gzip, chunked"),
    "a coding with a tab": head("Transfer-Encoding: \x0bchunked"),
    "chunks of an old client": head("Transfer-Encoding: chunked", first="GET http://one.example/ HTTP/1.0"),
    "a space before the colon": head("Content-Length : 3"),
    "a folded header": head("X: a", " Content-Length: 3"),
    "a header without a name": head(": 3"),
    "a header without a colon": head("Content-Length"),
    "a bare line feed": GOOD.replace(b"\r\nContent", b"\nContent"),
    "a bare carriage return": head("X: a\rContent-Length: 3"),
    "a null": head("X: a\x00b"),
    "an empty first line": b"\r\n" + GOOD,
    "two hosts": head("Host: one.example"),
    "another host": head(host="Host: two.example"),
    "another port": head(host="Host: one.example:81"),
    "a host with a name before it": head(host="Host: x@one.example"),
    "a host and a path": head(host="Host: one.example/x"),
    "no host": head(host=""),
    "an empty host": head(host="Host:"),
    "another host of a tunnel": head(first="CONNECT one.example:443 HTTP/1.1", host="Host: two.example:443"),
    "a tunnel with a body": head("Content-Length: 3", first="CONNECT one.example:80 HTTP/1.1"),
    "a tunnel without a port": head(first="CONNECT one.example HTTP/1.1"),
    "a tunnel to an address of the web": head(first="CONNECT http://one.example:443 HTTP/1.1"),
    "a tunnel with a name before it": head(first="CONNECT x@one.example:443 HTTP/1.1"),
    "a port of mail": head(first="CONNECT one.example:25 HTTP/1.1"),
    "a port beyond all": head(first="CONNECT one.example:65536 HTTP/1.1"),
    "an odd spelling of an address": head(first="CONNECT 0x7f.1:443 HTTP/1.1"),
    "a path alone": head(first="GET / HTTP/1.1"),
    "an asterisk": head(first="OPTIONS * HTTP/1.1"),
    "https to be opened here": head(first="GET https://one.example/ HTTP/1.1"),
    "a name before the host": head(first="GET http://x@one.example/ HTTP/1.1"),
    "a backslash": head(first="GET http://one.example\\@two.example/ HTTP/1.1"),
    "a fragment": head(first="GET http://one.example/#x HTTP/1.1"),
    "two spaces": head(first="GET  http://one.example/ HTTP/1.1"),
    "a tab": head(first="GET\thttp://one.example/ HTTP/1.1"),
    "a third word": head(first="GET http://one.example/ x HTTP/1.1"),
    "HTTP/0.9": head(first="GET http://one.example/"),
    "HTTP/2": head(first="GET http://one.example/ HTTP/2.0"),
    "a small method": head(first="get http://one.example/ HTTP/1.1"),
    "the host taken away": head("Connection: close, Host"),
    "the length taken away": head("Connection: content-length", "Content-Length: 3"),
    "too many headers": head(*["X: y"] * 200),
}


@pytest.mark.parametrize("data", SMUGGLED.values(), ids=SMUGGLED)
def test_what_two_programs_read_differently_is_refused(data: bytes) -> None:
    with pytest.raises(Refusal):
        read_request(data[: end_of_head(data, 32_768)])


def test_a_head_is_bounded_and_looked_at_once() -> None:
    assert end_of_head(GOOD[:-1], 1_000) == 0
    assert end_of_head(GOOD, 1_000, seen=len(GOOD) - 1) == len(GOOD)
    assert end_of_head(GOOD + b"abc\n", 1_000) == len(GOOD)
    with pytest.raises(Refusal, match="more than 40 bytes"):
        end_of_head(GOOD[:41], 40)
    with pytest.raises(Refusal, match="more than 40 bytes"):
        end_of_head(GOOD, 40)


def test_headers_of_one_connection_stay_behind() -> None:
    request = read_request(
        head(
            "Connection: keep-alive, X-Mine", "X-Mine: 1", "Proxy-Authorization: Basic x", "Upgrade: h2c", "Accept: */*"
        )
    )
    assert without_hops(request.headers) == [(b"host", b"one.example"), (b"accept", b"*/*")]


LINES = st.lists(
    st.sampled_from(
        ["Content-Length: 3", "Content-Length: 0", "Transfer-Encoding: chunked", "X: y", "Connection: close", "A:b"]
    )
    | st.text(st.characters(max_codepoint=255), max_size=20),
    max_size=4,
)


@given(lines=LINES, junk=st.binary(max_size=200))
@example(lines=[], junk=b"\r\n\r\n")
def test_what_is_accepted_reads_the_same_to_another_parser(lines: list[str], junk: bytes) -> None:
    for data in (head(*lines), junk, GOOD[:40] + junk + b"\r\n\r\n"):
        try:
            end = end_of_head(data, 32_768)
            request = read_request(data[:end]) if end else None
        except Refusal:
            continue
        if request is None:
            continue
        other = h11.Connection(h11.SERVER)
        other.receive_data(data[:end])
        event = other.next_event()
        assert isinstance(event, h11.Request)
        assert event.method.decode() == request.method
        assert [(bytes(n), bytes(v)) for n, v in event.headers] == list(request.headers)
