"""Connections of people who send nothing, slowly, or too many of them."""

import asyncio
import contextlib
import resource
import subprocess
import sys
import time

import pytest

from hermes_platform_api import connections
from hermes_platform_api.connections import most_connections

BODY = {"model": "hermes", "messages": [{"role": "user", "content": "Hi."}]}
HEAD = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer owners-key-0123456789\r\n"


@contextlib.asynccontextmanager
async def many(url, number, said=b""):
    """So many connections that say only this; what each was told at its end is asked of ``told``."""
    host, port = url.removeprefix("http://").rsplit(":", 1)
    pairs = [await asyncio.open_connection(host, int(port)) for _ in range(number)]
    for _, writer in pairs:
        if said:
            writer.write(said)
    try:
        yield [reader for reader, _ in pairs]
    finally:
        for _, writer in pairs:
            writer.transport.abort()


async def told(reader):
    with contextlib.suppress(ConnectionError):
        async with asyncio.timeout(10):
            return await reader.read()
    return b""


@pytest.fixture
def quick(monkeypatch):
    """Time-outs that a test can wait for."""
    monkeypatch.setattr(connections, "_HEAD_SECONDS", 0.3)
    monkeypatch.setattr(connections, "_SILENCE_SECONDS", 0.3)


async def test_the_many_who_send_nothing_give_way(serve, scripted):
    """A third of them say nothing, a third begin a head, a third a body; who asks is answered."""
    body = HEAD + b"Content-Length: 5000\r\n\r\n{"
    async with (
        serve(scripted("One."), {"platforms.api.max_connections": 30}) as server,
        server.http() as http,
        many(server.url, 40),
        many(server.url, 40, HEAD),
        many(server.url, 40, body),
    ):
        for _ in range(5):
            assert (await http.get("/health")).json() == {"status": "ok"}
        answer = await http.post("/v1/chat/completions", json=BODY)
        assert answer.status_code == 200


async def test_where_all_are_at_work_the_next_is_told_to_come_again(serve, scripted):
    model, go = scripted("One.", "Two."), asyncio.Event()
    stream = model.stream

    async def held(request):
        await go.wait()
        async for delta in stream(request):
            yield delta

    model.stream = held
    said = b'{"model": "hermes", "messages": [{"role": "user", "content": "Hi."}]}'
    whole = HEAD + f"Content-Type: application/json\r\nContent-Length: {len(said)}\r\n\r\n".encode() + said
    served = serve(model, {"platforms.api.max_connections": 2})
    async with served as server, many(server.url, 2, whole) as working:
        await server.until(lambda: server.running == 2)
        async with many(server.url, 1, b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n") as (more,):
            assert (await told(more)).startswith(b"HTTP/1.1 503")
        go.set()
        for reader in working:
            assert (await reader.readline()).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (b"", b"HTTP/1.1 408"),
        (HEAD, b"HTTP/1.1 408"),
        (HEAD + b"Content-Length: 100\r\n\r\n{", b"HTTP/1.1 408"),
        (b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n\r\n", b"HTTP/1.1 200"),
    ],
)
async def test_who_sends_no_more_is_let_go(serve, scripted, quick, said, answer):
    async with serve(scripted()) as server, many(server.url, 1, said) as (reader,):
        assert (await told(reader)).startswith(answer)


async def test_a_body_by_drops_is_let_go(serve, scripted, quick, monkeypatch):
    monkeypatch.setattr(connections, "_SLOWEST", 1000)
    async with serve(scripted()) as server:
        host, port = server.url.removeprefix("http://").rsplit(":", 1)
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(HEAD + b"Content-Length: 5000\r\n\r\n")

        async def drip():
            with contextlib.suppress(ConnectionError):
                while True:
                    writer.write(b" ")
                    await writer.drain()
                    await asyncio.sleep(0.02)

        dripping = asyncio.create_task(drip())
        assert (await told(reader)).startswith(b"HTTP/1.1 408")
        dripping.cancel()
        writer.transport.abort()


def test_no_more_than_the_system_allows(monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda _: (100, 1000))
    assert most_connections(500) == 50
    assert most_connections(10) == 10
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, 0))
    assert most_connections(500) == 500


@pytest.mark.long
def test_eleven_hundred_half_open_connections_leave_it_quick(tmp_path):
    """The real command, with as many descriptors as systems give by default."""
    (tmp_path / "config.yaml").write_text("model: {provider: offline}\nplatforms: {api: {port: 0}}\n")
    script = (
        "import resource, os, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024));"
        "os.execv(sys.executable, [sys.executable, '-m', 'hermes_core', 'api'])"
    )
    env = {"HERMES_HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", script], env=env, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr
            line = next(line for line in server.stderr if "listens on" in line)
            url = line.split(" on ")[1].strip().removesuffix("/v1")
            asyncio.run(_half_open(url))
        finally:
            server.terminate()
        assert len(server.stderr.read()) < 10_000


async def _half_open(url):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    async with many(url, 1_100, HEAD):
        for _ in range(10):
            began = time.monotonic()
            async with many(url, 1, b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n") as (reader,):
                assert (await reader.readline()).startswith(b"HTTP/1.1 200")
            assert time.monotonic() - began < 5  # it took as long as they stayed
