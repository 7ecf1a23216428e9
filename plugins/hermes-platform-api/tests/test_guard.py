"""Who may ask, from where, how much, how often."""

import asyncio
import contextlib
import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from hermes_core.errors import Undeliverable, UserError
from hermes_core.testing import FakeConsole, plugin_context
from hermes_core.testing.contract_base import manifest_path
from hermes_core.types import Chat, Message
from hermes_platform_api.config import Config
from hermes_platform_api.keys import Keys
from hermes_platform_api.platform import Api

SAID = {"model": "hermes", "messages": [{"role": "user", "content": "Hi."}]}


async def raw(url: str, data: bytes, wait: float = 10) -> bytes:
    host, port = url.removeprefix("http://").rsplit(":", 1)
    reader, writer = await asyncio.open_connection(host, int(port))
    with contextlib.suppress(ConnectionError):
        writer.write(data)
        await writer.drain()
    answer = b""
    with contextlib.suppress(TimeoutError, ConnectionError):
        async with asyncio.timeout(wait):
            answer = await reader.read(65536)
    writer.close()
    return answer


async def test_without_the_key_nothing_is_answered_but_health(serve: Any, scripted: Any) -> None:
    async with serve(scripted()) as server, server.http("") as http:
        for path in ("/v1/models", "/v1/capabilities", "/health/detailed", "/api/sessions", "/nowhere"):
            answer = await http.get(path)
            assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_api_key"), path
            assert answer.headers["www-authenticate"] == "Bearer"
        for path in ("/health", "/v1/health"):
            assert (await http.get(path)).json() == {"status": "ok"}
        for key in ("Bearer wrong", "Bearer", "Basic b3duZXI6a2V5", "owners-key-0123456789", "Bearer é"):
            answer = await http.get("/v1/models", headers={"authorization": key.encode()})
            assert answer.status_code == 401, key


async def test_a_page_that_is_not_listed_gets_nothing(serve: Any, scripted: Any) -> None:
    async with serve(scripted()) as server, server.http() as http:
        answer = await http.get("/v1/models", headers={"origin": "https://evil.example"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "origin_not_allowed")
        assert "access-control-allow-origin" not in answer.headers
        asked = {"origin": "https://evil.example", "access-control-request-method": "POST"}
        assert (await http.options("/v1/chat/completions", headers=asked)).status_code == 403


async def test_a_page_that_is_listed_may_ask(serve: Any, scripted: Any) -> None:
    listed = {"platforms.api.origins": ["https://chat.example.org"]}
    async with serve(scripted(), listed) as server, server.http("") as http:
        asked = {"origin": "https://chat.example.org", "access-control-request-method": "POST"}
        answer = await http.options("/v1/chat/completions", headers=asked)
        assert answer.status_code == 204
        assert answer.headers["access-control-max-age"] == "600"
        assert answer.headers["access-control-allow-origin"] == "https://chat.example.org"
        refused = await http.get("/v1/models", headers={"origin": "https://chat.example.org"})
        assert (refused.status_code, refused.headers["access-control-allow-origin"]) == (
            401,
            "https://chat.example.org",
        )


async def test_a_page_of_its_own_may_ask_where_no_strange_host_is_answered(serve: Any, scripted: Any) -> None:
    async with serve(scripted()) as server, server.http() as http:
        own = {"origin": server.url}
        assert (await http.get("/v1/models", headers=own)).status_code == 200
        for other in ("http://127.0.0.1:1", "https://127.0.0.1", "null", "http://localhost.evil.example"):
            assert (await http.get("/v1/models", headers={"origin": other})).status_code == 403, other
        both = {"origin": "http://evil.example", "host": "evil.example"}
        assert (await http.get("/v1/models", headers=both)).status_code == 403


async def test_where_any_host_is_answered_no_page_is_taken_for_its_own(serve: Any, scripted: Any) -> None:
    async with serve(scripted(), {"platforms.api.host": "0.0.0.0"}) as server, server.http() as http:
        url = server.url.replace("0.0.0.0", "127.0.0.1")
        assert (await http.get(f"{url}/v1/models", headers={"origin": url})).status_code == 403


async def test_a_name_that_was_bound_to_loopback_is_not_answered(serve: Any, scripted: Any) -> None:
    async with serve(scripted(), {"platforms.api.hosts": ["api.example.org"]}) as server, server.http() as http:
        for host in ("evil.example", "evil.example:8642", "127.0.0.1.evil.example", "", "localhost.evil.example"):
            answer = await http.get("/health", headers={"host": host})
            assert answer.status_code in (400, 403), host
        for host in ("localhost", "127.0.0.1:8642", "[::1]:8642", "api.example.org", "LOCALHOST:1"):
            assert (await http.get("/health", headers={"host": host})).status_code == 200, host


async def test_wrong_paths_and_methods_are_told_in_the_same_shape(serve: Any, scripted: Any) -> None:
    async with serve(scripted()) as server, server.http() as http:
        assert (await http.get("/nowhere")).json()["error"]["code"] == "not_found"
        answer = await http.get("/v1/chat/completions")
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


async def test_bodies_that_are_none_are_refused(serve: Any, scripted: Any) -> None:
    deep = b'{"a":' * 5000 + b"1" + b"}" * 5000
    texts = (b"{", b"\xff\xfe", b"NaN", b'{"messages": NaN}', b"nul", deep, b'"text"', b"[]", b"null", b'{"a" 1}')
    async with serve(scripted()) as server, server.http() as http:
        for text in texts:
            for path in ("/v1/chat/completions", "/v1/responses", "/v1/runs", "/api/sessions/x/chat"):
                answer = await http.post(path, content=text, headers={"content-type": "application/json"})
                assert answer.status_code == 400, (path, text[:20])
        form = await http.post("/v1/chat/completions", data={"a": "b"})
        assert form.status_code == 415


async def test_a_body_beyond_the_limit_is_refused(serve: Any, scripted: Any) -> None:
    async with serve(scripted()) as server, server.http() as http:
        answer = await http.post("/v1/chat/completions", json={**SAID, "user": "x" * 10_000_000})
        assert (answer.status_code, answer.json()["error"]["code"]) == (413, "body_too_large")


async def test_hostile_heads_do_no_harm(serve: Any, scripted: Any) -> None:
    async with serve(scripted()) as server, server.http() as http:
        endless = b"GET /health HTTP/1.1\r\nhost: localhost\r\nx: " + b"a" * 200_000
        assert b" 400 " in await raw(server.url, endless)
        for head in (
            b"GET /health HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\n\r\n",
            b"GET /health HTTP/1.1\r\nhost: localhost\r\ncontent-length: -1\r\n\r\n",
            b"GET /health HTTP/9.9\r\n\r\n",
            b"\x00\x01\x02\r\n\r\n",
        ):
            assert b" 200 " not in (await raw(server.url, head)).split(b"\r\n")[0], head
        for name in ("x-hermes-session-id", "x-hermes-session-key"):
            for value in (b"../../etc", b"a b", b"\xc3\xa9", b"x" * 101, b"'; DROP TABLE", b":a"):
                answer = await http.post("/v1/chat/completions", json=SAID, headers={name: value})
                assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_header"), value
        for value in (b"\xc3\xa9", b"x" * 256, b"a b"):
            answer = await http.post("/v1/chat/completions", json=SAID, headers={"idempotency-key": value})
            assert answer.status_code == 400
        twice = [("authorization", "Bearer a"), ("authorization", "Bearer owners-key-0123456789")]
        async with server.http("") as other:
            assert (await other.get("/v1/models", headers=twice)).status_code == 401


async def test_the_cap_turns_clients_away_and_lets_them_in_again(serve: Any, scripted: Any) -> None:
    go = asyncio.Event()

    model = scripted("One.", "Two.")
    stream = model.stream

    async def held(request: Any) -> Any:
        await go.wait()
        async for delta in stream(request):
            yield delta

    model.stream = held
    async with serve(model, {"platforms.api.max_turns": 1}) as server, server.http() as http:
        first = asyncio.create_task(http.post("/v1/chat/completions", json=SAID))
        await server.until(lambda: server.running)
        for path, body in (
            ("/v1/chat/completions", SAID),
            ("/v1/chat/completions", {**SAID, "stream": True}),
            ("/v1/responses", {"model": "hermes", "input": "Hi."}),
            ("/v1/runs", {"input": "Hi."}),
        ):
            answer = await http.post(path, json=body)
            assert (answer.status_code, answer.json()["error"]["code"]) == (429, "too_many_turns"), path
            assert int(answer.headers["retry-after"]) > 0
        go.set()
        assert (await first).status_code == 200
        assert (await http.post("/v1/chat/completions", json=SAID)).status_code == 200
        assert (await http.get("/health/detailed")).json()["turns"] == {"running": 0, "most": 1}


async def test_a_flood_of_one_person_leaves_a_place_for_others_and_tells_them_nothing(
    serve: Any, scripted: Any
) -> None:
    go, model = asyncio.Event(), scripted(*["Fine."] * 3)
    stream = model.stream

    async def held(request: Any) -> Any:
        await go.wait()
        async for delta in stream(request):
            yield delta

    model.stream = held
    async with serve(model, {"platforms.api.max_turns": 3}) as server, server.http() as http:
        hers = {"authorization": "Bearer alices-key-0123456789"}
        scopes = ({**hers, "x-hermes-session-key": f"{number}"} for number in range(2))
        posts = (http.post("/v1/chat/completions", json=SAID, headers=head) for head in scopes)
        first = [asyncio.create_task(one) for one in posts]
        await server.until(lambda: server.running == 2)
        more = await http.post("/v1/chat/completions", json=SAID, headers=hers)
        assert (more.status_code, more.json()["error"]["code"]) == (429, "too_many_turns")
        first.append(asyncio.create_task(http.post("/v1/chat/completions", json=SAID)))
        await server.until(lambda: server.running == 3)
        assert (await http.get("/health/detailed")).json()["turns"]["running"] == 3
        assert (await http.get("/health/detailed", headers=hers)).json()["turns"]["running"] == 2
        go.set()
        assert [(await one).status_code for one in first] == [200, 200, 200]


@pytest.mark.parametrize("stream", [False, True])
async def test_a_client_that_leaves_stops_its_turn(serve: Any, scripted: Any, stream: bool) -> None:
    began, stopped = asyncio.Event(), asyncio.Event()
    model = scripted()

    async def endless(request: Any) -> Any:
        from hermes_core.types import TextDelta

        yield TextDelta(text="word ")
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    model.stream = endless
    async with serve(model) as server:
        body = json.dumps({**SAID, "stream": stream}).encode()
        lines = (
            "POST /v1/chat/completions HTTP/1.1",
            "host: localhost",
            "authorization: Bearer owners-key-0123456789",
            "content-type: application/json",
            f"content-length: {len(body)}",
        )
        host, port = server.url.removeprefix("http://").rsplit(":", 1)
        _, writer = await asyncio.open_connection(host, int(port))
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        await began.wait()
        writer.close()
        await stopped.wait()
        await server.until(lambda: not server.running)

        async def idle() -> bool:
            return (await server.ctx.sessions.rows(server.ctx.owner))[0].state == "idle"

        await server.until(idle)


async def test_a_stream_that_is_silent_is_kept_alive(serve: Any, scripted: Any) -> None:
    go, model = asyncio.Event(), scripted("Done.")
    stream = model.stream

    async def held(request: Any) -> Any:
        await go.wait()
        async for delta in stream(request):
            yield delta

    model.stream = held
    async with (
        serve(model, {"platforms.api.keep_alive_seconds": 0.1}) as server,
        server.http() as http,
        http.stream("POST", "/v1/chat/completions", json={**SAID, "stream": True}) as answer,
    ):
        lines = answer.aiter_lines()
        seen = [line async for line in _until(lines, ": keep-alive", 2)]
        go.set()
        rest = [line async for line in lines]
    assert seen.count(": keep-alive") == 2
    assert rest[-2:] == ["data: [DONE]", ""]


async def _until(lines: Any, wanted: str, times: int) -> Any:
    async for line in lines:
        yield line
        times -= line == wanted
        if not times:
            return


# --- keys -------------------------------------------------------------------------------------------------------------


def context(tmp_path: Path, **secrets: str) -> Any:
    from hermes_core.plugins.manifest import read_manifest

    manifest = read_manifest(manifest_path("hermes_platform_api"))
    return plugin_context(manifest, tmp_path, config=Config(port=0), secrets=secrets)


async def test_a_missing_key_is_made_kept_and_shown_to_a_terminal_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ctx = context(tmp_path)
    api = Api(ctx)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    await api.open(FakeConsole())
    await api.close()
    made = ctx.secrets.get("API_SERVER_KEY")
    assert len(made) >= 16
    assert made in capsys.readouterr().err
    monkeypatch.setattr("sys.stderr.isatty", lambda: False, raising=False)
    for again in (ctx, context(tmp_path / "other")):
        api = Api(again)
        await api.open(FakeConsole())
        await api.close()
        told = capsys.readouterr().err
        assert made not in told
        assert again.secrets.get("API_SERVER_KEY") not in told


@pytest.mark.parametrize(
    ("secrets", "keys", "wrong"),
    [
        ({"API_SERVER_KEY": "short"}, {}, "too weak"),
        ({"API_SERVER_KEY": "with spaces in it all"}, {}, "too weak"),
        ({"API_SERVER_KEY": "k" * 16}, {"OTHER": "alice"}, "must begin with"),
        ({"API_SERVER_KEY": "k" * 16}, {"API_SERVER_KEY_A": "alice"}, "not set"),
        ({"API_SERVER_KEY": "k" * 16, "API_SERVER_KEY_A": "k" * 16}, {"API_SERVER_KEY_A": "alice"}, "are the same"),
        ({"API_SERVER_KEY": "k" * 16, "API_SERVER_KEY_A": "a" * 16}, {"API_SERVER_KEY_A": "a:b"}, "cannot be"),
    ],
)
def test_keys_that_are_none_are_refused(tmp_path: Path, secrets: Any, keys: Any, wrong: str) -> None:
    with pytest.raises(UserError, match=wrong) as caught:
        Keys(context(tmp_path, **secrets).secrets, keys)
    assert not any(value in str(caught.value) for value in secrets.values())


async def test_a_port_in_use_is_one_clear_error(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        ctx = context(tmp_path)
        object.__setattr__(ctx, "config", Config(port=taken.getsockname()[1]))
        with pytest.raises(UserError, match="is in use"):
            await Api(ctx).open(FakeConsole())


async def test_nothing_can_be_sent_to_a_client_that_did_not_ask(tmp_path: Path) -> None:
    with pytest.raises(Undeliverable):
        await Api(context(tmp_path)).send(Chat("x"), Message(role="assistant", parts=()), os.urandom(4).hex())
