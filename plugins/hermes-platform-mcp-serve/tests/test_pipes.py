"""The wire on pipes: garbage, length, prints of others, and how it ends."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

HOST = str(Path(__file__).with_name("pipes_host.py"))
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


@pytest.fixture
async def start(tmp_path):
    begun = []

    async def begin(*more):
        process = await asyncio.create_subprocess_exec(
            sys.executable, HOST, str(tmp_path / "home"), *more,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, limit=64_000_000,
            env={**os.environ, "HERMES_HOME": str(tmp_path / "home")},
        )  # fmt: skip
        begun.append(process)
        return process

    yield begin
    for process in begun:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def say(process, message):
    process.stdin.write(json.dumps(message).encode() + b"\n" if isinstance(message, dict) else message)
    await process.stdin.drain()


async def hear(process):
    return json.loads(await asyncio.wait_for(process.stdout.readline(), 30))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_of_the_sdk_is_served(tmp_path, mode):
    env = {**os.environ, "HERMES_HOME": str(tmp_path / "home")}
    started = StdioServerParameters(command=sys.executable, args=[HOST, str(tmp_path / "home"), "noisy"], env=env)
    async with Client(stdio_client(started), mode=mode) as client:
        assert len((await client.list_tools()).tools) == 9
        assert not (await client.call_tool("conversations_list", {})).is_error


async def test_it_ends_with_its_input(start):
    process = await start()
    await say(process, HELLO)
    assert (await hear(process))["result"]["serverInfo"]["name"] == "hermes"
    process.stdin.close()
    assert await asyncio.wait_for(process.wait(), 20) == 0


async def test_it_ends_when_it_is_told_to_though_nobody_closes_its_input(start):
    process = await start()
    await say(process, HELLO)
    await hear(process)
    process.send_signal(signal.SIGTERM)
    await asyncio.wait_for(process.wait(), 20)


async def test_it_ends_when_nobody_reads_any_more(start):
    process = await start()
    await say(process, HELLO)
    await hear(process)
    process._transport.get_pipe_transport(1).close()
    for number in range(200):
        try:
            await say(process, {"jsonrpc": "2.0", "id": number, "method": "ping"})
        except OSError:
            break
        await asyncio.sleep(0.01)
        if process.returncode is not None:
            break
    assert await asyncio.wait_for(process.wait(), 20) == 0


async def test_garbage_and_what_is_too_long_is_passed_over(start):
    process = await start("noisy")
    for garbage in (b"not json\n", b"\xff\xfe{]\n", b"\n", b"[]\n", b'{"jsonrpc": 7}\n', b"x" * 17_000_000 + b"\n"):
        await say(process, garbage)
    await say(process, HELLO)
    while True:
        answer = await hear(process)  # each line is a message, whatever is printed meanwhile
        assert answer["jsonrpc"] == "2.0"
        if answer.get("id") == 1:
            break
    assert answer["result"]["protocolVersion"] == "2025-11-25"
