"""The MCP servers that an editor brings: asked about, there for their session, and nowhere written down."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from hermes_acp_wire.peer import INVALID_PARAMS, RpcError
from hermes_platform_acp.bringing import brought

from .conftest import House, calls, says

KEY = "sk-of-the-editor-4711"
SERVER = """\
import json, os, sys
ECHO = {"name": "echo", "description": "Say it again.", "inputSchema": {"type": "object", "properties": {}}}
for line in sys.stdin:
    told = json.loads(line)
    if "id" not in told:
        continue
    result = {
        "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}},
        "tools/list": {"tools": [ECHO]},
        "tools/call": {"content": [{"type": "text", "text": os.getcwd() + " with " + os.environ["KEY"]}]},
    }.get(told["method"])
    found = {"result": result} if result else {"error": {"code": -32601, "message": "no"}}
    print(json.dumps({"jsonrpc": "2.0", "id": told["id"], **found}), flush=True)
"""  # noqa: E501


@pytest.fixture
async def server(house: House) -> dict[str, Any]:
    """A server in the folder of the project, as an editor brings it; the plugin is enabled."""
    (house.work / "server.py").write_text(SERVER)
    words = (sys.executable, "-m", "hermes_core", "plugins", "enable", "mcp", "--yes")
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*words, env=house.env, cwd=house.work, stdout=pipe, stderr=pipe)
    out, err = await process.communicate()
    assert process.returncode == 0, (out, err)
    python = str(Path(sys.base_prefix, "bin", "python3"))
    return {"name": "My Clock", "command": python, "args": ["server.py"], "env": [{"name": "KEY", "value": KEY}]}


def offered(house: House, request: int = -1) -> list[str]:
    """The tools that a request told the model of."""
    said = [one.body for one in house.model.asked if one.raw]
    return [one["function"]["name"] for one in said[request].get("tools", ())]


def written(house: House, words: str) -> list[Path]:
    """The files of the home that hold some words."""
    return [one for one in house.home.rglob("*") if one.is_file() and words.encode() in one.read_bytes()]


@pytest.mark.long
async def test_they_work_for_their_session_behind_the_wall_once_a_person_said_yes(house: House, server: Any) -> None:
    house.script(calls("mcp__my-clock__echo"), says("Done."), says("No such thing."), says("Nor here."))
    editor = await house.editor()
    editor.permit = lambda _: "session"
    session = (await editor.ask("session/new", cwd=str(house.work), mcpServers=[server]))["sessionId"]
    await editor.say(session, "what time is it?")
    [(_, asked)] = editor.asked
    shown = json.dumps(asked)
    assert "server.py" in shown
    assert "(env: KEY)" in shown
    assert KEY not in shown, "no value is shown"
    assert "always" in [one["optionId"] for one in asked["options"]]
    answer = str([one.body for one in house.model.asked if one.raw][-1]["messages"][-1]["content"])
    assert f"{house.work} with [KEY]" in answer
    assert "<untrusted" in answer
    await editor.say(await editor.new(), "and here?")
    assert "mcp__my-clock__echo" in offered(house, -2)
    assert "mcp__my-clock__echo" not in offered(house), "they are its session's alone"
    assert len(editor.asked) == 1
    await editor.ask("session/close", sessionId=session)
    await editor.ask("session/load", sessionId=session, cwd=str(house.work), mcpServers=[])
    await editor.say(session, "and now?")
    assert "mcp__my-clock__echo" not in offered(house), "they were for what is closed"
    await editor.stop()
    assert written(house, KEY) == []


@pytest.mark.long
async def test_a_yes_survives_a_death_and_holds_for_no_other_command(house: House, server: Any) -> None:
    editor = await house.editor()
    editor.permit = lambda _: "session"
    session = (await editor.ask("session/new", cwd=str(house.work), mcpServers=[server]))["sessionId"]
    await editor.say(session, "one")
    await editor.kill()
    second = await house.editor()
    await second.ask("session/load", sessionId=session, cwd=str(house.work), mcpServers=[server])
    await second.say(session, "two")
    assert "mcp__my-clock__echo" in offered(house)
    assert second.asked == []
    second.permit = lambda _: "deny"
    other = server | {"args": ["server.py", "--and", "this"]}
    await second.ask("session/load", sessionId=session, cwd=str(house.work), mcpServers=[other])
    await second.say(session, "three")
    assert len(second.asked) == 1
    assert "Without the MCP servers of your editor: My Clock" in second.text()
    answer = await second.ask("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "/mcp"}])
    assert answer["stopReason"] == "end_turn"
    assert "There is no MCP server here" in second.text()


@pytest.mark.long
async def test_in_a_known_folder_nobody_is_asked_and_who_is_asked_for_good_is_asked_once(
    house: House, server: Any, version: int
) -> None:
    server |= {"type": "stdio"} if version == 2 else {}
    editor = await house.editor(version)
    editor.permit = lambda _: "always"
    for _ in range(2):
        session = (await editor.ask("session/new", cwd=str(house.work), mcpServers=[server]))["sessionId"]
        await editor.say(session, "hello")
        assert "mcp__my-clock__echo" in offered(house)
    assert len(editor.asked) == 1
    pipe = asyncio.subprocess.PIPE
    words = (sys.executable, "-m", "hermes_core", "trust", "add", str(house.work))
    process = await asyncio.create_subprocess_exec(*words, env=house.env, cwd=house.work, stdout=pipe, stderr=pipe)
    assert (await process.communicate())[0]
    other = server | {"name": "another"}
    session = (await editor.ask("session/new", cwd=str(house.work), mcpServers=[other]))["sessionId"]
    await editor.say(session, "hello")
    assert "mcp__another__echo" in offered(house)
    assert len(editor.asked) == 1


def test_what_is_no_server_is_refused() -> None:
    one = {"name": "x", "command": "x"}
    for wrong in (
        "clock", ["clock"], [one] * 33, [{"command": "x"}], [one | {"name": ""}], [one | {"command": ""}],
        [one | {"args": [7]}], [one | {"args": "a"}], [one | {"env": {"A": "b"}}], [one | {"env": [{"name": "A"}]}],
        [{"name": "x", "type": "http"}], [{"name": "x", "type": "carrier-pigeon", "url": "http://x"}],
    ):  # fmt: skip
        with pytest.raises(RpcError) as caught:
            brought({"mcpServers": wrong})
        assert caught.value.code == INVALID_PARAMS, wrong


def test_a_question_shows_commands_without_values_and_a_yes_is_to_all_of_it_in_a_folder() -> None:
    row = {"name": "x", "command": "a b", "args": ["$(c)"], "env": [{"name": "KEY", "value": KEY}]}
    [first] = brought({"mcpServers": [row]})
    assert first.words == "x: $ 'a b' '$(c)' (env: KEY)"
    others = [row | {"args": []}, row | {"env": [{"name": "KEY", "value": "other"}]}, row | {"name": "y"}]
    digests = {one.digest("/a") for one in brought({"mcpServers": others})} | {first.digest("/b")}
    assert len(digests | {first.digest("/a")}) == 5
    [far] = brought({"mcpServers": [{"name": "x", "type": "http", "url": "https://h/", "headers": row["env"]}]})
    assert far.words == "x: connect to https://h/ (headers: KEY)"
