"""The only way out of a wall is the proxy, and it leads to named hosts."""

import asyncio
import shutil
import ssl
from pathlib import Path

import pytest

from hermes_backend_wall.plan import Plan
from hermes_backend_wall.proxy.rules import Rule, Rules
from hermes_backend_wall.proxy.server import Proxy

pytestmark = pytest.mark.real

CERTIFICATE = Path(__file__).parent / "proxy" / "localhost.pem"


@pytest.fixture
async def site():
    """A server of TLS outside of the wall; its port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)

    async def answer(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\nConnection: close\r\n\r\noutside")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
    yield server.sockets[0].getsockname()[1]
    server.close()


@pytest.fixture
async def passages():
    return []


@pytest.fixture
async def proxy(site, passages):
    async def look_up(host, port):
        return ["127.0.0.1"]

    rules = Rules([Rule.read(f"one.localhost:{site}", private=True, source="test")])
    proxy = Proxy(rules, on_passage=passages.append, lookup=look_up)
    yield proxy
    await proxy.close()


@pytest.fixture
def plan(kind, person, tmp_path, proxy):
    return Plan(kind=kind, homes=tmp_path / "homes", hidden=(person / ".hermes",), on_connection=proxy.serve)


async def test_a_named_host_is_reached_and_no_other(bash, folder, site, passages):
    shutil.copy(CERTIFICATE, folder / "ca.pem")
    curl = "curl -sS --max-time 20 --cacert ca.pem --noproxy ''"
    assert await bash(f"{curl} https://one.localhost:{site}/") == (0, "outside")
    status, out = await bash(f"{curl} https://two.localhost:{site}/")
    assert status
    assert "403" in out
    assert [p.allowed for p in passages if p.over] == [True]


async def test_there_is_no_way_past_it(bash, folder, site):
    shutil.copy(CERTIFICATE, folder / "ca.pem")
    curl = "env -i PATH=$PATH curl -sS --max-time 5 --cacert ca.pem"
    status, out = await bash(f"{curl} --resolve one.localhost:{site}:127.0.0.1 https://one.localhost:{site}/")
    assert status
    assert "outside" not in out
