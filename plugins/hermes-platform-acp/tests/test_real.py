"""Real clients: acpx, and the official libraries for TypeScript and Python."""

import asyncio
import contextlib
import json
import os
import pwd
import shutil
import socket
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from hermes_tool_migrate import stand_in

from .conftest import House, calls, says
from .test_asking import ASKS, RISKY

pytestmark = [pytest.mark.real, pytest.mark.timeout(180)]
HERE = Path(__file__).parent
CACHE = Path(pwd.getpwuid(os.getuid()).pw_dir, ".cache", "hermes-tests", "acp")
THERE = Path(os.environ.get("HERMES_ACP", CACHE))  # as .ci/run installs them
PYTHON, NODE, MODULES = THERE / "python" / "bin" / "python", THERE / "python" / "bin" / "node", THERE / "node_modules"
AGENT = [sys.executable, "-m", "hermes_core", "acp"]


@pytest.fixture(autouse=True)
def clients() -> None:
    """What the clients stand on."""
    if not MODULES.is_dir():
        pytest.skip(f"{MODULES} is not there: see .ci/run")


async def run(house: House, *words: str | Path) -> tuple[int, list[Any], str]:
    """Run a client to its end: its exit status, the JSON that it said, and the rest."""
    pipe = asyncio.subprocess.PIPE
    env = {**house.env, "PATH": f"{NODE.parent}:{os.environ['PATH']}"}
    process = await asyncio.create_subprocess_exec(*map(str, words), cwd=house.work, env=env, stdout=pipe, stderr=pipe)
    out, err = await asyncio.wait_for(process.communicate(), 120)
    assert process.returncode is not None
    lines = [json.loads(line) for line in out.decode().splitlines() if line.startswith("{")]
    return process.returncode, lines, err.decode() + out.decode()


def acpx(*words: str) -> Sequence[str | Path]:
    """A call of acpx."""
    agent = " ".join(AGENT)
    cli = MODULES / "acpx" / "dist" / "cli.js"
    return [NODE, cli, "--agent", agent, "--approve-all", "--format", "json", "--timeout", "60", "--ttl", "1", *words]


def text_of(told: Sequence[Any]) -> str:
    """All that the agent said, of whole messages or of updates alone."""
    updates = [one["params"]["update"] if one.get("method") == "session/update" else one for one in told]
    chunks = [one for one in updates if one.get("sessionUpdate") == "agent_message_chunk"]
    return "".join(one["content"]["text"] for one in chunks)


async def test_acpx_has_a_command_run_and_hears_the_answer(house: House) -> None:
    house.configure(ASKS)
    house.script(calls("terminal", command=RISKY), says("It is", " done."))
    status, told, said = await run(house, *acpx("exec", "do it"))
    assert status == 0, said
    assert text_of(told) == "It is done."
    assert (house.work / "done").exists()
    assert any(one.get("method") == "session/request_permission" for one in told)
    assert told[-1]["result"]["stopReason"] == "end_turn" or any(
        one.get("result", {}).get("stopReason") == "end_turn" for one in told if isinstance(one.get("result"), dict)
    )


async def test_a_session_of_acpx_goes_on_in_another_process(house: House) -> None:
    house.script(says("One."), says("Two."))
    for words in (["sessions", "new"], ["prompt", "say one"]):
        status, _, said = await run(house, *acpx(*words))
        assert status == 0, said
    await asyncio.sleep(2)  # its owner of the session leaves after a second
    status, told, said = await run(house, *acpx("prompt", "say two"))
    assert status == 0, said
    assert "Two." in text_of(told)
    sent = [one["content"] for one in house.model.asked[-1].body["messages"] if one["role"] != "system"]
    assert sent == ["say one", "One.", "say two"]


@pytest.mark.parametrize("version", ["1", "2"])
async def test_the_typescript_library_understands_every_message(house: House, version: str) -> None:
    house.configure(ASKS)
    house.script(calls("terminal", command=RISKY), says("It is", " done."))
    draft = ["--draft-v2"] if version == "2" else []
    status, told, said = await run(house, NODE, HERE / "client.mjs", MODULES, version, house.work, *AGENT, *draft)
    assert status == 0, said
    assert told[0]["protocolVersion"] == int(version)
    assert text_of(told) == "It is done."
    assert [one["ended"] for one in told if "ended" in one] == ["end_turn"]
    assert [one["asked"][0] for one in told if "asked" in one] == ["once"]
    assert (house.work / "done").exists()


async def test_the_python_library_understands_every_message(house: House) -> None:
    house.configure(ASKS)
    house.script(calls("terminal", command=RISKY), says("It is", " done."))
    status, told, said = await run(house, PYTHON, HERE / "client.py", house.work, *AGENT)
    assert status == 0, said
    assert text_of(told) == "It is done." * 2  # once as it came, once as it was loaded again
    assert [one["ended"] for one in told if "ended" in one] == ["end_turn"]
    assert {"loaded": True} in told
    assert (house.work / "done").exists()


async def test_the_runner_of_verifiers_drives_it(house: House) -> None:
    """Its own program, between a rollout and an agent, as its package has it."""
    [runner] = THERE.glob("python/lib/python3*/site-packages/verifiers/v1/acp/runner.py")
    house.configure(ASKS)
    house.script(calls("terminal", command=RISKY), says("It is", " done."), says("Again."))
    config = {
        "command": AGENT, "client_capabilities": {}, "session_meta": {}, "mcp_urls": {}, "mcp_headers": {},
        "system_prompt": "Be brief.", "user_contents": ["do it"],
    }  # fmt: skip
    packets = [
        {"id": 1, "operation": "prompt", "config": config},
        {"id": 2, "operation": "prompt", "config": {**config, "user_contents": ["again"]}},
        {"id": 3, "operation": "shutdown"},
    ]
    sent = b"".join(len(p := json.dumps(one).encode()).to_bytes(8, "big") + p for one in packets)
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *(PYTHON, runner), stdin=pipe, stdout=pipe, stderr=pipe, cwd=house.work, env=house.env
    )
    out, err = await asyncio.wait_for(process.communicate(sent), 120)
    told = []
    while out:
        size = int.from_bytes(out[:8], "big")
        told.append(json.loads(out[8 : 8 + size]))
        out = out[8 + size :]
    assert [one["ok"] for one in told] == [True, True, True], (told, err.decode())
    assert [one["result"]["reply"] for one in told[:2]] == ["It is done.", "Again."]
    assert told[0]["result"]["stop_reason"] == "end_turn"
    assert (house.work / "done").exists()


TOOLS = """\
import sys
from mcp.server.mcpserver import MCPServer
server = MCPServer("tools")
@server.tool()
def greet(word: str) -> str:
    return f"tools of the task say {word}"
server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
"""


@pytest.fixture
def installed(house: House) -> Iterator[Path]:
    """What the install step of the Hermes harness leaves, for ours: its folder, and the homes of its rollouts."""
    place = Path("/var/tmp", f"vf-hermes-agent-{house.home.parent.name}")
    rollout = Path("/tmp/vf-hermes", house.home.parent.name)
    packages, python = place / "packages", place / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    packages.mkdir()
    stand_in.install(packages, ["mcp"])
    python.write_text(f'#!/bin/sh\nPYTHONPATH={packages} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    (place / ".ready").touch()
    yield rollout
    for one in (place, rollout):
        shutil.rmtree(one, ignore_errors=True)
    with contextlib.suppress(OSError):
        rollout.parent.rmdir()


async def test_the_hermes_harness_of_verifiers_drives_it(house: House, installed: Path) -> None:
    """Its own code makes the home, its settings and the program, and its runner talks to that."""
    [package] = THERE.glob("python/lib/python3*/site-packages/verifiers/v1")
    greet = calls("mcp__tools__greet", word="hi")
    house.script(calls("terminal", command="touch done"), greet, greet, says("It is", " done."))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (house.work / "server.py").write_text(TOOLS)
    server = await asyncio.create_subprocess_exec(sys.executable, house.work / "server.py", str(port), stderr=-3)
    try:
        async with asyncio.timeout(60):
            while True:
                with contextlib.suppress(OSError):
                    (await asyncio.open_connection("127.0.0.1", port))[1].close()
                    break
                await asyncio.sleep(0.05)
        words = (PYTHON, HERE / "harness.py", package, house.work, house.model.url, f"http://127.0.0.1:{port}/mcp")
        status, told, said = await run(house, *words)
    finally:
        server.kill()
        await server.wait()
    assert status == 0, said
    assert told[0]["home"] == str(installed), told
    assert [one["ok"] for one in told[1:]] == [True, True], (told, said)
    assert told[1]["result"]["reply"] == "It is done."
    assert told[1]["result"]["stop_reason"] == "end_turn"
    assert (house.work / "done").exists()
    said = str([one.body for one in house.model.asked if one.raw][-1]["messages"])
    assert said.count("tools of the task say hi") == 2
    request = next(one for one in house.model.asked if one.raw)
    assert (request.body["model"], request.path) == ("m", "/v1/chat/completions")
    assert request.headers["authorization"] == "Bearer secret"
    assert "debug-a-test" not in request.raw.decode(), "skills that come with the program are not used"
