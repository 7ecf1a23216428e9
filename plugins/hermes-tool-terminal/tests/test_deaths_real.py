"""Hermes is killed at any moment, and no process is left that nobody knows of."""

import asyncio
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hermes_core.testing import Call

sys.path.insert(0, str(Path(__file__).parent))  # for dying_worker; pytest does not do it in this import mode

from dying_worker import bench

pytestmark = [pytest.mark.real, pytest.mark.long, pytest.mark.timeout(230)]
WORKER = Path(__file__).with_name("dying_worker.py")
KILLS = 5  # of each part


def sleeping(seconds):
    """The processes that sleep for so many seconds."""
    found = []
    for one in Path("/proc").glob("[0-9]*"):
        try:
            if (one / "cmdline").read_bytes().split(b"\0")[:2] == [b"sleep", str(seconds).encode()]:
                found.append(int(one.name))
        except OSError:
            continue
    return found


async def ended(home, wall):
    """What the next Hermes knows of them, and ends."""
    made = bench(home, wall)
    cut = "s" in await made.interrupted()
    await made.close()
    kills = [Call("process", {"action": "kill", "id": f"p{number}"}) for number in (1, 2, 3)]
    made = bench(home, wall, *(["as it was"] if cut else []), *kills, "done")
    try:
        async for _ in made.resume("s"):
            pass
        async for _ in made.turn("end them", session="s"):
            pass
    finally:
        await made.close()


def pytest_generate_tests(metafunc):
    if "part" in metafunc.fixturenames:  # --kills 40 are 200 deaths
        metafunc.parametrize("part", range(metafunc.config.getoption("kills")))


def test_no_process_is_left_after_deaths_at_any_moment(tmp_path, part):
    chance = random.Random(part)
    for number in range(KILLS):
        home, seconds = tmp_path / str(number) / "home", 700_000 + part * KILLS + number
        home.mkdir(parents=True)
        wall, whole = chance.choice(("none", "none", "bubblewrap")), number % 3 == 0
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        with subprocess.Popen([sys.executable, WORKER, home, wall, str(seconds)], **pipes) as worker:
            worker.stdout.readline()
            if whole:
                worker.stdout.readline()
            else:
                time.sleep(chance.uniform(0.0, 4.5))
            worker.send_signal(signal.SIGKILL)
        if wall == "bubblewrap":
            deadline = time.monotonic() + 10
            while sleeping(seconds) and time.monotonic() < deadline:
                time.sleep(0.05)
            assert not sleeping(seconds), f"round {number}: behind a wall they die with Hermes"
            continue
        assert not whole or len(sleeping(seconds)) == 6, f"round {number}: without a wall they outlive it"
        asyncio.run(ended(home, wall))
        assert not sleeping(seconds), f"round {number}: {home}"
