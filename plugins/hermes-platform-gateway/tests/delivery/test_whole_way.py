"""From what a person writes to what they read: the gateway is killed at every point of the way, on three services."""

import itertools
import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from delivery_judge import MARK
from far_end import KINDS, FarEnd

from hermes_core.slash import QUEUED
from hermes_core.store.killpoints import POINTS
from hermes_core.types import Feature
from hermes_platform_gateway.outward.sender import PLACEHOLDER

pytestmark = pytest.mark.long

OTHER = (
    "migrating",
    "sent_on",
    "asked",
    "approved",
    "tool_started",
    "tool_done",
    "tool_stored",
    "compacting",
    "compacted",
)
ACKED = "acked"  # the service was told that a message arrived; nobody acted on it
WAY = [ACKED, *(point for point in POINTS if point not in OTHER)]
EVENTS = [("e1", "anna", "one"), ("e2", "ben", "two"), ("e3", "anna", "three"), ("e4", "anna", "four")]


@pytest.fixture(scope="session")
def house():
    program = Path(__file__).with_name("house.py")
    with subprocess.Popen(
        [sys.executable, str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.stdin.close()


@pytest.fixture
def serve(house, request):
    """Serve until everything is answered; whether the process was killed."""

    def go(folder: Path, kind: str, die_at: str = "", *, seed: object = 0, fault: float = 0.0) -> bool:
        folder.mkdir(exist_ok=True)
        point, _, number = die_at.partition(":")
        dies = {"die_at": "", "last_ack": int(number)} if point == ACKED else {"die_at": die_at, "last_ack": 0}
        order = {"folder": str(folder), "url": "", "kind": kind, "seed": str(seed), "fault": fault}
        house.stdin.write(json.dumps({**order, **dies, "events": EVENTS}) + "\n")
        house.stdin.flush()
        status = int(house.stdout.readline())
        assert status in ((0, -9) if die_at else (0,))
        return status == -9

    return go


def judged(folder: Path, kind: str) -> list[str]:
    """Each event has its one answer, seen once; the texts that were seen twice."""
    far = FarEnd(folder / "seen", kind)
    seen = [(chat, text) for chat, text in far.seen() if text != PLACEHOLDER and QUEUED not in text]
    counts = Counter((chat, text.removeprefix(MARK)) for chat, text in seen)
    wanted = {(chat, f"The answer to {text} is not a short one.") for _, chat, text in EVENTS}
    assert set(counts) == wanted, "lost, or said without need"
    once = far.features & {Feature.IDEMPOTENT, Feature.EDIT}
    assert max(counts.values()) <= (1 if once else 2)
    for (chat, text), count in counts.items():
        assert count == 1 or (chat, MARK + text) in seen, "seen twice, and not marked"
    return [text for text, count in counts.items() if count > 1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("point", WAY)
def test_a_death_anywhere_on_the_way(serve, tmp_path, kind, point, request):
    """At the first time the point is reached, and then at some later ones."""
    dice = random.Random(f"{kind} {point}")
    for number in itertools.islice(itertools.chain((1,), itertools.repeat(0)), request.config.getoption("rounds")):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        killed = serve(folder, kind, f"{point}:{number or dice.randint(2, 5)}", seed=f"{kind}{point}{folder.name}")
        assert killed or number != 1, f"nothing reached {point}"
        serve(folder, kind, seed="after")
        judged(folder, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_deaths_and_faults_and_messages_that_come_again(serve, tmp_path, kind, seed):
    dice = random.Random(f"{kind} {seed}")
    for life in range(dice.randint(0, 3)):
        serve(tmp_path, kind, f"{dice.choice(WAY)}:{dice.randint(1, 5)}", seed=f"{seed} {life}", fault=0.08)
    serve(tmp_path, kind, seed=f"{seed} last", fault=0.08)
    if kind != "plain":  # there, what was tried twice without a receipt is given up
        judged(tmp_path, kind)
