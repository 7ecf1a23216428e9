"""Whatever goes wrong becomes the one right error, with words a person can act on."""

import asyncio
import json
import socket
from email.utils import formatdate
from time import time

import pytest

from hermes_core.errors import AuthError, ContextTooLong, RateLimited, Refused, Unavailable

KEY = "sk-ant-test-1234567890"


def said(kind: str, message: str) -> str:
    return json.dumps({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"})


TABLE = [
    (401, said("authentication_error", f"invalid x-api-key {KEY}"), AuthError, "ANTHROPIC_API_KEY"),
    (403, said("permission_error", "Your key may not use this"), AuthError, ""),
    (402, said("billing_error", "Check your payment"), Refused, "credit"),
    (400, said("invalid_request_error", "Your credit balance is too low to access the API"), Refused, "credit"),
    (400, said("invalid_request_error", "You have reached your specified API usage limits."), Refused, "credit"),
    (400, said("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"), ContextTooLong, ""),
    (
        400,
        said("invalid_request_error", "input length and `max_tokens` exceed context limit: 1 + 2 > 2"),
        ContextTooLong,
        "",
    ),
    (413, said("request_too_large", "Request exceeds the maximum size"), ContextTooLong, "compact"),
    (413, "", ContextTooLong, ""),
    (400, said("invalid_request_error", "tools.0.name: bad pattern"), Refused, "bad pattern"),
    (404, said("not_found_error", "model: m"), Refused, "--model"),
    (404, said("not_found_error", "Not Found"), Unavailable, "base_url"),
    (404, "404 page not found", Unavailable, "/v1/messages"),
    (405, "", Unavailable, "base_url"),
    (409, said("conflict_error", "busy"), Unavailable, ""),
    (429, said("rate_limit_error", "Slow down"), RateLimited, ""),
    (500, said("api_error", "Internal server error"), Unavailable, ""),
    (504, said("timeout_error", "Timed out"), Unavailable, ""),
    (529, said("overloaded_error", "Overloaded"), Unavailable, "Try again"),
    (302, "", Unavailable, "elsewhere"),
    (418, "short and stout", Refused, "short and stout"),
]


@pytest.mark.parametrize(("status", "body", "kind", "words"), TABLE)
async def test_each_failure_has_its_error(service, at, ask, reply, status, body, kind, words):
    service.always = reply.http(status, body, location=f"https://x.example/?k={KEY}")
    with pytest.raises(kind) as raised:
        await ask(at())
    assert type(raised.value) is kind
    assert words in str(raised.value)
    assert KEY not in str(raised.value)


@pytest.mark.parametrize(
    ("headers", "low", "high"),
    [
        ({"retry_after": "7"}, 7, 7),
        ({"retry_after": lambda: formatdate(time() + 60, usegmt=True)}, 50, 61),
        ({"retry_after": "soon"}, None, None),
        ({}, None, None),
    ],
)
async def test_how_long_to_wait_is_read(service, at, ask, reply, headers, low, high):
    now = {name: value() if callable(value) else value for name, value in headers.items()}
    service.always = reply.http(429, said("rate_limit_error", "slow down"), **now)
    with pytest.raises(RateLimited) as raised:
        await ask(at())
    wait = raised.value.retry_after
    assert (wait is None) if low is None else (low <= wait <= high)


async def test_an_unknown_model_names_its_neighbors(service, at, hello, reply):
    service.by_path["/v1/models"] = reply.http(200, '{"data": [{"id": "m2"}, {"id": "claude-x"}]}')
    service.always = reply.http(404, said("not_found_error", "model: m"))
    with pytest.raises(Refused, match="Did you mean m2"):
        await anext(at().stream(hello))


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("overloaded_error", Unavailable),
        ("api_error", Unavailable),
        ("rate_limit_error", RateLimited),
        ("authentication_error", AuthError),
        ("request_too_large", ContextTooLong),
        ("invalid_request_error", Refused),
        ("error_of_the_future", Unavailable),
    ],
)
async def test_an_error_in_the_middle_of_a_stream_is_raised_after_what_came_before_it(
    service, at, hello, reply, kind, error
):
    failed = {"type": "error", "error": {"type": kind, "message": "broken"}}
    service.always = reply.sse(reply.begin(), *reply.text(0, "a"), failed)
    stream = at().stream(hello)
    assert (await anext(stream)).text == "a"
    with pytest.raises(error, match="broken"):
        await anext(stream)


async def test_an_error_object_that_came_as_a_success_is_raised(service, at, ask, reply):
    for body, kind in (
        (said("overloaded_error", "Overloaded"), Unavailable),
        ('{"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}', Refused),
        ("[]", Unavailable),
    ):
        service.always = reply.http(200, body)
        with pytest.raises(kind):
            await ask(at("minimax"))


async def test_a_cut_reply_is_not_taken_for_a_whole_one(service, at, ask, reply):
    stream = reply.events(reply.begin(), *reply.text(0, "a")).encode()

    async def cut(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 9999\r\n\r\n" + stream)

    for answer in (
        reply.http(200, stream, "text/event-stream"),
        reply.http(200, stream[:-30], "text/event-stream"),
        cut,
    ):
        service.always = answer
        with pytest.raises(Unavailable) as raised:
            await ask(at())
        assert raised.value.transient


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('event: message_start\ndata: {"type": oops}\n\n', "oops"),
        ("<!doctype html><title>Welcome</title>", "a web page titled “Welcome”"),
        ("", "empty body"),
        ("  \n", "empty body"),
        ("good morning", "good morning"),
        ("{broken", "broken"),
        (": just comments\n\n", "just comments"),
    ],
)
async def test_what_is_no_answer_is_said(service, at, ask, reply, body, words):
    service.always = reply.http(200, body, "text/plain")
    with pytest.raises(Unavailable, match=words):
        await ask(at())


async def test_silence_ends_a_stream(service, at, ask):
    async def hang(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
        await writer.drain()
        await asyncio.Event().wait()

    service.always = hang
    with pytest.raises(Unavailable, match="sent nothing for"):
        await ask(at(timeout=0.05))


async def test_nobody_listening_is_said_with_the_address(at, ask):
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}"
        with pytest.raises(Unavailable, match="Is the server running") as raised:
            await ask(at(base_url=url))
    assert url in str(raised.value)


async def test_a_missing_tls_and_an_unknown_name_are_said(at, ask):
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(plain, "127.0.0.1", 0)
    with pytest.raises(Unavailable, match="http://"):
        await ask(at(base_url=f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"))
    server.close()
    with pytest.raises(Unavailable, match="Cannot connect"):
        await ask(at(base_url="http://no-such-host.invalid"))


async def test_a_hosted_service_without_a_key_is_not_even_asked(named, ask):
    for name, variable in (("anthropic", "ANTHROPIC_API_KEY"), ("minimax", "MINIMAX_API_KEY")):
        with pytest.raises(AuthError, match=variable):
            await ask(named(name))


async def test_a_key_with_stray_characters_is_refused_without_showing_it(at, ask):
    for key in ("sk-abc\nx: y", "sk-“abc”", "sk abc def"):
        with pytest.raises(AuthError) as raised:
            await ask(at(api_key=key))
        assert "abc" not in str(raised.value)


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
