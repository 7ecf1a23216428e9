"""What every provider over HTTP relies on: addresses, headers, one client per loop, bodies with an end."""

import asyncio
import ssl
from pathlib import Path

import httpx2
import pytest

from hermes_core.errors import AuthError, Unavailable, UserError
from hermes_core.types import Blob, Message, Request, Text, ToolResult
from hermes_provider_kit import replies
from hermes_provider_kit.failures import Service
from hermes_provider_kit.listing import fetch_json
from hermes_provider_kit.replies import Patience, broken_event, drain, first_bytes, names_files, read_capped
from hermes_provider_kit.surrogates import mend, split_half
from hermes_provider_kit.transport import Connection, check_address, is_loopback, network_failure, request_headers

CERTIFICATE = Path(__file__).parents[2] / "hermes-tool-kit" / "tests" / "pinned.example.pem"
HERE = Service(title="Acme", url="https://api.acme.example", variables=("ACME_API_KEY",))


async def pieces(*parts: bytes):
    for part in parts:
        yield part


def test_the_paths_of_requests_are_taken_off_an_address(subtests: pytest.Subtests) -> None:
    rows = {
        " https://a.example/v1/ ": "https://a.example",
        "https://a.example/v1/messages": "https://a.example",
        "https://a.example/v1//models/": "https://a.example",
        "http://127.0.0.1:1234/x": "http://127.0.0.1:1234/x",
    }
    for given, meant in rows.items():
        with subtests.test(given):
            assert check_address("acme", given, endings=("/messages", "/models", "/v1"), example="-") == meant


@pytest.mark.parametrize("url", ["", "acme", "ftp://a.example", "https://", "https://a.example:x", "https://a b.test"])
def test_what_is_no_address_is_refused_with_an_example(url: str) -> None:
    with pytest.raises(UserError, match="that is no address") as refused:
        check_address("acme", url, endings=(), example="https://a.example/v1")
    assert refused.value.hint == "Set providers.acme.base_url to something like https://a.example/v1."


def test_what_is_on_this_machine(subtests: pytest.Subtests) -> None:
    rows = {
        "http://localhost:1": True,
        "http://127.9.9.9": True,
        "http://[::1]:80": True,
        "http://a.localhost": True,
        "http://127.example.com": True,  # a name that begins so is trusted with a proxy's absence, with nothing else
        "http://localhost.example": False,
        "https://10.0.0.1": False,
    }
    for url, here in rows.items():
        with subtests.test(url):
            assert is_loopback(url) is here


def test_later_headers_win_whatever_their_case() -> None:
    made = request_headers(HERE, {"X-Own": "1", "Content-Type": "a"}, {"x-own": "2"})
    assert made["x-own"] == "2"
    assert made["content-type"] == "a"
    assert made["user-agent"].startswith("Hermes/")


@pytest.mark.parametrize("key", ["sk-ä", "sk 1", "sk\n1", "sk\x7f"])
def test_a_key_that_no_header_can_hold_is_refused_and_not_shown(key: str) -> None:
    with pytest.raises(AuthError) as refused:
        request_headers(Service(title="Acme", key=key))
    assert key not in str(refused.value)


def test_each_event_loop_has_a_client_of_its_own() -> None:
    connection = Connection("http://127.0.0.1:9", 1.0)

    async def client() -> httpx2.AsyncClient:
        assert connection.client() is connection.client()
        return connection.client()

    first, second = asyncio.run(client()), asyncio.run(client())
    assert first is not second


async def test_a_connection_that_was_closed_begins_anew_and_follows_nobody() -> None:
    connection = Connection("http://127.0.0.1:9", 1.0)
    first = connection.client()
    assert not first.follow_redirects
    await connection.close()
    await connection.close()
    assert first.is_closed
    assert connection.client() is not first
    await connection.close()


async def test_a_request_like_the_last_one_is_as_the_client_builds_it() -> None:
    connection, url = Connection("http://127.0.0.1:9", 1.0), httpx2.URL("http://127.0.0.1:9/v1/chat")
    headers = {"authorization": "Bearer k", "accept": "text/event-stream"}
    asked = [
        (b"one", headers),
        (b"twenty-two", headers),
        (b"x", {**headers, "authorization": "Bearer other"}),
        (b"", {}),
    ]
    for data, named in [*asked, *asked]:
        made = connection.request(url, data, named)
        built = connection.client().build_request("POST", url, content=data, headers=named)
        assert (made.method, made.url, made.headers.raw) == (built.method, built.url, built.headers.raw)
        assert (made.extensions, await made.aread()) == (built.extensions, data)
    connection.client().cookies.set("session", "7")
    assert connection.request(url, b"", {}).headers["cookie"] == "session=7"
    await connection.close()


async def test_a_client_of_plain_http_trusts_no_certificate() -> None:
    server, heard = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), asyncio.Event()
    server.load_cert_chain(CERTIFICATE)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if await reader.read(1):
            heard.set()
        writer.close()

    connection = Connection("http://127.0.0.1:9", 1.0)
    async with await asyncio.start_server(serve, "127.0.0.1", 0, ssl=server) as listening:
        port = listening.sockets[0].getsockname()[1]
        with pytest.raises(httpx2.ConnectError, match="certificate verify failed"):
            await connection.client().get(f"https://127.0.0.1:{port}/")
    assert not heard.is_set()
    await connection.close()


async def test_a_proxy_of_the_environment_is_used_for_all_that_is_not_here(monkeypatch) -> None:
    asked: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")[0])
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as listening:
        here = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        monkeypatch.setenv("HTTP_PROXY", here)
        for address in ("http://api.acme.example/v1", f"{here}/v1"):
            connection = Connection(address, 5.0)
            assert (await connection.client().get(f"{address}/models")).is_success
            await connection.close()
    assert asked == [b"GET http://api.acme.example/v1/models HTTP/1.1", b"GET /v1/models HTTP/1.1"]


async def test_what_comes_first_is_found_behind_blanks_and_a_mark(monkeypatch) -> None:
    assert await first_bytes(pieces(b"\xef\xbb\xbf", b" \n", b"{}", b"more")) == b" \n{}"
    assert await first_bytes(pieces()) == b""
    monkeypatch.setattr(replies, "FIRST_CAP", 8)
    rest = pieces(*[b"    "] * 9)
    assert await first_bytes(rest) == b" " * 8
    assert [piece async for piece in rest] == [b"    "] * 7


async def test_a_body_without_an_end_is_read_to_the_limit() -> None:
    rest = pieces(b"abc", b"def", b"ghi")
    assert await read_capped(rest, 4) == "abcd"
    assert [piece async for piece in rest] == [b"ghi"]
    assert await read_capped(pieces(b"\xff")) == "\ufffd"


async def test_the_end_of_a_body_is_not_waited_for_long_and_fails_nothing(monkeypatch) -> None:
    monkeypatch.setattr(replies, "CLOSE_SECONDS", 0.01)

    async def endless():
        await asyncio.Event().wait()
        yield b""

    async def broken():
        raise httpx2.ReadError("gone")
        yield b""

    await drain(endless())
    await drain(broken())


def test_a_service_that_only_stays_is_given_up(monkeypatch) -> None:
    now = [0.0]
    monkeypatch.setattr(replies.time, "monotonic", lambda: now[0])
    patience = Patience(HERE, 10)
    for now[0], something in ((9.0, False), (10.0, True), (20.0, False)):
        patience.hear(something=something)
    now[0] = 20.1
    with pytest.raises(Unavailable, match="sent nothing for 10 s") as given_up:
        patience.hear(something=False)
    assert given_up.value.reason == "timeout"


@pytest.mark.parametrize("how", ["for ever", "quickly"])
def test_a_reply_without_an_end_is_ended_in_time_and_in_bytes(monkeypatch, how) -> None:
    now = [0.0]
    monkeypatch.setattr(replies.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(replies, "WHOLE_BYTES", 1000)
    patience = Patience(HERE, 10)
    for now[0] in range(0, 300, 5):
        patience.hear(something=True, size=10)
    now[0], size = (301.0, 1) if how == "for ever" else (300.0, 500)
    with pytest.raises(Unavailable, match="came to no end") as ended:
        patience.hear(something=True, size=size)
    assert not ended.value.transient


async def test_blanks_before_a_reply_are_waited_for_no_longer_than_was_agreed(monkeypatch) -> None:
    now = [0.0]
    monkeypatch.setattr(replies.time, "monotonic", lambda: now[0])

    async def blanks():
        while True:
            now[0] += 4
            yield b"\n"

    with pytest.raises(Unavailable, match="sent nothing for 10 s"):
        await first_bytes(blanks(), Patience(HERE, 10))


def test_pictures_are_found_in_results_of_tools_too() -> None:
    picture = Blob(media_type="image/png", data=b"x")
    for parts, found in (
        ((Text(text="a"),), False),
        ((picture,), True),
        ((ToolResult(call_id="1", name="look", parts=(Text(text="a"), picture)),), True),
    ):
        assert names_files(Request(model="m", messages=(Message(role="user", parts=parts),))) is found


def test_an_event_that_is_broken_is_shown_short_and_without_the_key() -> None:
    error = broken_event(Service(title="Acme", key="sk-secret-0123456789"), "{ sk-secret-0123456789 " + "x" * 900)
    assert "sk-secret" not in error.text
    assert len(error.text) < 300
    assert "nested too deeply" in broken_event(HERE, "").text


@pytest.mark.parametrize(
    ("error", "said", "reason"),
    [
        (httpx2.ReadTimeout("x"), "sent nothing for 3 s", "timeout"),
        (httpx2.ConnectTimeout("x"), "did not answer within 15 s", "timeout"),
        (httpx2.ConnectError("Name or service not known"), "this name is not known", ""),
        (httpx2.ConnectError("All connection attempts failed"), "nobody listens there", ""),
        (httpx2.ProxyError("407"), "proxy", ""),
        (httpx2.UnsupportedProtocol("x"), "cannot be asked", "wrong_address"),
        (httpx2.RemoteProtocolError("x"), "closed the connection", ""),
        (httpx2.DecodingError("x"), "cannot be unpacked", ""),
        (ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong version"), "does not speak TLS", "ssl_cert_verification"),
        (OSError("odd"), "failed: OSError", ""),
    ],
)
def test_a_network_that_fails_is_told_in_words(error: Exception, said: str, reason: str) -> None:
    made = network_failure(HERE, error, 3.0)
    assert said in made.text
    assert "Acme at https://api.acme.example" in made.text
    assert not reason or made.reason == reason


async def test_a_list_is_json_or_an_error_that_says_why_not() -> None:
    replied = {"status": 200, "body": b'{"data": []}'}

    async def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(replied["status"], content=replied["body"])

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as client:

        async def ask() -> object:
            return await fetch_json(client, "https://a.example/models", headers={}, service=HERE, seconds=1)

        assert await ask() == {"data": []}
        replied["body"] = b"<html><title>Login</title>"
        with pytest.raises(Unavailable, match="web page"):
            await ask()
        replied["body"] = b"[" * 100_000
        with pytest.raises(Unavailable):
            await ask()
        replied.update(status=401, body=b'{"error": "no"}')
        with pytest.raises(AuthError):
            await ask()


def test_halves_of_characters_are_joined_or_replaced() -> None:
    assert mend("plain") == "plain"
    assert mend("\ud83d\ude00") == "\U0001f600"
    assert mend("a\ud83d") == "a\ufffd"
    assert split_half("a\ud83d") == ("a", "\ud83d")
    assert split_half("a\ude00") == ("a\ude00", "")
    assert split_half("") == ("", "")
