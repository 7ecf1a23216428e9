"""Hermes is killed while children work in the background: what they came to is told once."""

import asyncio
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hermes_core.types import Text

sys.path.insert(0, str(Path(__file__).parent))  # for dying; pytest does not do it in this import mode

from dying import bench

pytestmark = [pytest.mark.long, pytest.mark.timeout(230)]
WORKER = Path(__file__).with_name("dying.py")


def pytest_generate_tests(metafunc):
    if "part" in metafunc.fixturenames:
        metafunc.parametrize("part", range(metafunc.config.getoption("kills")))


async def told(home):
    """What the conversation is told of children, once somebody spoke in it again."""
    made, _ = bench(home)
    try:
        async for _ in made.resume("s"):
            pass
        async for _ in made.turn("hello", session="s"):
            pass
        quiet = 0
        while quiet < 15:
            events = [one async for one in made.runtime.turns.follow("s")]
            quiet = 0 if events else quiet + 1
            await asyncio.sleep(0.2)
        rows = await (await made.runtime.store()).history.load("s")
    finally:
        await made.close()
    texts = [part.text for one in rows for part in one.parts if isinstance(part, Text)]
    return [text for text in texts if text.startswith("<children>")]


def test_it_is_told_once_whenever_hermes_dies(tmp_path, part):
    chance, home = random.Random(part), tmp_path / "home"
    home.mkdir()
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([sys.executable, WORKER, home, "0.3"], **pipes) as worker:
        worker.stdout.readline()
        if part % 2:
            worker.stdout.readline()
            time.sleep(chance.uniform(0.0, 1.0))
        else:
            time.sleep(chance.uniform(0.5, 2.5))
        worker.send_signal(signal.SIGKILL)
    found = asyncio.run(told(home))
    if not found and not part % 2:
        return  # it died before the call
    (one,) = found
    assert [f'"answer": "count {what}: seven"' in one for what in ("apples", "pears")] == [True, True]
