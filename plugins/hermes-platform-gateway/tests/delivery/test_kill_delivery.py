"""A process is killed at every point of sending, each time the point is reached; then what people saw is judged."""

import itertools
import random
from pathlib import Path

import pytest
from delivery_judge import judge
from far_end import KINDS, FarEnd
from post import outgoing

from hermes_platform_gateway.outward.pieces import pieces_of

pytestmark = pytest.mark.long

POINTS = ("storing", "stored")  # before and after all that is written down of it
LONG = " ".join(f"Part {number} of an answer that does not fit into one message." for number in range(6))
SAYS = [("1", "a", "One thing."), ("2", "a", LONG), ("3", "b", "Another thing."), ("4", "a", "The last thing.")]


@pytest.fixture
def send(workers, request):
    """Send everything in one go of the process; whether it was killed."""
    server, mailman = request.param == "postgresql", workers(Path(__file__).with_name("mailman.py"))
    url = request.getfixturevalue("database_url") if server else ""

    def go(folder: Path, kind: str, die_at: str = "", *, seed: object = 0, fault: float = 0.0) -> bool:
        folder.mkdir(exist_ok=True)
        order = {"folder": str(folder), "url": url, "kind": kind, "die_at": die_at, "seed": seed, "fault": fault}
        status = mailman.play(order | {"says": SAYS})
        assert status in ((0, -9) if die_at else (0,))
        return status == -9

    def emptied() -> None:
        if server:
            request.getfixturevalue("cluster").empty(url)

    go.emptied, go.server = emptied, server
    return go


STORES = [pytest.param("sqlite"), pytest.param("postgresql", marks=pytest.mark.real)]


@pytest.mark.parametrize("send", STORES, indirect=True)
@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_death_at_any_point_loses_nothing_and_repeats_as_little_as_can_be(send, tmp_path, kind, point):
    """Killed where the point is reached for the first time, then the second, … Then there is no further time."""
    for number in itertools.count(1):
        folder = tmp_path / str(number)
        send.emptied()
        if not send(folder, kind, f"{point}:{number}"):
            break
        send(folder, kind)
        counts = judged(folder, kind)
        twice = [text for text, count in counts.items() if count == 2]
        gap = 1 if kind == "plain" and point == "storing" else 0
        gap = 2 if kind == "plain" and send.server else gap  # there, each chat's may be in a gap of its own
        assert len(twice) <= gap, "twice, without need"
    assert number > len(SAYS)


@pytest.mark.parametrize("send", STORES, indirect=True)
@pytest.mark.parametrize("kind", KINDS)
def test_deaths_one_after_another_among_other_faults(send, tmp_path, kind, seed):
    dice = random.Random(f"{kind} {seed}")
    send.emptied()
    for life in range(dice.choice((1, 2, 3, 5))):
        send(tmp_path, kind, f"{dice.choice(POINTS)}:{dice.randint(1, 6)}", seed=f"{seed} {life}", fault=0.1)
    send(tmp_path, kind, seed=f"{seed} last", fault=0.1)
    judged(tmp_path, kind, may_be_lost=kind == "plain")


def judged(folder, kind, *, may_be_lost=False):
    far = FarEnd(folder / "seen", kind, limit=200)
    rows = [(chat, pieces_of(outgoing(key, text).message, far)) for key, chat, text in SAYS]
    wanted = [(chat, piece.parts[0].text) for chat, pieces in rows for piece in pieces]
    return judge(far, wanted, lost=wanted if may_be_lost else ())
