"""What a model proposes is set only by a person who has seen it."""

import json

import pytest

from hermes_core.errors import UserError
from hermes_core.testing import Call
from hermes_tool_goals.shared import goals_of
from hermes_tool_goals.values import Check

OFF = {"policy.mode": "off"}
GOOD = json.dumps({"checks": [{"check": "pytest -q 2>&1 | tail -1"}, {"file": "CHANGES.md"}]})


async def test_a_proposal_is_shown_and_set_when_it_is_accepted(house):
    one = house(judge=[f"```json\n{GOOD}\n```"], **OFF)
    said = await one.type("/goal draft Make the tests pass | turns: 4")
    assert "    | check: pytest -q 2>&1 | tail -1\n" in said
    assert "    | file: CHANGES.md\n" in said
    assert not await goals_of(one.ctx).list(), "nothing is set"
    await one.type("/goal accept")
    goal = await one.goal()
    assert (goal.text, goal.turns) == ("Make the tests pass", 4)
    assert goal.checks == (
        Check(kind="command", what="pytest -q 2>&1 | tail -1"),
        Check(kind="file", what="CHANGES.md"),
    )
    await one.type("/goal clear")
    with pytest.raises(UserError, match="Nothing is proposed"):
        await one.type("/goal accept")


async def test_one_that_is_dismissed_is_gone(house):
    one = house(judge=[GOOD], **OFF)
    await one.type("/goal draft Make the tests pass")
    await one.type("/goal dismiss")
    with pytest.raises(UserError, match="Nothing is proposed"):
        await one.type("/goal accept")


@pytest.mark.parametrize(
    "reply",
    [
        "Run the tests.",
        "[" * 3000,
        '{"checks": []}',
        '{"checks": "pytest"}',
        '{"checks": [{"run": "x"}]}',
        '{"checks": [{"check": 1}]}',
        '{"checks": [{"check": "a", "file": "b"}]}',
        '{"checks": [{"check": "true\\nrm x"}]}',
        '{"checks": [{"check": "true | check: rm x"}]}',
        '{"checks": [{"check": "true \\u202e; rm x"}]}',
        '{"checks": [{"check": "rm x\\u001b[2K\\rtrue"}]}',
        json.dumps({"checks": [{"file": str(number)} for number in range(5)]}),
        Call("terminal", {"command": "true"}),
    ],
)
async def test_what_is_no_proposal_is_none(house, reply):
    one = house(judge=[reply], **OFF)
    with pytest.raises(UserError, match="nothing that can be used"):
        await one.type("/goal draft Make the tests pass")
