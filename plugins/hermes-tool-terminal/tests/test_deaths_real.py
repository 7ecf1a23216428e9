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
from hermes_core.types import Text

sys.path.insert(0, str(Path(__file__).parent))  # for dying_worker; pytest does not do it in this import mode

from dying_worker import bench

pytestmark = [pytest.mark.real, pytest.mark.long, pytest.mark.timeout(230)]
WORKER = Path(__file__).with_name("dying_worker.py")
KILLS = 5  # of each part
NAMES = ("p1", "p2", "p3")


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


async def told(home, wall):
    """How often the conversation is told of each process, once the next Hermes has served for a while."""
    made = bench(home, wall, *["heard"] * 12)
    made.runtime.loader.load_contributing("services", ["processes"])
    services = [one for _, one in made.runtime.dispatch.contributions("register_services")]
    (serving,) = [asyncio.create_task(one.run()) for one in services if one.name == "processes"]
    try:
        async for _ in made.resume("s"):
            pass
        quiet = 0
        while quiet < 12:  # longer than others are waited for
            events = [one async for one in made.runtime.turns.follow("s")]
            quiet = 0 if events else quiet + 1
            await asyncio.sleep(0.25)
        store = await made.runtime.store()
        texts = [part.text for one in await store.history.load("s") for part in one.parts if isinstance(part, Text)]
    finally:
        serving.cancel()
        await asyncio.wait([serving])
        await made.close()
    lines = [line for text in texts if text.startswith("<processes>") for line in text.split("\n")]
    return {
        name: sum(line.startswith((f"- {name} ", f"- Hermes died while {name} ")) for line in lines) for name in NAMES
    }


def test_an_end_is_told_once_whenever_hermes_dies(tmp_path, part):
    chance = random.Random(1_000 + part)
    for number in range(2):
        home = tmp_path / str(number) / "home"
        home.mkdir(parents=True)
        wall = chance.choice(("none", "bubblewrap"))
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        with subprocess.Popen([sys.executable, WORKER, home, wall, "3", "ends"], **pipes) as worker:
            worker.stdout.readline()
            worker.stdout.readline()
            time.sleep(chance.uniform(0.0, 4.0))
            worker.send_signal(signal.SIGKILL)
        found = asyncio.run(told(home, wall))
        assert all(count == 1 for count in found.values()), f"round {number}, behind {wall}: {found} in {home}"
