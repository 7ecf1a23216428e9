"""One streamed call: what comes of it however it goes."""

import asyncio
import json

import pytest

from hermes_core.errors import AuthError, ProviderError, Unavailable
from hermes_core.testing.model_service import http, model_service
from hermes_provider_kit.exchange import json_lines, posted
from hermes_provider_kit.failures import Service
from hermes_provider_kit.line import ServiceLine
from hermes_provider_kit.transport import Connection


@pytest.fixture
async def service():
    async with model_service() as made:
        yield made


@pytest.fixture
async def line(service):
    made = ServiceLine(
        key="acme",
        service=Service(title="Acme", url=service.url),
        connection=Connection(service.url, 0.3),
        stale_seconds=0.3,
    )
    yield made
    await made.close()


async def said(line):
    async with posted(line, f"{line.service.url}/chat", {"q": "ü"}, model="m", headers={"x-one": "1"}) as pieces:
        return [one async for one in json_lines(line, pieces)]


async def test_each_line_is_a_value_and_the_last_needs_no_newline(service, line):
    service.always = http(200, '\n{"a": 1}\n\n[2]\n3')
    assert await said(line) == [{"a": 1}, [2], 3]
    [asked] = service.asked
    assert json.loads(asked.raw) == {"q": "ü"}
    assert asked.headers["x-one"] == "1"


async def test_a_refusal_is_the_error_that_says_why(service, line):
    service.always = http(401, '{"error": {"message": "no such key"}}')
    with pytest.raises(AuthError, match="no such key"):
        await said(line)


@pytest.mark.parametrize("body", ['{"a": 1}\n{"b": oops}\n', '{"a": 1}\n{"cut', "<html>"])
async def test_what_is_no_json_is_said(service, line, body):
    service.always = http(200, body)
    with pytest.raises(Unavailable, match="not JSON"):
        await said(line)


async def test_a_service_that_only_breathes_is_given_up(service, line):
    async def breathe(writer):
        writer.write(b"HTTP/1.1 200 X\r\ncontent-length: 1000\r\n\r\n{}\n")
        for _ in range(20):
            writer.write(b"\n")
            await writer.drain()
            await asyncio.sleep(0.1)

    service.always = breathe
    with pytest.raises(Unavailable, match="sent nothing"):
        await said(line)


async def test_a_connection_that_is_lost_is_an_error(service, line):
    async def leave(writer):
        writer.write(b'HTTP/1.1 200 X\r\ncontent-length: 1000\r\n\r\n{"a": 1}\n')
        await writer.drain()
        writer.close()

    service.always = leave
    with pytest.raises(ProviderError, match="closed the connection"):
        await said(line)
