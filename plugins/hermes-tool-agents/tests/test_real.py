"""Agents behind the real wall: another Hermes as the counterpart, and what a kill leaves."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from hermes_backend_wall.home import sweep

from .test_contract import AGENT

pytestmark = [pytest.mark.real, pytest.mark.timeout(180)]
ROOT = Path(__file__).parents[3]
READABLE = sorted({str(ROOT), sys.prefix, sys.base_prefix})


async def begin(folder: Path, agent: Any, *tasks: str) -> asyncio.subprocess.Process:
    """Start a kernel that has an agent do tasks."""
    words = [str(folder), json.dumps(agent), json.dumps(READABLE), *tasks]
    script = str(Path(__file__).with_name("walled_turn.py"))
    pipe = asyncio.subprocess.PIPE
    env = {k: v for k, v in os.environ.items() if not k.startswith("HERMES_")}
    return await asyncio.create_subprocess_exec(sys.executable, script, *words, stdout=pipe, stderr=pipe, env=env)


async def play(folder: Path, agent: Any, *tasks: str) -> list[Any]:
    """What came of each task."""
    process = await begin(folder, agent, *tasks)
    out, err = await asyncio.wait_for(process.communicate(), 120)
    assert process.returncode == 0, err.decode()
    return [json.loads(line) for line in out.splitlines()]


async def test_another_hermes_works_behind_the_wall_and_goes_on(tmp_path: Path) -> None:
    home = tmp_path / "place" / "home"
    home.mkdir(parents=True)
    env = {"HERMES_HOME": str(home), "HOME": str(home)}
    other = {"command": sys.executable, "args": ["-m", "hermes_core", "acp"], "env": env}
    told = await play(tmp_path, other, "What time is it?", "/history")
    assert [one["failed"] for one in told] == [False, False], told
    assert "It is " in told[0]["text"]
    assert "What time is it?" in told[1]["text"], "the second task is said in the session of the first"
    assert all(one["untrusted"] for one in told)


def running(mark: str) -> list[int]:
    """Processes whose command line has a word."""
    found = []
    for one in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (one / "cmdline").read_bytes().split(b"\0"):
                found.append(int(one.name))
        except OSError:
            continue
    return found


async def test_a_kill_of_hermes_leaves_no_agent(tmp_path: Path) -> None:
    mark = f"mark-{os.getpid()}-{tmp_path.name}"
    agent = {"command": sys.executable, "args": [AGENT, mark]}
    process = await begin(tmp_path, agent, "wait")
    async with asyncio.timeout(60):
        while not running(mark):
            assert process.returncode is None, await process.communicate()
            await asyncio.sleep(0.05)
    process.kill()
    await process.communicate()
    async with asyncio.timeout(30):
        while running(mark):
            await asyncio.sleep(0.05)
    sweep()  # as the next Hermes does
