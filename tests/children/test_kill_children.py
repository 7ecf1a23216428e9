"""Parent and child are killed, at each of their points: one answer, and no effect twice."""

import itertools
import json
from collections import Counter

import pytest

from hermes_core.types import Principal, Text, ToolResult

pytestmark = pytest.mark.long

ME = Principal()
POINTS = ["leased", "journaled", "prompted", "requested", "mid_stream", "replied", "tool_started", "tool_done"]
POINTS += ["tool_stored", "answered"]
WORK = [{"note": {"what": "a"}}, {"note": {"what": "b"}}]


def plan(*batches: object) -> str:
    return json.dumps([{"hand": {"goals": [json.dumps([*batches, "the child's answer"])]}}, "the answer"])


def resumed(house, **how) -> None:
    """What happens after a death: the interrupted turns are finished."""
    assert house.process("resume", **how) == 0


async def _whole(store):
    rows = await store.sessions.list(ME, children=True)
    histories = {row.session.id: (row, await store.history.load(row.session.id)) for row in rows}
    return histories, await store.journal.interrupted(ME)


async def _said(store):
    return await store.history.load("s") if await store.sessions.list(ME) else []


def judge(house) -> dict:
    """One answer of the parent, one child, nothing twice, nothing left to do."""
    sessions, left = house.read(_whole)
    row, history = sessions["s"]
    assert (row.state, left) == ("idle", [])
    assert history[-1].parts == (Text(text="the answer"),)
    [result] = [p for m in history for p in m.parts if isinstance(p, ToolResult)]
    assert json.loads(result.parts[0].text) == [["done", "the child's answer"]]
    assert len(sessions) == 2
    assert max(Counter(map(tuple, house.truth("effect"))).values(), default=0) <= 1
    child = next(history for i, (_, history) in sessions.items() if i != "s")
    assert [m.role for m in child] == ["user", "assistant", "tool", "assistant", "tool", "assistant"]
    return sessions


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("point", POINTS)
def test_wherever_they_die_both_are_taken_up(houses, point, again) -> None:
    """Each round kills one step later; ``again`` kills who takes them up, too."""
    for number in itertools.count(1):
        house = houses()
        if house.process(plan(*WORK), HERMES_DIE_AT=f"{point}:{number}") == 0:
            break
        if again:
            house.process("resume", HERMES_DIE_AT=f"{point}:1")
        resumed(house)
        if not house.read(_said):  # it died before that was written down
            assert house.process(plan(*WORK)) == 0
        judge(house)
    assert number > 2 or point == "answered"


def test_a_child_that_was_done_is_not_asked_again(houses) -> None:
    house = houses()
    assert house.process(plan(*WORK), HERMES_DIE_AT="tool_done:3") == -9  # the parent's call: its children are done
    resumed(house)
    sessions = judge(house)
    asked = Counter((answer, step) for answer, step, _ in house.truth("request"))
    assert all(asked["the child's answer", step] == 1 for step in range(3))
    assert sessions["s"][0].usage.calls == 5
    assert house.truth("effect") == [["a"], ["b"]]


def test_in_the_middle_of_a_tool_nothing_runs_twice(houses) -> None:
    house = houses()
    assert house.process(plan({"note": {"what": "a"}}, {"die": {"what": "once"}}), fresh=True) == -9
    resumed(house, fresh=True)
    judge(house)
    assert house.truth("effect") == [["a"]]


def test_a_child_of_a_turn_that_was_given_up_is_nobodys_to_resume(houses) -> None:
    house = houses()
    assert house.process(plan({"note": {"what": "a"}}, {"die": {"what": "once"}})) == -9

    async def drop(store):
        taken = await store.journal.resume_turn("s", holder="me")
        await store.journal.close_turn(taken.turn, state="interrupted")
        return await store.journal.interrupted(ME)

    assert house.read(drop) == []
    assert house.truth("effect") == [["a"]]
