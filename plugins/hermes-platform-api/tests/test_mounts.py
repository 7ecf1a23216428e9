"""What other plugins serve: below a path of their own, behind the same key, and nobody else's trouble."""

import asyncio
import contextlib
from pathlib import Path
from typing import Any

import httpx2
import pytest

from hermes_core.errors import UserError
from hermes_core.hooks import hookimpl
from hermes_core.types import Routes

ALICE = "alices-key-0123456789"  # of the fixture `serve`
KEYS = (b"authorization", b"x-api-key")
TABLES = {"contributes": {"routes": ["board", "hook", "files"]}, "permissions": {"public": ["hook"]}}


async def answered(send: Any, text: str, status: int = 200) -> None:
    headers = [(b"content-type", b"text/plain")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})


async def board(scope: Any, receive: Any, send: Any) -> None:
    path, owner = scope["path"].removeprefix(scope["root_path"]), scope["hermes.owner"]
    if path == "/broken":
        raise RuntimeError("no chalk: sk-secret-0123456789abcdef")
    if path == "/exit":
        raise SystemExit(3)
    if path == "/wrong":
        raise UserError("There is no such row.")
    if path == "/nothing":
        return
    if path in ("/begun", "/half"):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        if path == "/half":
            await send({"type": "http.response.body", "body": b"half", "more_body": True})
        return
    if path == "/late":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise RuntimeError("half-way")
    await answered(send, f"{owner.person} {path}")


async def hook(scope: Any, receive: Any, send: Any) -> None:
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ConnectionError("the client is gone")
        size, more = size + len(message.get("body", b"")), message.get("more_body", False)
    await answered(send, f"{scope['hermes.owner']} {size}")


def served(hermes: Any, folder: Path) -> None:
    @hookimpl
    def register_routes() -> list[Routes]:
        return [Routes(name="board", app=board), Routes(name="hook", app=hook), Routes(name="files", app=folder)]

    hermes.tmp_plugin(register_routes, name="school", manifest=TABLES)


async def test_they_are_behind_the_key_and_know_who_asks(serve: Any, scripted: Any, hermes: Any, tmp_path: Path):
    served(hermes, tmp_path)
    async with serve(scripted()) as server:
        async with server.http("") as http:
            assert (await http.get("/tool/school/board/x")).status_code == 401
            assert (await http.get("/tool/school/files/x")).status_code == 401
        async with server.http() as http:
            answer = await http.get("/tool/school/board/x")
            assert answer.text == "owner /x"
            assert answer.headers["content-security-policy"].startswith("default-src 'self'")
            assert (await http.get("/tool/school/board")).text == "owner "
            assert (await http.get("/tool/school/boards")).status_code == 404
            assert (await http.get("/v1/models")).status_code == 200
        async with server.http(ALICE) as http:
            assert (await http.get("/tool/school/board/x")).text == "alice /x"


async def test_what_the_manifest_calls_public_is_answered_to_anybody(
    serve: Any, scripted: Any, hermes: Any, tmp_path: Path
):
    served(hermes, tmp_path)
    async with serve(scripted()) as server, server.http("") as http:
        assert (await http.post("/tool/school/hook", content=b"12345")).text == "None 5"
        for path in ("/tool/school/hook/../board/x", "/tool/school/hook/%2e%2e/board/x", "/tool/school//board/x"):
            assert "owner" not in (await http.post(path)).text
        assert (await http.post("/tool/school/hook", headers={"host": "evil.example"})).status_code == 403
        assert (await http.post("/tool/school/hook", headers={"origin": "https://evil.example"})).status_code == 403


async def test_no_plugin_sees_a_key_of_the_server_but_a_webhook_its_own(
    serve: Any, scripted: Any, hermes: Any, tmp_path: Path
):
    async def heads(scope: Any, receive: Any, send: Any) -> None:
        await answered(send, repr([value for name, value in scope["headers"] if name in KEYS]))

    @hookimpl
    def register_routes() -> list[Routes]:
        return [Routes(name="board", app=heads), Routes(name="hook", app=heads)]

    hermes.tmp_plugin(register_routes, name="school", manifest=TABLES)
    async with serve(scripted()) as server:
        for key in (None, ALICE):
            async with server.http() if key is None else server.http(key) as http:
                assert (await http.get("/tool/school/board")).text == "[]"
                assert (await http.get("/tool/school/hook")).text == "[]"
        async with server.http("") as http:
            answer = await http.get("/tool/school/hook", headers={"authorization": "Bearer of-the-webhook"})
            assert answer.text == "[b'Bearer of-the-webhook']"
            answer = await http.get("/tool/school/hook", headers={"x-api-key": "of-the-webhook"})
            assert answer.text == "[b'of-the-webhook']"
            for path in ("board", "hook"):
                assert (await http.get(f"/tool/school/{path}", headers={"x-api-key": ALICE})).text == "[]"


async def test_a_broken_one_costs_itself_and_is_named(serve: Any, scripted: Any, hermes: Any, tmp_path: Path, caplog):
    served(hermes, tmp_path)
    async with serve(scripted()) as server, server.http() as http:
        for path in ("broken", "exit"):
            answer = await http.get(f"/tool/school/board/{path}")
            assert (answer.status_code, answer.json()["error"]["code"]) == (500, "plugin_failed")
            assert "chalk" not in answer.text
        answer = await http.get("/tool/school/board/wrong")
        assert (answer.status_code, answer.json()["error"]["message"]) == (400, "There is no such row.")
        assert (await http.get("/tool/school/board/x")).text == "owner /x"
        faults = server.bench.runtime.dispatch.faults
        assert {(fault.plugin, fault.where) for fault in faults} == {("tool/school", "register_routes: board")}
        assert "tool/school failed in register_routes: board" in caplog.text


@pytest.mark.parametrize("path", ["nothing", "begun", "half"])
async def test_one_that_gives_no_whole_answer_is_named(
    serve: Any, scripted: Any, hermes: Any, tmp_path: Path, path: str
):
    served(hermes, tmp_path)
    async with serve(scripted()) as server, server.http() as http:
        with contextlib.suppress(httpx2.HTTPError):  # the connection breaks off where the answer had begun
            assert (await http.get(f"/tool/school/board/{path}")).status_code in (200, 500)
        assert (await http.get("/tool/school/board/x")).text == "owner /x"
        (fault,) = server.bench.runtime.dispatch.faults
        assert (fault.plugin, fault.where) == ("tool/school", "register_routes: board")
        assert "gave no whole answer" in fault.error


async def test_a_body_beyond_the_limit_ends_for_the_plugin_too(serve: Any, scripted: Any, hermes: Any, tmp_path: Path):
    served(hermes, tmp_path)
    async with serve(scripted()) as server, server.http("") as http:
        answer = await http.post("/tool/school/hook", content=b"x" * 10_000_001)
        assert (answer.status_code, answer.json()["error"]["code"]) == (413, "body_too_large")
        assert not server.bench.runtime.dispatch.faults


async def test_a_client_that_leaves_is_nobodys_fault(serve: Any, scripted: Any, hermes: Any, tmp_path: Path):
    served(hermes, tmp_path)
    async with serve(scripted()) as server:
        host, port = server.url.removeprefix("http://").split(":")
        _, writer = await asyncio.open_connection(host, int(port))
        head = f"POST /tool/school/hook HTTP/1.1\r\nhost: {host}\r\ncontent-length: 100\r\n\r\nbegun"
        writer.write(head.encode())
        await writer.drain()
        writer.close()
        async with server.http() as http:
            assert (await http.get("/tool/school/board/x")).status_code == 200
        assert not server.bench.runtime.dispatch.faults


async def test_a_folder_is_served_as_it_is_and_nothing_beside_it(
    serve: Any, scripted: Any, hermes: Any, tmp_path: Path
):
    folder = tmp_path / "page"
    folder.mkdir()
    (folder / "index.html").write_text("<h1>School</h1>")
    (tmp_path / "secret").write_text("no")
    (folder / ".env").write_text("no")
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("no")
    (folder / "out").symlink_to(tmp_path / "secret")
    served(hermes, folder)
    async with serve(scripted()) as server, server.http() as http:
        moved = await http.get("/tool/school/files")
        assert moved.url.path == "/tool/school/files/"
        assert (await http.get("/tool/school/files/")).text == "<h1>School</h1>"
        for path in ("nothing", "../secret", "%2e%2e/secret", "out", ".env", "%2eenv", ".git/config"):
            assert (await http.get(f"/tool/school/files/{path}")).status_code == 404, path
        assert (await http.post("/tool/school/files/")).status_code == 405


async def test_one_that_hangs_when_the_server_closes_is_answered(serve: Any, scripted: Any, hermes: Any, caplog: Any):
    began = asyncio.Event()

    async def hangs(scope: Any, receive: Any, send: Any) -> None:
        began.set()
        await asyncio.sleep(60)

    @hookimpl
    def register_routes() -> list[Routes]:
        return [Routes(name="board", app=hangs)]

    hermes.tmp_plugin(register_routes, name="school", manifest={"contributes": {"routes": ["board"]}})
    async with serve(scripted()) as server, server.http() as http:
        asked = asyncio.ensure_future(http.get("/tool/school/board/x"))
        await began.wait()
        await server.api.close()
        answer = await asked
    assert answer.status_code == 503
    assert "Traceback" not in caplog.text


async def test_a_route_of_a_name_of_its_own_has_a_short_path_and_is_described(
    serve: Any, scripted: Any, hermes: Any, tmp_path: Path
) -> None:
    from hermes_tool_kit.json_route import Asked, Operation, json_route

    async def answer(asked: Asked) -> tuple[int, object]:
        return 200, {"who": asked.owner.person, "words": [*asked.words]}

    told = Operation(method="POST", path="/{id}/ring", name="ringBell", summary="Rings it.", fields={"text": "string"})
    taken = json_route("sessions", answer, (told,))

    @hookimpl
    def register_routes() -> list[Routes]:
        return [json_route("bells", answer, (told,)), taken, Routes(name="hook", app=hook)]

    tables = {"contributes": {"routes": ["bells", "sessions", "hook"]}, "permissions": {"public": ["hook"]}}
    hermes.tmp_plugin(register_routes, name="tower", manifest=tables)
    async with serve(scripted()) as server:
        async with server.http("") as http:
            assert (await http.get("/api/bells")).status_code == 401
            assert (await http.get("/api/hook")).status_code == 401
            paths = (await http.get("/openapi.json")).json()["paths"]
        async with server.http(ALICE) as http:
            for path in ("/api/bells", "/tool/tower/bells"):
                assert (await http.get(f"{path}/7/ring")).json() == {"who": "alice", "words": ["7", "ring"]}
            assert "who" not in (await http.get("/api/sessions")).json(), "no plugin takes a path of ours"
            assert (await http.get("/tool/tower/sessions/x")).json()["who"] == "alice"
            assert (await http.get("/api/bells2")).status_code == 404
    assert paths["/api/bells/{id}/ring"]["post"]["operationId"] == "ringBell"
    assert "get" in paths["/api/sessions"]
    assert paths["/tool/tower/sessions/{id}/ring"]
    assert not any(path.startswith(("/api/hook", "/tool/tower/hook")) for path in paths)


async def test_a_public_route_whose_name_may_be_at_the_root_of_the_host_is_there(
    serve: Any, scripted: Any, hermes: Any
) -> None:
    @hookimpl
    def register_routes() -> list[Routes]:
        return [Routes(name=name, app=hook) for name in ("agent-card.json", "openid-configuration", "hook")]

    tables = {"contributes": {"routes": ["agent-card.json", "openid-configuration", "hook"]}}
    opened = {"permissions": {"public": ["agent-card.json", "openid-configuration", "hook"]}}
    hermes.tmp_plugin(register_routes, name="tower", manifest=tables | opened)
    async with serve(scripted()) as server, server.http("") as http:
        for path, status in (
            ("/.well-known/agent-card.json", 200),
            ("/tool/tower/agent-card.json", 200),
            ("/.well-known/openid-configuration", 401),
            ("/.well-known/hook", 401),
            ("/.well-known/", 401),
        ):
            assert (await http.get(path)).status_code == status, path


@pytest.mark.parametrize("public", [["agent-card.json"], []])
async def test_it_is_not_there_for_two_plugins_nor_behind_the_key(
    serve: Any, scripted: Any, hermes: Any, public: list[str]
) -> None:
    @hookimpl
    def register_routes() -> list[Routes]:
        return [Routes(name="agent-card.json", app=hook)]

    tables = {"contributes": {"routes": ["agent-card.json"]}, "permissions": {"public": public}}
    for name in ("tower", "school")[: 2 if public else 1]:
        hermes.tmp_plugin(register_routes, name=name, manifest=tables)
    async with serve(scripted()) as server, server.http() as http:
        assert (await http.get("/.well-known/agent-card.json")).status_code == 404
