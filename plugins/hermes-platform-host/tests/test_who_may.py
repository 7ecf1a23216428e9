"""Who reaches the host: this user at a terminal. no tool, nobody else, and nobody is harmed."""

import asyncio
import base64
import contextlib
import json
import os
import socket
import sys
from typing import Any

import pytest

from hermes_core import __version__, environment
from hermes_front import wire
from hermes_front.one_shot import hello
from hermes_front.wire import LARGEST, frame, reached

SPEAK = """
import base64, json, os, socket, sys
told = json.loads(base64.b64decode(open(os.path.dirname(os.path.abspath(__file__)) + "/told").read()))
made = socket.socket(socket.AF_UNIX)
made.settimeout(5)
try:
    os.chdir(os.path.dirname(told["place"]))
    made.connect("host.sock")
    made.sendall(json.dumps(told["hello"]).encode() + b"\\n")
    print("SAID", made.recv(1000))
except OSError as error:
    print("NOT", type(error).__name__)
"""


def put(house: Any) -> Any:
    """A program that speaks with the host as a terminal does, without the place in its words."""
    mine = dict(hello(__version__, str(house.home), do="one-shot"), env=house.env)
    told = json.dumps({"place": str(house.socket), "hello": mine}).encode()
    (house.work / "told").write_bytes(base64.b64encode(told))
    (house.work / "speak.py").write_text(SPEAK)
    return house.work / "speak.py"


def connected(house: Any) -> socket.socket:
    """A connection to the host."""
    made = socket.socket(socket.AF_UNIX)
    address, opened = reached(str(house.socket))
    made.settimeout(10)
    try:
        made.connect(address)
    finally:
        if opened >= 0:
            os.close(opened)
    return made


def test_both_sides_know_a_tool_by_the_same() -> None:
    assert (wire.MARK, wire.LOCKS) == (environment.MARK, environment.LOCKS)


async def test_a_terminal_speaks_with_no_host_that_a_tool_began(house: Any) -> None:
    house.socket.parent.mkdir(parents=True)
    code = """
import os, resource, socket, sys
resource.setrlimit(10, (int(sys.argv[1]), int(sys.argv[1])))
os.chdir(sys.argv[2])
made = socket.socket(socket.AF_UNIX)
made.bind("host.sock")
made.listen()
made.settimeout(20)
print(made.accept()[0].recv(1000000) or "nothing")
"""
    words = [str(environment.LOCKS), str(house.socket.parent)]
    made = await asyncio.create_subprocess_exec(sys.executable, "-c", code, *words, stdout=asyncio.subprocess.PIPE)
    async with asyncio.timeout(20):
        while not house.socket.exists():
            await asyncio.sleep(0.05)
    assert (await house.hermes("-z", "when?"))[:2] == (0, "Nine o'clock.\n")
    assert (await made.communicate())[0] == b"nothing\n"


@pytest.mark.parametrize("wall", ["bubblewrap", "landlock", "none"])
async def test_no_command_of_a_tool_reaches_it(house: Any, wall: str) -> None:
    house.configure(f"policy: {{mode: 'off'}}\nbackends: {{local: {{wall: {wall}}}}}\n")
    await house.open()
    command = f"env -i {sys.executable} {put(house)}"  # without the mark; the limit stays
    house.model.script = [house.calls(command), house.says("Nine o'clock.")]
    status, out, _ = await house.hermes("-z", "go", "--json")
    assert status == 0
    returned = [json.loads(line) for line in out.splitlines() if '"returned"' in line]
    text = json.dumps(returned[-1]["result"])
    if "cannot be made" in text or "no wall" in text.lower():
        pytest.skip(f"this machine does not claim the wall {wall}")
    assert "NOT" in text or "SAID b''" in text, text
    assert '"ok"' not in text


@pytest.mark.skipif(os.geteuid() != 0, reason="who is not root does not claim to be somebody else")
async def test_another_user_is_refused(house: Any, tmp_path: Any) -> None:
    await house.open()
    words = [sys.executable, str(put(house))]
    mine = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE, cwd="/")
    assert b'SAID b\'{"ok"' in (await mine.communicate())[0], "for this user it is no other program"

    async def said() -> str:
        made = await asyncio.create_subprocess_exec(
            "/usr/bin/env",
            *words,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            user=65534,
            cwd="/",
        )
        return (await made.communicate())[0].decode()

    assert (house.socket.parent.stat().st_mode & 0o777, house.socket.stat().st_mode & 0o777) == (0o700, 0o600)
    assert "SAID b'{" not in await said()
    place = house.socket
    while place != place.parent and place.is_relative_to("/tmp"):
        place.chmod(0o777)  # even where every folder lets them in
        place = place.parent
    assert "SAID b'{" not in await said()


async def test_what_a_hostile_terminal_says_harms_nobody(house: Any) -> None:
    await house.open()
    mine = dict(hello(__version__, str(house.home), do="one-shot"), env=house.env)

    def speak(*data: bytes) -> bytes:
        made, said = connected(house), b""
        try:
            for one in data:
                made.sendall(one)
            made.shutdown(socket.SHUT_WR)
            while more := made.recv(1 << 16):
                said += more
        except OSError:
            pass
        finally:
            made.close()
        return said

    endless = b"x" * (3 * LARGEST)
    for data in (
        [b"\n"], [b"\0" * 1000 + b"\n"], [endless], [b"[" * 100_000 + b"\n"], [b'"hello"\n'], [b"{}\n"],
        [frame(hello=1)], [frame(**mine), endless], [frame(**mine), frame(say=7)], [frame(**mine), frame(say=None)],
        [frame(**{**mine, "env": {"A": 1}})], [frame(**{**mine, "cwd": 5}), frame(nothing=1)],
        [frame(**{**mine, "do": "attach"}), frame(session=[1]), b"\xff\xff\n"],
        [frame(**{**mine, "do": "attach"}), frame(session="none such")],
    ):  # fmt: skip
        await asyncio.to_thread(speak, *data)
    assert (await house.hermes("-z", "when?"))[:2] == (0, "Nine o'clock.\n")
    status, told, _ = await house.hermes("host", "status")
    assert status == 0, told


async def test_a_thousand_connections_harm_nobody(house: Any) -> None:
    import resource

    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    many = min(1000, most - 100)
    await house.open()
    made = []
    with contextlib.suppress(BlockingIOError, TimeoutError):
        for _ in range(many):
            made.append(await asyncio.to_thread(connected, house))  # noqa: PERF401 - closed below, however many
    assert (await house.hermes("-z", "when?"))[:2] == (0, "Nine o'clock.\n"), "it is answered, by itself if need be"
    for one in made:
        one.close()
    async with asyncio.timeout(20):
        while (await house.hermes("host", "status"))[0]:
            await asyncio.sleep(0.2)


async def test_a_terminal_that_reads_nothing_is_let_go(house: Any) -> None:
    await house.open()
    mine = dict(hello(__version__, str(house.home), do="one-shot"), env=house.env)
    house.model.script = [house.says("long " * 4_000_000), house.says("Nine o'clock.")]
    made = connected(house)
    made.sendall(frame(**mine) + frame(say="go", json=True))
    async with asyncio.timeout(40):
        while "long long" not in (await house.hermes("sessions", "export"))[1][:100_000]:
            await asyncio.sleep(0.5)
    assert (await house.hermes("-z", "when?"))[:2] == (0, "Nine o'clock.\n")
    made.close()
