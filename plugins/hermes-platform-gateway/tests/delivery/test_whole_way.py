"""From what a person writes to what they read: the gateway is killed at every point of the way, on three services."""

import itertools
import random
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


@pytest.fixture
def serve(workers, request):
    """Serve until everything is answered; whether the process was killed."""
    house = workers(Path(__file__).with_name("house.py"))

    def go(
        folder: Path, kind: str, die_at: str = "", *, seed: object = 0, fault: float = 0.0, events: list = EVENTS
    ) -> bool:
        folder.mkdir(exist_ok=True)
        point, _, number = die_at.partition(":")
        dies = {"die_at": "", "last_ack": int(number)} if point == ACKED else {"die_at": die_at, "last_ack": 0}
        order = {"folder": str(folder), "url": "", "kind": kind, "seed": str(seed), "fault": fault}
        status = house.play({**order, **dies, "events": events})
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


BEHIND = ("received", "leased", "journaled", "prompted", "requested", "mid_stream", "replied", "answered")
# The reply may be under way, and what is shown of it; the turn takes its session and is written down beside its
# first request.
UNHEARD = ("leased", "journaled", "requested", "mid_stream", "storing", "stored")


@pytest.mark.parametrize("point", [ACKED, *BEHIND, "storing", "stored"])
def test_what_is_done_in_the_background_is_done_once_wherever_a_death_comes(serve, tmp_path, point):
    """Killed each time the point is reached; the person hears once that it was begun, and once what came of it."""
    events = [("e1", "anna", "/background one")]
    for number in itertools.count(1):
        folder = tmp_path / str(number)
        killed = serve(folder, "edits", f"{point}:{number}", events=events)
        if killed:
            serve(folder, "edits", events=events)
        seen = [text.removeprefix(MARK) for _, text in FarEnd(folder / "seen", "edits").seen() if text != PLACEHOLDER]
        answers = [text for text in seen if text.endswith("The answer to one is not a short one.")]
        told = [text for text in seen if text.startswith(("Begun beside", "This was done before"))]
        assert (len(answers), len(told), len(seen)) == (1, 1, 2), seen
        asked = (folder / "asked").read_text().split()
        assert len(asked) <= (2 if killed and point in UNHEARD else 1), "a reply that is stored is not asked for again"
        if not killed:
            break
    assert number > 1, f"nothing reached {point}"
