"""The client is made of the document that the API serves, and speaks with a server that runs."""

import asyncio
import importlib.util
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from hermes_client import ApiError, Client
from hermes_core.kinds import tool
from hermes_core.testing import Call
from hermes_core.types import Effect

HERE = Path(__file__).parents[1]
CACHE = Path("~/.cache/hermes-tests/client").expanduser()
TSC = Path(os.environ.get("HERMES_CLIENT", CACHE)) / "node_modules/.bin/tsc"
KEY = "owners-key-0123456789"


@tool(toolset="t", effects=[Effect.WRITE_FILES], touches=lambda _words: ())
async def danger() -> str:
    """Do something risky."""
    return "did it"


def _generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", HERE / "generate.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_client_is_not_behind_the_document() -> None:
    """Else: python plugins/hermes-client/generate.py --write."""
    for file, text in _generator().made().items():
        assert file.read_text("utf-8") == text, file


async def test_sessions_turns_and_streams(serve: Callable[..., Any], scripted: Any) -> None:
    async with serve(scripted("One two.", "Three.", "Four\u2028\x85five.")) as url, Client(url, KEY) as hermes:
        assert (await hermes.get_health())["status"] == "ok"
        session = await hermes.create_session({"id": "s1", "title": "A talk"})
        answer = await hermes.chat_in_session(session["id"], {"input": "Hi."}, idempotency_key="once")
        assert answer["message"]["content"] == "One two."
        again = await hermes.chat_in_session(session["id"], {"input": "Hi."}, idempotency_key="once")
        assert again["message"]["content"] == "One two."
        whole = await hermes.create_chat_completion(
            {"model": "hermes", "messages": [{"role": "user", "content": "More."}]}, session_id="s1"
        )
        assert whole["choices"][0]["message"]["content"] == "Three."
        asked: Any = {"model": "hermes", "messages": [{"role": "user", "content": "And?"}]}
        events = [one async for one in hermes.create_chat_completion_stream(asked, session_id="s1")]
        said = [
            one.data["choices"][0]["delta"].get("content") or "" for one in events if one.data and one.data["choices"]
        ]
        assert "".join(said) == "Four\u2028\x85five."
        assert events[-1].data is None
        past = await hermes.get_session_messages("s1", limit=50)
        assert [one["role"] for one in past["data"]] == ["user", "assistant"] * 3
        assert [one["id"] for one in (await hermes.list_sessions(limit=5))["data"]] == ["s1"]
        assert (await hermes.delete_session("s1"))["deleted"] is True


async def test_a_run_waits_for_a_yes(serve: Callable[..., Any], scripted: Any) -> None:
    async with serve(scripted(Call("danger"), "Done."), danger) as url, Client(url, KEY) as hermes:
        run = await hermes.create_run({"input": "Do it."})
        name = run["run_id"]
        async with asyncio.timeout(30):
            async for event in hermes.get_run_events(name):
                if event.data and event.data.get("event") == "approval.request":
                    await hermes.settle_run_approval(name, {"choice": "once"})
        found = await hermes.get_run(name)
        assert (found["status"], found["output"]) == ("completed", "Done.")


async def test_what_the_server_refuses_is_one_error(serve: Callable[..., Any], scripted: Any) -> None:
    async with serve(scripted()) as url:
        async with Client(url, KEY) as hermes:
            with pytest.raises(ApiError) as none:
                await hermes.get_session("../etc/passwd?x#y")
            assert none.value.status == 404
            wrong: Any = {"title": 5}
            with pytest.raises(ApiError, match="title must be string") as bad:
                await hermes.create_session(wrong)
            assert (bad.value.status, bad.value.code) == (400, "invalid_value")
        async with Client(url, "key-of-nobody") as stranger:
            with pytest.raises(ApiError) as refused:
                await stranger.list_sessions()
            assert refused.value.status == 401
            assert "key-of-nobody" not in str(refused.value)
    async with Client(url, KEY, seconds=5) as late:
        with pytest.raises(ApiError, match="cannot be reached"):
            await late.get_health()
        with pytest.raises(ApiError):
            _ = [one async for one in late.get_run_events("x")]


@pytest.mark.parametrize("key", ["secret-of-mine\n", "secret-of-mine\r\nx: y", "secret-of-mine-\u00e9"])
def test_a_key_that_no_header_holds_is_said_without_the_key(key: str) -> None:
    with pytest.raises(ApiError, match="The key holds") as wrong:
        Client("http://127.0.0.1:1", key)
    assert "secret" not in str(wrong.value)


async def test_what_comes_from_another_server_is_one_error_too() -> None:
    """A redirect of a stream has nothing to follow; what is no number is no time to wait."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = await reader.readuntil(b"\r\n\r\n")
        head = b"302 Found\r\nlocation: http://127.0.0.1:1/" if b"/events" in asked else b"429 No\r\nretry-after: \xb2"
        writer.write(b"HTTP/1.1 " + head + b"\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server, Client(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", KEY) as hermes:
        with pytest.raises(ApiError) as moved:
            _ = [one async for one in hermes.get_run_events("x")]
        with pytest.raises(ApiError) as busy:
            await hermes.get_health()
    assert (moved.value.status, busy.value.status, busy.value.retry_after) == (302, 429, None)


SCRIPT = """
import { ApiError, Client } from "./dist/api.js";
const hermes = new Client(process.env.URL ?? "", process.env.KEY ?? "");
const session = await hermes.createSession({ id: "ts" });
const answer = await hermes.chatInSession(session.id, { input: "Hi." });
console.log(answer.message.content);
let said = "";
for await (const event of hermes.createChatCompletionStream(
  { model: "hermes", messages: [{ role: "user", content: "More." }] }, { sessionId: "ts" },
)) {
  const data = event.data as { choices?: Array<{ delta?: { content?: string } }> } | null;
  said += data?.choices?.[0]?.delta?.content ?? "";
}
console.log(said);
try { await hermes.getSession("none"); } catch (error) { if (error instanceof ApiError) console.log(error.status); }
"""


@pytest.mark.real
@pytest.mark.long
@pytest.mark.skipif(
    not TSC.exists(), reason="no TypeScript: npm install --prefix ~/.cache/hermes-tests/client typescript"
)
async def test_typescript_is_checked_and_speaks_too(serve: Callable[..., Any], scripted: Any, tmp_path: Path) -> None:
    for name in ("api.ts", "wire.ts", "package.json", "tsconfig.json"):
        shutil.copy(HERE / "typescript" / name, tmp_path)
    (tmp_path / "script.ts").write_text(
        "declare const process: { env: Record<string, string | undefined> };\n" + SCRIPT
    )
    (tmp_path / "wrong.ts").write_text(
        'import { Client } from "./dist/api.js";\nawait new Client("", "").createSession({ titel: "x" });\n'
    )

    async def run(*words: str, **more: str) -> tuple[int, str]:
        environ = {"PATH": os.environ["PATH"], **more}
        done = await asyncio.to_thread(
            subprocess.run, words, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr

    assert await run(str(TSC), "-p", ".") == (0, "")
    options = {"target": "ES2022", "module": "NodeNext", "strict": True, "types": []}
    for name in ("script", "wrong"):
        (tmp_path / f"{name}.json").write_text(json.dumps({"compilerOptions": options, "files": [f"{name}.ts"]}))
    assert await run(str(TSC), "-p", "script.json") == (0, "")
    status, told = await run(str(TSC), "-p", "wrong.json", "--noEmit")
    assert status, told
    assert "'titel' does not exist" in told
    async with serve(scripted("One two.", "Three four.")) as url:
        assert await run("node", "script.js", URL=url, KEY=KEY) == (0, "One two.\nThree four.\n404\n")
