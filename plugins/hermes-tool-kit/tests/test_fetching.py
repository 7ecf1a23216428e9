"""Fetching over real sockets on loopback: redirects, names that change their mind, and servers that mean ill."""

import asyncio
import gzip
import ssl
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_core.context import UrlRules
from hermes_core.errors import OutOfReach, ToolError
from hermes_core.testing.leftovers import Traces
from hermes_tool_kit import fetching
from hermes_tool_kit.addresses import check_url, refused_address, resolve
from hermes_tool_kit.fetching import fetch

from .loopback import Loopback, page

HERE = UrlRules(allow_private=True)
CERTIFICATE = Path(__file__).parent / "pinned.example.pem"


def names(table: dict[str, list[list[str]]], asked: list[str] | None = None) -> UrlRules:
    """Rules of a person who allows private addresses, with a resolver that goes on to the next answer each time."""

    async def lookup(host: str, port: int) -> list[str]:
        if asked is not None:
            asked.append(host)
        if host not in table:
            raise OSError(-2, "Name or service not known")
        return table[host].pop(0) if len(table[host]) > 1 else table[host][0]

    return UrlRules(allow_private=True, lookup=lookup)


def strict(table: dict[str, list[list[str]]], asked: list[str] | None = None) -> UrlRules:
    return names(table, asked)._replace(allow_private=False)


async def test_a_page_comes_back_and_nothing_of_the_person_went_along(web, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1/")
    web.pages["/a?b"] = page(b"hello", Content_Type="text/plain", Set_Cookie="id=1")
    answer = await fetch(web.url("/a?b#c"), HERE)
    assert (answer.status, answer.body, answer.cut, answer.moved) == (200, b"hello", "", "")
    assert answer.headers["content-type"] == "text/plain"
    await fetch(web.url("/a?b"), HERE)
    assert "cookie" not in web.requests[1].lower()
    assert "authorization" not in web.requests[1].lower()
    assert web.requests[0].startswith(f"GET /a?b HTTP/1.1\r\nHost: 127.0.0.1:{web.port}\r\nUser-Agent: hermes/")


async def test_without_leave_nothing_is_sent_to_a_private_address(web):
    for host in ("127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]"):
        with pytest.raises(OutOfReach):
            await fetch(web.url(host=host), UrlRules())
    with pytest.raises(OutOfReach, match=r"leads to 127\.0\.0\.1, which is loopback") as refused:
        await fetch(web.url(host="inside.example.org"), strict({"inside.example.org": [["127.0.0.1"]]}))
    assert not refused.value.opened
    assert not web.requests


@pytest.mark.parametrize(
    "answer",
    [
        *(["127.0.0.1"], ["8.8.8.8", "127.0.0.1"], ["::ffff:10.0.0.1"], ["fe80::1%eth0"], ["169.254.169.254"], []),
        *(["junk"], ["2606:4700::1", "fd00::1"], ["64:ff9b::7f00:1"], ["0.0.0.0"], ["100.64.0.1"]),
    ],
)
async def test_one_forbidden_address_refuses_the_name(answer):
    with pytest.raises(OutOfReach):
        await fetch("https://example.org/", strict({"example.org": [answer]}))


async def test_a_name_that_cannot_be_resolved_is_refused():
    with pytest.raises(OutOfReach, match="cannot be resolved"):
        await fetch("https://example.org/", strict({}))


async def test_metadata_stays_closed_with_private_addresses_open():
    for answer in ("169.254.169.254", "fd00:ec2::254", "100.100.100.200", "::ffff:169.254.169.254"):
        with pytest.raises(OutOfReach):
            await fetch("http://example.org/", names({"example.org": [[answer]]}))


async def test_the_name_is_resolved_once_and_the_connection_goes_to_what_was_judged(web):
    """The first answer is fine and the second is not: whoever asked twice would end up at the second."""
    asked: list[str] = []
    web.pages["/"] = page(b"judged")
    rules = names({"rebinding.example.org": [["127.0.0.1"], ["169.254.169.254"]]}, asked)
    answer = await fetch(web.url(host="rebinding.example.org"), rules)
    assert answer.body == b"judged"
    assert asked == ["rebinding.example.org"]
    assert f"Host: rebinding.example.org:{web.port}" in web.requests[0]
    with pytest.raises(OutOfReach):
        await fetch(web.url(host="rebinding.example.org"), rules)


async def test_the_next_address_is_tried_when_one_does_not_answer(web):
    web.pages["/"] = page(b"here")
    rules = names({"two.example.org": [["::1", "127.0.0.1"]]})
    assert (await fetch(web.url(host="two.example.org"), rules)).body == b"here"


async def test_nobody_there_is_said():
    async with Loopback() as gone:
        url = gone.url()
    with pytest.raises(ToolError, match="cannot be reached") as refused:
        await fetch(url, HERE)
    assert not isinstance(refused.value, OutOfReach)


async def test_the_certificate_is_checked_against_the_name_not_the_address(monkeypatch):
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(CERTIFICATE)
    seen: list[str] = []
    server.sni_callback = lambda connection, name, _: seen.append(name)
    client = ssl.create_default_context(cafile=str(CERTIFICATE))
    monkeypatch.setattr(fetching, "_tls", lambda: client)
    async with Loopback(tls=server) as web:
        web.pages["/"] = page(b"safe")
        rules = names({"pinned.example": [["127.0.0.1"]], "other.example": [["127.0.0.1"]]})
        assert (await fetch(web.url(host="pinned.example"), rules)).body == b"safe"
        assert seen == ["pinned.example"]
        with pytest.raises(ToolError, match="cannot be reached"):
            await fetch(web.url(host="other.example"), rules)
        with pytest.raises(ToolError, match="cannot be reached"):
            await fetch(web.url(), HERE)


async def test_a_redirect_on_the_same_site_is_followed(web):
    web.pages["/"] = page(status=302, Location="/b#frag")
    web.pages["/b"] = page(status=301, Location=web.url("/c d", host="www.one.example"))
    web.pages["/c%20d"] = page(b"there")
    rules = names({"one.example": [["127.0.0.1"]], "www.one.example": [["127.0.0.1"]]})
    answer = await fetch(web.url(host="one.example"), rules)
    assert answer.body == b"there"
    assert answer.url == web.url("/c%20d", host="www.one.example")


async def test_a_redirect_to_another_site_is_told_and_only_followed_when_wanted(web):
    web.pages["/"] = page(status=307, Location=web.url("/b", host="two.example"))
    web.pages["/b"] = page(b"there")
    rules = names({"one.example": [["127.0.0.1"]], "two.example": [["127.0.0.1"]]})
    answer = await fetch(web.url(host="one.example"), rules)
    assert (answer.status, answer.body, answer.moved) == (307, b"", web.url("/b", host="two.example"))
    assert len(web.requests) == 1
    assert (await fetch(web.url(host="one.example"), rules, other_sites=True)).body == b"there"


@pytest.mark.parametrize(
    "location",
    [
        *("http://169.254.169.254/latest/", "file:///etc/passwd", "gopher://x/", "http://0x7f.1/", "//127.1/"),
        *("http://a@b/", "http://metadata.google.internal/", "http://[::ffff:a9fe:a9fe]/", "javascript:alert(1)"),
    ],
)
async def test_a_redirect_is_judged_like_the_first_url(web, location):
    web.pages["/"] = page(status=302, Location=location)
    with pytest.raises(OutOfReach, match="redirects to what may not be opened") as refused:
        await fetch(web.url(), HERE, other_sites=True)
    assert refused.value.opened


async def test_a_redirect_to_a_private_name_is_refused_when_it_is_resolved(web):
    """The name looks public; only its address tells. The server at the end sees nothing."""
    asked: list[str] = []
    web.pages["/"] = page(status=302, Location=web.url("/b", host="inside.example.org"))

    async def lookup(host, port):
        asked.append(host)
        return ["127.0.0.1"] if host == "outside.example.org" else ["169.254.169.254"]

    with pytest.raises(OutOfReach) as refused:
        await fetch(web.url(host="outside.example.org"), UrlRules(allow_private=True, lookup=lookup), other_sites=True)
    assert refused.value.opened
    assert asked == ["outside.example.org", "inside.example.org"]
    assert len(web.requests) == 1


async def test_redirects_end(web):
    web.pages["/"] = page(status=302, Location="/")
    with pytest.raises(ToolError, match="redirects more than 3 times"):
        await fetch(web.url(), HERE, redirects=3)
    assert len(web.requests) == 4


async def test_https_does_not_become_http(monkeypatch):
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(CERTIFICATE)
    client = ssl.create_default_context(cafile=str(CERTIFICATE))
    monkeypatch.setattr(fetching, "_tls", lambda: client)
    async with Loopback(tls=server) as web:
        web.pages["/"] = page(status=302, Location="http://pinned.example/")
        with pytest.raises(OutOfReach, match="from https to http") as refused:
            await fetch(web.url(host="pinned.example"), names({"pinned.example": [["127.0.0.1"]]}), other_sites=True)
        assert refused.value.opened


async def test_a_bomb_is_unpacked_no_further_than_the_limit(web):
    zeros = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join(zeros.compress(b"\0" * 1_000_000) for _ in range(200)) + zeros.flush()
    web.pages["/"] = page(bomb, Content_Encoding="gzip")
    answer = await fetch(web.url(), HERE, limit=1_000_000)
    assert len(answer.body) == 1_000_000
    assert "longer than 1,000,000 bytes" in answer.cut


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", gzip.compress(b"text")),
        ("x-gzip", gzip.compress(b"text")),
        ("deflate", zlib.compress(b"text")),
        ("deflate", zlib.compress(b"text", wbits=-15)),
        ("identity", b"text"),
    ],
    ids=["gzip", "x-gzip", "deflate", "deflate without a header", "identity"],
)
async def test_what_is_packed_is_unpacked(web, encoding, packed):
    web.pages["/"] = page(packed, Content_Encoding=encoding)
    assert (await fetch(web.url(), HERE)).body == b"text"


async def test_a_body_without_an_end_is_cut(web):
    async def endless(reader, writer):
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while not writer.is_closing():
            writer.write(b"x" * 65_536)
            await writer.drain()

    web.pages["/"] = endless
    assert len((await fetch(web.url(), HERE, limit=500_000)).body) == 500_000


async def test_packed_nothing_without_an_end_is_cut(web):
    """Empty blocks unpack to nothing, so only what was sent can be counted."""

    async def endless(reader, writer):
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\n\r\n")
        while not writer.is_closing():
            writer.write(b"\x00\x00\x00\xff\xff" * 10_000)
            await writer.drain()

    web.pages["/"] = endless
    assert (await fetch(web.url(), HERE, limit=500_000)).body == b""


@pytest.mark.parametrize("part", ["head", "body", "tls"])
async def test_a_slow_drip_ends_with_the_time(web, part):
    async def drip(reader, writer):
        if part == "body":
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        while not writer.is_closing():
            writer.write(b"H")
            await writer.drain()
            await asyncio.sleep(0.01)

    web.pages["/"] = drip
    with pytest.raises(ToolError, match="seconds" if part != "tls" else "seconds|reached"):
        await fetch(web.url().replace("http", "https" if part == "tls" else "http"), HERE, seconds=0.3)


async def test_a_body_shorter_than_it_said_is_told(web):
    web.pages["/"] = page(b"half", length=8)
    answer = await fetch(web.url(), HERE)
    assert (answer.body, answer.cut) == (b"half", "the server ended it early")
    web.pages["/"] = page(gzip.compress(b"text" * 100)[:-20], Content_Encoding="gzip")
    assert (await fetch(web.url(), HERE)).cut == "the server ended it early"


async def test_a_body_longer_than_it_said_ends_where_it_said(web):
    web.pages["/"] = page(b"whole and more", length=5)
    assert (await fetch(web.url(), HERE)).body == b"whole"


async def test_chunks_are_put_together(web):
    web.pages["/"] = page(
        b"4\r\nthis\r\n3;x=y\r\n is\r\n0\r\nTrailer: x\r\n\r\n", length=-1, Transfer_Encoding="chunked"
    )
    assert (await fetch(web.url(), HERE)).body == b"this is"
    web.pages["/"] = page(b"4\r\nth", length=-1, Transfer_Encoding="chunked")
    assert (await fetch(web.url(), HERE)).cut == "the server ended it early"


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 999 X\r\n\r\n",
        b"HTTP/1.1 200 X\r\nno header\r\n\r\n",
        b"HTTP/1.1 200 X\r\nA: " + b"x" * 100_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 X\r\n" + b"A: b\r\n" * 20_000 + b"\r\n",
        b"HTTP/1.1 200 X\r\nA: b",
        b"HTTP/1.1 100 X\r\n\r\n" * 20,
        page(b"x", Transfer_Encoding="gzip, chunked"),
        page(b"zz\r\nx", length=-1, Transfer_Encoding="chunked"),
        page(b"-4\r\nx", length=-1, Transfer_Encoding="chunked"),
        page(b"2\r\nlonger\r\n0\r\n\r\n", length=-1, Transfer_Encoding="chunked"),
        page(b"x", length=-1, Content_Length="1x"),
        page(b"x", length=2, content_length="1"),
        page(b"x", Content_Encoding="br"),
        page(b"x", Content_Encoding="gzip, gzip"),
        page(b"not packed", Content_Encoding="gzip"),
        page(status=302, Location="/a", location="/b"),
    ],
    ids=lambda answer: ascii(answer[:40]),
)
async def test_what_is_no_http_is_one_clear_error(web, answer):
    web.pages["/"] = answer
    with pytest.raises(ToolError, match="HTTP") as refused:
        await fetch(web.url(), HERE)
    assert len(str(refused.value)) < 400


async def test_an_error_page_is_an_answer(web):
    assert (await fetch(web.url("/gone"), HERE))[1:2] == (404,)
    web.pages["/"] = page(status=204, length=-1)
    assert (await fetch(web.url(), HERE)).body == b""


async def test_a_cancelled_fetch_leaves_nothing(web):
    async def silent(reader, writer):
        await reader.read()

    web.pages["/"] = silent
    before = Traces.now()
    task = asyncio.create_task(fetch(web.url(), HERE))
    while not web.requests:
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    assert not await before.left()


ADDRESSES = (
    st.ip_addresses().map(str)
    | st.integers(0, 2**32 - 1).map(lambda n: f"::ffff:{n >> 16:x}:{n & 0xFFFF:x}")
    | st.sampled_from(["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fd00::1", "64:ff9b::a00:1", "8.8.8.8"])
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(ADDRESSES, min_size=1, max_size=4), min_size=1, max_size=4))
async def test_whatever_a_resolver_says_and_however_often_it_changes_only_public_addresses_are_opened(answers):
    from ipaddress import ip_address

    opened: list[str] = []

    async def no_network(host, *rest, **options):
        opened.append(host)
        raise OSError("closed for the test")

    real, asyncio.open_connection = asyncio.open_connection, no_network
    try:
        rules = strict({"changing.example.org": [list(a) for a in answers]})
        for _ in answers:
            with pytest.raises(ToolError):
                await fetch("http://changing.example.org/", rules)
    finally:
        asyncio.open_connection = real
    assert not [a for a in opened if refused_address(ip_address(a))]
    fine = [a for a in answers if not any(refused_address(ip_address(x)) for x in a)]
    assert bool(opened) == bool(fine)


async def test_an_address_in_the_url_is_not_looked_up():
    asked: list[str] = []
    assert await resolve(check_url("http://[2606:4700::1111]/", UrlRules()), strict({}, asked)) == ["2606:4700::1111"]
    assert not asked


async def test_an_order_is_sent_as_it_is_and_follows_nothing(web):
    web.pages["/"] = page(status=307, Location="/next")
    order = fetching.Order("POST", {"Authorization": "Bearer x"}, "naïve".encode())
    answer = await fetch(web.url(), HERE, order=order)
    assert answer.status == 307
    assert answer.moved == web.url("/next")
    assert len(web.requests) == 1
    assert web.requests[0].startswith("POST / HTTP/1.1\r\n")
    assert "\r\nAuthorization: Bearer x\r\n" in web.requests[0]
    assert "\r\nContent-Length: 6\r\n" in web.requests[0]
