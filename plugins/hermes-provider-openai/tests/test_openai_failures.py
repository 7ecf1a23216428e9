"""Whatever goes wrong becomes the one right error, with words a person can act on."""

import asyncio
import json
import socket
from email.utils import formatdate
from time import time

import pytest

from hermes_core.errors import AuthError, ContextTooLong, RateLimited, Refused, Unavailable, UserError

KEY = "sk-test-1234567890"


def said(message: str, **more: object) -> str:
    """An error as OpenAI sends it: every field is there."""
    rest = {"type": "invalid_request_error", "param": None, "code": None, **more}
    return json.dumps({"error": {"message": message, **rest}})


TABLE = [
    (401, said(f"Incorrect API key provided: {KEY}"), AuthError, "CUSTOM_API_KEY"),
    (403, said("You have no access"), AuthError, ""),
    (402, said("Insufficient Balance"), Refused, "credit"),
    (429, said("You exceeded your current quota", code="insufficient_quota"), Refused, "credit"),
    (429, said("Rate limit reached"), RateLimited, ""),
    (400, said("This model's maximum context length is 8192 tokens"), ContextTooLong, "compact"),
    (400, said("x", code="context_length_exceeded"), ContextTooLong, ""),
    (400, said("the request exceeds the available context size", type="exceed_context_size_error"), ContextTooLong, ""),
    (400, said("prompt is too long: 210000 tokens > 200000 maximum"), ContextTooLong, ""),
    (400, said("The input token count (9999) exceeds the maximum number of tokens allowed"), ContextTooLong, ""),
    (400, said("Range of input length should be [1, 30720]"), ContextTooLong, ""),
    (400, json.dumps({"object": "error", "message": "Please reduce the length of the messages"}), ContextTooLong, ""),
    (413, "", ContextTooLong, ""),
    (500, said("Context size has been exceeded."), ContextTooLong, ""),
    (400, said("max_tokens is too large: 999999. maximum context length"), Refused, ""),
    (400, said("tools.0.name: bad pattern"), Refused, "bad pattern"),
    (400, said("API key not valid. Please pass a valid API key."), AuthError, ""),
    (422, json.dumps({"detail": [{"msg": "field required"}]}), Refused, "field required"),
    (400, said("flagged by our content policy"), Refused, "policy"),
    (500, said("oops"), Unavailable, "oops"),
    (503, "upstream connect error", Unavailable, "upstream connect error"),
    (529, said("Overloaded"), Unavailable, ""),
    (502, "<html><head><title>Bad  Gateway</title></head></html>", Unavailable, "Bad Gateway"),
    (301, "", Unavailable, "base_url"),
    (200, "<!doctype html><title>Log in</title>", Unavailable, "Log in"),
    (200, "", Unavailable, "empty"),
    (200, "all fine here", Unavailable, "all fine here"),
    (200, json.dumps({"error": {"message": "Rate limit reached"}}), RateLimited, ""),
    (200, said("Rate limit reached for m", type="requests", code="rate_limit_exceeded"), RateLimited, ""),
    (200, json.dumps({"code": 1113, "message": "Insufficient balance", "success": False}), Refused, "balance"),
]


@pytest.mark.parametrize(("status", "body", "error", "words"), TABLE)
async def test_each_failure_has_its_error(service, at, ask, reply, status, body, error, words):
    service.always = reply.http(status, body, "text/html" if body.startswith("<") else "application/json")
    with pytest.raises(error) as raised:
        await ask(at())
    assert type(raised.value) is error
    assert words in str(raised.value)
    assert KEY not in str(raised.value)


async def test_passing_faults_are_told_from_lasting_ones(service, at, ask, reply):
    for status, body, transient in ((500, "{}", True), (200, "<html></html>", False), (404, "{}", False)):
        service.always = reply.http(status, body)
        with pytest.raises(Unavailable) as raised:
            await ask(at())
        assert raised.value.transient is transient


@pytest.mark.parametrize(
    ("headers", "low", "high"),
    [
        ({"retry_after": "7"}, 7, 7),
        ({"retry_after_ms": "1500", "retry_after": "9"}, 1.5, 1.5),
        ({"retry_after": lambda: formatdate(time() + 60, usegmt=True)}, 50, 61),
        ({"x_ratelimit_reset_requests": "1m30s", "x_ratelimit_remaining_requests": "0"}, 90, 90),
        ({"x_ratelimit_reset_tokens": "6ms"}, 0.006, 0.006),
        ({"x_ratelimit_reset": lambda: str(int((time() + 60) * 1000))}, 50, 61),
        ({"retry_after": "soon"}, None, None),
        ({}, None, None),
    ],
)
async def test_how_long_to_wait_is_read_in_every_spelling(service, at, ask, reply, headers, low, high):
    now = {name: value() if callable(value) else value for name, value in headers.items()}
    service.always = reply.http(429, said("slow down"), **now)
    with pytest.raises(RateLimited) as raised:
        await ask(at())
    wait = raised.value.retry_after
    assert (wait is None) if low is None else (low <= wait <= high)


async def test_a_wait_in_the_text_is_read(service, at, ask, reply):
    service.always = reply.http(429, said("Rate limit reached. Please try again in 2.5s."))
    with pytest.raises(RateLimited) as raised:
        await ask(at())
    assert raised.value.retry_after == 2.5


async def test_an_unknown_model_names_its_neighbors(service, at, hello, reply):
    service.by_path["/v1/models"] = reply.http(200, json.dumps({"data": [{"id": "qwen3:8b"}, {"id": "m2"}]}))
    service.always = reply.http(404, said("model 'm' not found, try pulling it first"))
    with pytest.raises(Refused, match="m2"):
        await anext(at().stream(hello))


async def test_a_wrong_path_hints_at_v1(service, at, hello, reply):
    service.always = reply.http(404, "404 page not found", "text/plain")
    with pytest.raises(Unavailable, match="end with /v1"):
        await anext(at(base_url=service.url.removesuffix("/v1")).stream(hello))


async def test_an_error_in_the_middle_of_a_stream_is_raised(service, at, hello, reply):
    start = 'data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}\n\n'
    for error, kind in (
        ({"code": 502, "message": "Provider returned error", "metadata": {"raw": "boom"}}, Unavailable),
        ({"code": "rate_limit_exceeded", "message": "slow down"}, RateLimited),
        ("overloaded", Unavailable),
        ({"message": "context_length_exceeded"}, ContextTooLong),
    ):
        service.always = reply.sse(start + f"data: {json.dumps({'error': error, 'choices': []})}\n\n")
        stream = at().stream(hello)
        assert (await anext(stream)).text == "a"
        with pytest.raises(kind):
            await anext(stream)


async def test_a_cut_reply_is_not_taken_for_a_whole_one(service, at, ask, reply):
    start = b'data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}\n\n'

    async def cut(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 9999\r\n\r\n" + start)

    for answer in (reply.sse(start), reply.sse(start[:40]), cut):
        service.always = answer
        with pytest.raises(Unavailable) as raised:
            await ask(at())
        assert raised.value.transient
    for reason in ("error", "insufficient_system_resource"):
        event = {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
        service.always = reply.sse(start + f"data: {json.dumps(event)}\n\n".encode())
        with pytest.raises(Unavailable, match=reason):
            await ask(at())


async def test_an_event_that_is_not_json_is_said(service, at, ask, reply):
    service.always = reply.sse('data: {"choices": oops}\n\n')
    with pytest.raises(Unavailable, match="oops"):
        await ask(at())


async def test_silence_ends_a_stream(service, at, ask):
    async def hang(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
        await writer.drain()
        await asyncio.Event().wait()

    service.always = hang
    with pytest.raises(Unavailable, match="sent nothing for"):
        await ask(at(timeout=0.05))


def humming(*sound: bytes, first: bytes = b""):
    """A reply that goes on as long as somebody listens."""

    async def hum(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" + first)
        while not writer.is_closing():
            for one in sound:
                writer.write(one)
            await writer.drain()
            await asyncio.sleep(0.005)

    return hum


def piece(**delta: object) -> bytes:
    event = {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    return f"data: {json.dumps(event)}\n\n".encode()


@pytest.mark.parametrize(
    "sound",
    [b": PROCESSING\n\n", b"\n", b"data: {}\n\n", piece(), piece(content=""), piece(role="assistant", content=None)],
    ids=["comments", "blanks", "empty events", "empty pieces", "no text", "only who speaks"],
)
@pytest.mark.parametrize("first", [b"", piece(content="So")], ids=["at first", "later"])
async def test_keep_alives_alone_are_silence(service, at, ask, sound, first):
    service.always = humming(sound, first=first)
    with pytest.raises(Unavailable, match="sent nothing for") as raised:
        await ask(at(timeout=0.05))
    assert raised.value.reason == "timeout"


@pytest.mark.parametrize(
    "sound",
    [
        piece(content="word "),
        piece(reasoning_content="hm "),
        piece(tool_calls=[{"index": 0, "function": {"arguments": "x"}}]),
    ],
    ids=["words", "thoughts", "arguments"],
)
async def test_a_reply_without_an_end_is_ended(service, at, ask, sound, monkeypatch):
    """The same again would be as long: another is asked instead."""
    monkeypatch.setattr("hermes_provider_kit.replies.WHOLE_FACTOR", 0.1)
    service.always = humming(sound)
    with pytest.raises(Unavailable, match="came to no end") as raised:
        await ask(at(timeout=5.0))
    assert (raised.value.reason, raised.value.transient) == ("timeout", False)


async def test_nobody_listening_is_said_with_the_address(at, ask):
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}/v1"
        with pytest.raises(Unavailable, match="Is the server running") as raised:
            await ask(at(base_url=url))
    assert url in str(raised.value)
    assert raised.value.transient


async def test_an_unknown_name_and_a_missing_tls_are_said(service, at, ask):
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(plain, "127.0.0.1", 0)
    with pytest.raises(Unavailable, match="http://"):
        await ask(at(base_url=f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"))
    server.close()
    with pytest.raises(Unavailable, match="Cannot connect"):
        await ask(at(base_url="http://no-such-host.invalid/v1"))


async def test_a_hosted_service_without_a_key_is_not_even_asked(named, ask):
    with pytest.raises(AuthError, match="OPENROUTER_API_KEY"):
        await ask(named("openrouter"))


async def test_a_key_with_stray_characters_is_refused_without_showing_it(at, ask):
    for key in ("sk-abc\nx: y", "sk-“abc”", "sk abc def"):
        with pytest.raises(AuthError) as raised:
            await ask(at(api_key=key))
        assert "abc" not in str(raised.value)


def test_addresses_that_cannot_be_are_refused_at_once(at, named):
    from hermes_core.types import Endpoint

    for url in ("localhost:8000/v1", "ftp://x/v1", "http://", "http://h:port/v1", "http://a b/v1"):
        with pytest.raises(UserError, match="base_url"):
            named("custom").at(Endpoint(name="custom", base_url=url))
    with pytest.raises(UserError, match=r"model\.base_url"):
        named("custom").at(Endpoint(name="custom"))
    with pytest.raises(UserError, match="protocol"):
        named("custom").at(Endpoint(name="custom", base_url="http://h/v1", protocol="smoke"))
    named("custom").at(Endpoint(name="custom", base_url="http://h/v1/chat/completions/"))


async def test_an_endless_error_body_is_capped(service, at, ask):
    async def endless(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 500 X\r\ncontent-type: text/plain\r\n\r\n")
        while not writer.is_closing():
            writer.write(b"bad " * 10_000)
            await writer.drain()

    service.always = endless
    with pytest.raises(Unavailable) as raised:
        await ask(at())
    assert len(str(raised.value)) < 2000
