"""Processes of the tool over there: kept, seen on a terminal, and found again after Hermes was killed."""

import asyncio
import contextlib
import json
import os
import pwd
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hermes_core.testing import Call
from hermes_core.testing.bench import Bench
from hermes_core.testing.scripted import ScriptedProvider
from hermes_core.types import Returned, Text

pytestmark = pytest.mark.real


def bench(home, settings, *steps):
    made = Bench(Path(home))
    made.tmp_plugin(ScriptedProvider(steps))
    made.tmp_plugin("hermes_tool_terminal")
    made.tmp_plugin("hermes_backend_ssh")
    made.configure({"policy.mode": "off", "terminal.backend": "ssh", **settings})
    return made


async def play(made):
    events = [event async for event in made.turn("go", session="s")]
    results = [one.result for one in events if isinstance(one, Returned)]
    return ["".join(p.text for p in one.parts if isinstance(p, Text)) for one in results]


@pytest.fixture
def settings(server, tmp_path):
    work = tmp_path / "there"
    work.mkdir()
    known = {"host": server.host, "port": server.port, "key": server.key, "options": server.options}
    yield {f"backends.ssh.{name}": value for name, value in {**known, "folder": str(work)}.items()}
    kept = Path(pwd.getpwuid(os.getuid()).pw_dir, ".cache", "hermes-processes")  # as who logs in has it
    assert not [*kept.glob("*")], "what was kept for the case of a death is gone"
    with contextlib.suppress(OSError):
        kept.rmdir()


async def test_one_is_typed_into_on_a_terminal_over_there(settings, tmp_path):
    made = bench(
        tmp_path / "home",
        settings,
        Call("terminal", {"command": "cd /usr; export A=5"}),
        Call("terminal", {"command": 'echo "in $PWD $A"; read -p "name? " it; echo "hello $it"', "background": "tty"}),
        Call("terminal", {"command": "you", "background": "p1"}),
        "done",
    )
    try:
        _, began, typed = await play(made)
    finally:
        await made.close()
    assert "in /usr 5" in began
    assert "name?" in began
    assert "hello you" in typed
    assert "p1 has ended with exit 0" in typed


async def test_one_that_outlived_hermes_is_found_again(settings, tmp_path):
    home, there = tmp_path / "home", Path(settings["backends.ssh.folder"])
    command = "echo before; touch up; until [ -e go ]; do sleep 0.1; done; echo after; touch over; exit 6"
    worker = f"""
import asyncio, json, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_ssh_processes_real import Call, bench, play
step = Call("terminal", {{"command": {command!r}, "background": "yes"}})
made = bench({str(home)!r}, json.loads({json.dumps(settings)!r}), step, "done")
async def main():
    await play(made)
    print("up", flush=True)
    await asyncio.sleep(600)
asyncio.run(main())
"""
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE}
    process = subprocess.Popen([sys.executable, "-c", worker], env={**os.environ}, **pipes)  # noqa: ASYNC220
    try:
        assert await asyncio.to_thread(process.stdout.readline) == b"up\n"
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    (there / "go").touch()
    deadline = time.monotonic() + 30
    while not (there / "over").exists():
        assert time.monotonic() < deadline, "it did not outlive its Hermes"
        await asyncio.sleep(0.05)
    made = bench(home, settings, Call("process", {"action": "log", "id": "p1"}), "done")
    try:
        (said,) = await play(made)
    finally:
        await made.close()
    assert "p1 has ended with exit 6: by itself, after Hermes had died" in said
    assert "before\nafter" in said
