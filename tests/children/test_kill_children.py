"""Parent and child are killed, at their points, apart and together: one answer, and no effect twice."""

import json
from collections import Counter

import pytest

from hermes_core.types import Principal, Text, ToolResult

pytestmark = pytest.mark.long

ME = Principal()
POINTS = ["tool_started", "tool_done", "tool_stored", "answered"]  # of a parent, around its child
OWN = ["leased", "journaled", "prompted", "requested", "mid_stream", "replied", "tool_started", "tool_done"]
OWN += ["tool_stored", "answered"]


@pytest.fixture
def house(mortal):
    return mortal


def plan(*batches: object) -> list:
    return [{"hand": {"goals": [json.dumps([*batches, "the child's answer"])]}}, "the answer"]


def resumed(house, **how) -> None:
    """What happens after a death: the interrupted turns are finished."""
    assert house.process("resume", **how) == 0


async def _whole(store):
    rows = await store.list_sessions(ME, children=True)
    return {row.session.id: (row, await store.history(row.session.id)) for row in rows}


def judge(house) -> dict:
    """One answer of the parent, one child, nothing twice, no process left behind."""
    sessions = house.read(_whole)
    [parent] = [i for i in sessions if i == "s"]
    row, history = sessions[parent]
    assert row.state == "idle"
    assert history[-1].parts == (Text(text="the answer"),)
    results = [p for m in history for p in m.parts if isinstance(p, ToolResult)]
    assert len(results) == 1
    assert len(sessions) <= 2
    assert max(Counter(map(tuple, house.truth("effect"))).values(), default=0) <= 1
    [result] = results
    return {"result": result.parts[0].text, "sessions": sessions, "history": history}


def stories(house) -> list[tuple[str, int]]:
    """How often each step of a plan was asked of the model."""
    return [(answer, step) for answer, step, _ in house.truth("request")]


@pytest.mark.parametrize("point", POINTS)
def test_a_parent_that_dies_finds_its_child_again(house, point) -> None:
    words = json.dumps(plan({"note": {"what": "a"}}, {"note": {"what": "b"}}))
    assert house.process(words, HERMES_DIE_AT=point) == -9
    resumed(house)
    left = judge(house)
    assert json.loads(left["result"]) == [["done", "the child's answer"]]
    assert Counter(house.truth("effect")[i][0] for i in range(2)) == {"a": 1, "b": 1}
    asked = Counter(stories(house))
    assert all(asked["the child's answer", step] == 1 for step in range(3))  # the child worked once
    assert left["sessions"]["s"][0].usage.calls == 5


@pytest.mark.parametrize("who", ["parent", "parent+me", "me"])
def test_whoever_dies_in_the_middle_nothing_runs_twice(house, who) -> None:
    words = json.dumps(plan({"note": {"what": "a"}}, {"die": {"what": f"once {who}"}}, {"note": {"what": "b"}}))
    status = house.process(words, fresh=True)
    assert status == (0 if who == "me" else -9)
    if status:
        resumed(house, fresh=True)
    left = judge(house)
    if who == "me":
        assert json.loads(left["result"]) == [["crashed", ""]]
        assert house.truth("effect") == [["a"]]
    else:
        assert json.loads(left["result"]) == [["done", "the child's answer"]]
        assert house.truth("effect") == [["a"], ["b"]]
        assert stories(house).count(("the child's answer", 0)) == 1  # a stored reply is not asked for again


@pytest.mark.parametrize("point", ["leased", "mid_stream", "tool_started", "answered"])
def test_a_child_that_dies_is_an_answer(house, point) -> None:
    words = json.dumps(plan({"note": {"what": "a"}}, {"note": {"what": "b"}}))
    assert house.process(words, HERMES_CHILD_DIE_AT=point) == 0
    left = judge(house)
    [[status, answer]] = json.loads(left["result"])
    assert (status, answer) == ("crashed", "")
    [[_, _, session, error, *_]] = house.truth("result")
    assert error.startswith("Its process was killed by SIGKILL before it was done.")
    assert session in left["sessions"]


@pytest.mark.parametrize("point", OWN)
def test_a_child_is_resumed_where_both_of_them_died(house, point) -> None:
    """The child dies at a point; its parent learns of it and dies before that is stored."""
    words = json.dumps(plan({"note": {"what": "a"}}, {"note": {"what": "b"}}))
    assert house.process(words, HERMES_CHILD_DIE_AT=point, HERMES_DIE_AT="tool_done") == -9
    resumed(house)
    left = judge(house)
    assert json.loads(left["result"]) == [["done", "the child's answer"]]
    assert ["b"] in house.truth("effect")
    child = next(history for i, (_, history) in left["sessions"].items() if i != "s")
    assert [m.role for m in child] == ["user", "assistant", "tool", "assistant", "tool", "assistant"]


def test_a_child_of_a_turn_that_was_given_up_is_nobodys_to_resume(house) -> None:
    words = json.dumps(plan({"note": {"what": "a"}}, {"die": {"what": "once parent+me"}}))
    assert house.process(words) == -9

    async def drop(store):
        taken = await store.resume_turn("s", holder="me")
        await store.close_turn(taken.turn, state="interrupted")
        return await store.interrupted(ME)

    assert house.read(drop) == []
    assert house.truth("effect") == [["a"]]
