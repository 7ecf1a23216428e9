"""Programs are answered by a login that they never see, and nobody else is."""

import asyncio
import json

import pytest

from hermes_core.errors import UserError
from hermes_core.testing.model_service import http
from hermes_login.kept import Kept, Logins
from hermes_platform_proxy.app import App
from hermes_platform_proxy.config import Config
from hermes_platform_proxy.key import KEY, key_of
from hermes_platform_proxy.server import listen
from hermes_platform_proxy.service import Proxy
from hermes_platform_proxy.upstream import Upstream
from hermes_provider_kit.limits import Limits, mark_of

PATHS = [
    ("POST", "/v1/chat/completions", b'{"model": "m", "messages": [{"role": "user", "content": "Hi."}]}'),
    ("POST", "/v1/responses", b'{"model": "m", "input": "Hi."}'),
    ("POST", "/v1/embeddings", b'{"model": "m", "input": "Hi."}'),
    ("POST", "/v1/completions", b'{"model": "m", "prompt": "Hi."}'),
    ("GET", "/v1/models", b""),
]


async def test_a_program_is_answered_and_neither_sees_the_others_key(server, enter, program):
    tokens = await enter()
    for method, path, body in PATHS:
        status, reply = await program.ask(f"{path}?limit=5", method=method, body=body, x_evil="1", cookie="a=b")
        assert (status, "Hello." in reply) == (200, True), path
        asked = server.service.asked[-1]
        assert (asked.method, asked.path, asked.raw) == (method, f"{path}?limit=5", body)
        assert asked.headers["authorization"] == f"Bearer {tokens.access}"
        assert asked.headers["user-agent"].startswith("Hermes/")
        assert program.key not in str(asked.headers)
        assert not {"x-evil", "cookie", "origin"} & asked.headers.keys()
        assert not any(secret in reply for secret in (tokens.access, tokens.refresh, program.key))


@pytest.mark.parametrize(
    ("said", "status", "word"),
    [
        ({"authorization": ""}, 401, "proxy --key shows it"),
        ({"authorization": "Bearer "}, 401, "key"),
        ({"authorization": "Bearer hermes-proxy-guess"}, 401, "key"),
        ({"authorization": "Basic abc"}, 401, "key"),
        ({"host": "evil.example"}, 403, "page of the web"),
        ({"host": "127.0.0.1.evil.example"}, 403, "page of the web"),
        ({"origin": "https://evil.example"}, 403, "page of the web"),
        ({"path": "/v1/files"}, 404, "There is only"),
        ({"path": "/v1/../admin"}, 404, "There is only"),
        ({"path": "/v1/models/../../admin"}, 404, "There is only"),
        ({"path": "//evil.example/v1/models"}, 404, "There is only"),
        ({"path": "/v1/chat/completions?a=%0d%0ax&b={"}, 404, "There is only"),
        ({"method": "GET", "body": b""}, 405, "Use POST"),
        ({"method": "DELETE", "path": "/v1/models", "body": b""}, 405, "Use GET"),
    ],
)
async def test_who_is_not_let_in_reaches_nobody(server, enter, program, said, status, word):
    await enter()
    path = said.pop("path", "/v1/chat/completions")
    found, reply = await program.ask(path, **said)
    assert (found, word in reply) == (status, True), reply
    assert json.loads(reply.partition("\r\n\r\n")[2])["error"]["type"]
    assert server.service.asked == []


async def test_an_answer_is_passed_piece_by_piece_and_a_program_that_leaves_ends_it(server, enter, program):
    await enter()
    seen, left = asyncio.Event(), asyncio.Event()

    async def stream(writer):
        writer.write(
            b"HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\nset-cookie: a=b\r\nx-ratelimit-limit: 9\r\n\r\n"
        )
        writer.write(b"data: one\n\n")
        await writer.drain()
        await seen.wait()
        writer.write(b"data: two\n\n")
        await writer.drain()
        while not writer.transport.is_closing():  # until the proxy lets go
            writer.write(b": still there\n\n")
            await asyncio.sleep(0)
            try:
                await writer.drain()
            except OSError:
                break
        left.set()
        return True

    server.service.by_path["/v1/chat/completions"] = stream
    reader, writer = await program.open(accept="text/event-stream")
    head = await reader.readuntil(b"data: one\n\n")
    assert b"text/event-stream" in head
    assert b"x-ratelimit-limit: 9" in head
    assert b"set-cookie" not in head
    seen.set()  # only now the service goes on: nothing was held back
    await reader.readuntil(b"data: two\n\n")
    writer.transport.abort()
    await asyncio.wait_for(left.wait(), 10)
    assert server.service.asked[-1].headers["accept"] == "text/event-stream"


async def test_a_token_that_is_refused_is_renewed_once_for_all_who_ask(server, enter, program):
    tokens = await enter()
    server._good.discard(tokens.access)
    found = await asyncio.gather(*(program.ask() for _ in range(5)))
    assert [status for status, _ in found] == [200] * 5
    assert server.refreshed == 1
    assert server.wrong == []
    server.revoke()
    status, reply = await program.ask()
    assert (status, "has ended" in reply) == (503, True)


async def test_an_account_that_is_used_up_is_known_to_every_process(server, ctx, enter, program):
    tokens = {name: await enter(name) for name in ("default", "work")}
    answer, limited = server.service.by_path["/v1/chat/completions"], {"default"}

    async def limiting(writer):
        token = server.service.asked[-1].headers["authorization"]
        if any(tokens[name].access in token for name in limited):
            writer.write(http(429, '{"error": {"message": "slow down"}}', **{"retry-after": "70"}))
            return await writer.drain()
        return await answer(writer)

    server.service.by_path["/v1/chat/completions"] = limiting
    assert [(await program.ask())[0] for _ in range(2)] == [200, 200]
    assert len(server.service.asked) == 3  # the first account was asked once
    limits = Limits(ctx.paths.cache.parent / "limits")
    assert 60 < limits.left(mark_of("nous-oauth", "default")) <= 70  # where conversations look, too
    limits.rest(mark_of("nous-oauth", "work"), 30)
    status, reply = await program.ask()
    assert (status, "retry-after: 30" in reply) == (429, True)
    assert len(server.service.asked) == 3
    limits.free_all()
    limited.add("work")
    status, reply = await program.ask()
    assert (status, "slow down" in reply, "retry-after: 70" in reply) == (429, True, True)


@pytest.mark.parametrize(
    ("reply", "status", "word"),
    [
        (http(302, "", location="http://127.0.0.1:9/take"), 502, "follows nobody"),
        (http(400, '{"error": {"message": "no such model"}}'), 400, "no such model"),
        (http(500, "<html>", "text/html"), 500, "<html>"),
        (b"nonsense\r\n\r\n", 502, "closed the connection"),
        (b"HTTP/1.1 400 X\r\ncontent-length: 9000000\r\n\r\n" + b"x" * 900_000, 400, "xxx"),
    ],
)
async def test_what_a_service_refuses_is_told_and_where_it_leads_nobody_goes(
    server, enter, program, reply, status, word
):
    await enter()
    server.service.by_path["/v1/chat/completions"] = reply
    found, said = await program.ask()
    assert (found, word in said) == (status, True), said[:500]
    assert len(said) < 400_000
    assert "location" not in said.lower().partition("\r\n\r\n")[0]


async def test_a_service_that_says_the_token_again_is_not_heard_on_it(server, enter, program):
    tokens = await enter()

    async def echo(writer):
        writer.write(http(403, json.dumps({"error": str(server.service.asked[-1].headers)}), x_token=tokens.access))

    async def echo_in_a_header(writer):
        writer.write(http(200, "{}", **{"x-request-id": f"for {tokens.access}", "openai-version": "1"}))

    for answer, wanted in ((echo, 403), (echo_in_a_header, 200)):
        server.service.by_path["/v1/chat/completions"] = answer
        status, reply = await program.ask()
        assert status == wanted
        assert tokens.access not in reply
    assert "openai-version: 1" in reply


async def test_half_an_answer_is_not_ended_as_if_it_were_whole(server, enter, program, caplog):
    await enter()
    head = b"HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    server.service.by_path["/v1/chat/completions"] = head + b"b\r\ndata: one\n\n\r\nff\r\ncut"
    reader, _ = await program.open()
    whole = await reader.read()
    assert b"data: one" in whole
    assert not whole.endswith(b"0\r\n\r\n")
    assert "broke off: Nous" in caplog.text
    server.service.by_path["/v1/chat/completions"] = head.replace(b"200", b"500") + b"b\r\ndata: one\n\n\r\nff\r\ncut"
    status, reply = await program.ask()
    assert (status, "closed the connection" in reply) == (502, True)
    assert "Traceback" not in caplog.text


async def test_a_proxy_that_ends_in_the_middle_of_an_answer_ends_quietly(server, ctx, enter, program, caplog):
    await enter()
    sent, said = asyncio.Queue(), {"host": "127.0.0.1", "authorization": f"Bearer {program.key}"}
    head = b"HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    server.service.by_path["/v1/models"] = head + b"1\r\na\r\n5"
    scope = {"type": "http", "method": "GET", "path": "/v1/models", "query_string": b""}
    scope["headers"] = [(name.encode(), value.encode()) for name, value in said.items()]
    ended = asyncio.Event()
    upstream = Upstream(ctx)
    app = App(ctx, upstream, program.key)

    async def send(event):
        await sent.put(event)
        await asyncio.Event().wait()  # a program that reads slowly

    task = asyncio.create_task(app(scope, ended.wait, send))
    assert (await sent.get())["status"] == 200
    task.cancel()
    assert await task is None
    assert sent.empty()
    assert not caplog.records
    await upstream.close()


async def test_a_request_that_is_too_large_or_breaks_off_reaches_nobody(server, enter, program, monkeypatch):
    await enter()
    monkeypatch.setattr("hermes_platform_proxy.app._MOST", 100_000)
    reader, writer = await program.open(content_length="200000", body=b"x")
    writer.write(b"x" * 150_000)
    reply = await reader.read(4096)
    assert b" 413 " in reply
    writer.close()
    _, writer = await program.open(content_length="100", body=b"x")
    writer.close()
    await program.ask(method="GET")
    assert server.service.asked == []


async def test_a_login_is_sent_to_its_own_hosts_alone(server, enter, program):
    await enter(base_url="http://127.0.0.1.evil.example/v1")
    status, reply = await program.ask()
    assert (status, "not known where" in reply) == (502, True)
    assert server.service.asked == []


async def test_nobody_is_logged_in(ctx, program):
    status, reply = await program.ask()
    assert (status, "hermes auth login" in reply) == (502, True)
    for name, word in (("azure", "logged in to azure"), ("xai", "logged in to xai"), ("grok", "no service 'grok'")):
        with pytest.raises(UserError, match=word):
            Upstream(ctx, name).service()


async def test_short_names_mean_the_same(ctx, enter):
    tokens = await enter()
    assert Upstream(ctx, "nous").service() == Upstream(ctx).service() == "nous-oauth"
    Logins.of_home(ctx.paths.data.parent).write("azure-foundry", "default", Kept(token_url="", tokens=tokens))
    assert Upstream(ctx, "azure").service() == "azure-foundry"


async def test_an_account_that_is_misspelt_is_not_another_ones(ctx, enter):
    for name in ("default", "work"):
        await enter(name)
    assert Upstream(ctx, account="work").begin() == "nous-oauth"
    with pytest.raises(UserError, match="no login wrok of nous-oauth") as caught:
        Upstream(ctx, account="wrok").begin()
    assert caught.value.hint == "There is default, work."


def test_a_key_is_made_once_and_made_anew_when_it_is_wanted(ctx):
    first, again, new = key_of(ctx.secrets), key_of(ctx.secrets), key_of(ctx.secrets, new=True)
    assert first == again != new
    assert len(new) > 40
    assert key_of(ctx.secrets) == ctx.secrets.get(KEY) == new


async def test_a_gateway_serves_it_where_the_settings_say_so(ctx):
    assert await Proxy(ctx).run() is None
    assert await Proxy(ctx).status() == "off (platforms.proxy.serve)"
    taken = listen(0)
    object.__setattr__(ctx, "config", Config(serve=True, port=taken.getsockname()[1]))
    with pytest.raises(UserError, match="Nobody is logged in"):
        await Proxy(ctx).run()
    with pytest.raises(UserError, match="is in use"):
        listen(taken.getsockname()[1])
    assert "127.0.0.1" in await Proxy(ctx).status()
    taken.close()


async def test_an_app_that_has_a_secret_renews_with_it(server, ctx, enter, program, monkeypatch):
    server.secret, server.refresh_header = "app-secret-1", ""
    monkeypatch.setattr(ctx.secrets, "get", {KEY: program.key, "GEMINI_OAUTH_SECRET": "app-secret-1"}.get)
    tokens = await enter(secret="GEMINI_OAUTH_SECRET", refresh_header="")
    server._good.discard(tokens.access)
    assert (await program.ask())[0] == 200
    assert server.refreshed == 1
    assert server.wrong == []
