"""A service that is logged in to, the proxy before it, and programs that ask."""

import asyncio
import json

import pytest

from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import plugin_context
from hermes_core.testing.contract_base import manifest_path
from hermes_core.testing.model_service import http, model_service
from hermes_login.kept import Kept, Logins
from hermes_login.renewing import Login
from hermes_login.service import load_service
from hermes_login.testing import AuthServer
from hermes_login.tokens import Tokens
from hermes_platform_proxy.app import App
from hermes_platform_proxy.key import key_of
from hermes_platform_proxy.server import listen, serve
from hermes_platform_proxy.upstream import Upstream

BODY = b'{"model": "m", "messages": [{"role": "user", "content": "Hi."}]}'
ANSWER = {"choices": [{"message": {"role": "assistant", "content": "Hello."}}]}


@pytest.fixture
async def server():
    """An authorization server whose service answers to tokens that are good."""
    async with model_service("") as service:
        made = AuthServer(service, service.url)
        made.install()
        made.scope = "inference:invoke"
        made.refresh_header = "x-nous-refresh-token"

        async def answer(writer):
            good = made.is_good(service.asked[-1].headers.get("authorization", "").removeprefix("Bearer "))
            writer.write(http(200, json.dumps(ANSWER)) if good else http(401, '{"error": {"message": "expired"}}'))
            await writer.drain()

        for path in ("chat/completions", "responses", "embeddings", "completions", "models"):
            service.by_path[f"/v1/{path}"] = answer
        yield made


@pytest.fixture
def ctx(tmp_path):
    """The plugin's context, with nobody logged in yet."""
    return plugin_context(read_manifest(manifest_path("hermes_platform_proxy")), tmp_path)


@pytest.fixture
def enter(server, ctx):
    """``await enter("work")``: somebody is logged in with that account; the tokens."""

    async def run(account="default", **over):
        access, refresh = server.minted()
        said = {"client_id": server.client_id, "token_url": f"{server.url}/token", "base_url": f"{server.url}/v1"}
        said = {**said, "device_url": f"{server.url}/device", "hosts": ["127.0.0.1"], **over}
        service = load_service("nous-oauth", said)
        tokens = Tokens(access=access, refresh=refresh)
        login = Login(service, Logins.of_home(ctx.paths.data.parent), account, again="")
        await login.keep(Kept(token_url=service.token_url, tokens=tokens, over=said))
        return tokens

    return run


class Program:
    """A program on this machine that was given the key."""

    def __init__(self, port, key):
        self.port, self.key = port, key

    async def open(self, path="/v1/chat/completions", *, method="POST", body=BODY, **headers):
        """Send a request; the reader and the writer of its connection."""
        said = {"host": f"127.0.0.1:{self.port}", "authorization": f"Bearer {self.key}", "connection": "close"}
        said = {**said, "content-length": str(len(body)), **{k.replace("_", "-"): v for k, v in headers.items()}}
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        head = "\r\n".join([f"{method} {path} HTTP/1.1", *(f"{k}: {v}" for k, v in said.items() if v), "", ""])
        writer.write(head.encode() + body)
        return reader, writer

    async def ask(self, *args, **headers):
        """Send a request: the status, and all that came."""
        reader, writer = await self.open(*args, **headers)
        reply = await reader.read()
        writer.close()
        return int(reply.split()[1]), reply.decode()


@pytest.fixture
async def program(ctx):
    """A program, and a proxy that serves it."""
    upstream, listening = Upstream(ctx), listen(0)
    port = listening.getsockname()
    assert port[0] == "127.0.0.1"
    stop, ready = [], asyncio.Event()

    def up(end):
        stop.append(end)
        ready.set()

    key = key_of(ctx.secrets)
    task = asyncio.create_task(serve(App(ctx, upstream, key), listening, up=up))
    await ready.wait()
    yield Program(port[1], key)
    stop[0]()
    await task
    await upstream.close()
