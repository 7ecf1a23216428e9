"""A gateway is killed around a question that a turn put to a chat: it is put once, and its answer goes on with it."""

import asyncio
import itertools
from pathlib import Path

import pytest
from asking import ANSWER, Chat

from hermes_core.store.store import open_store
from hermes_core.types import Principal, Verdict

pytestmark = pytest.mark.long

ME = Principal()
BEFORE = ("received", "leased", "journaled", "replied", "asked", "storing", "stored", "approved")
AFTER = ("tool_started", "tool_done", "tool_stored", "answered")  # what was begun is not begun again


@pytest.fixture
def lives(workers):
    """Serve until the job is over, or until death; whether it was killed."""
    house = workers(Path(__file__).with_name("asking.py"))

    def go(folder: Path, die_at: str = "", *, answers: bool = True, dies: bool = False) -> bool:
        folder.mkdir(exist_ok=True)
        status = house.play({"folder": str(folder), "die_at": die_at, "answers": answers, "dies": dies})
        assert status in ((0, -9) if die_at or dies else (0,))
        return status == -9

    return go


def read(folder: Path, look):
    """What the store says: ``look`` is given the open store."""
    store = open_store(folder / "home" / "state.db")
    try:
        return asyncio.run(look(store))
    finally:
        store.close()


def judge(folder: Path, posted: tuple[int, ...] = (1,)) -> None:
    chat = Chat(folder, answers=False)
    rows = read(folder, lambda store: store.approvals.list(ME, closed=True))
    assert chat.questions == [row.id for row in rows], "one question, seen once"
    assert [text for _, text in chat.seen() if ANSWER in text] == [ANSWER]
    effects = folder / "posted"
    assert (len(effects.read_text().split()) if effects.exists() else 0) in posted


@pytest.mark.parametrize("point", [*BEFORE, *AFTER])
def test_a_death_at_any_point_asks_once_and_finds_the_answer(lives, tmp_path, point):
    for number in itertools.count(1):
        folder = tmp_path / str(number)
        if not lives(folder, f"{point}:{number}"):
            break
        lives(folder)
        judge(folder, (0, 1) if point in AFTER else (1,))
    assert number > 1


@pytest.mark.parametrize("outcome", ["allow", "deny"])
def test_a_question_outlives_any_number_of_deaths_and_is_answered_by_another_process(lives, tmp_path, outcome):
    """More deaths than a turn that kills its process would be forgiven: waiting for a person is no fault of it."""
    for _ in range(6):
        assert lives(tmp_path, answers=False, dies=True)
    [row] = read(tmp_path, lambda store: store.approvals.list(ME))
    verdict = Verdict(outcome=outcome, by="another process")
    read(tmp_path, lambda store: store.approvals.settle(ME, row.id, verdict))
    lives(tmp_path, answers=False)
    judge(tmp_path, (int(outcome == "allow"),))
