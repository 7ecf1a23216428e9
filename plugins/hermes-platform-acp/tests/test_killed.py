"""Agents killed at each point of a turn: the next one finishes it, and nothing is done twice."""

import asyncio
from pathlib import Path

import pytest

from .conftest import House, calls, says
from .editor import Editor
from .test_asking import ASKS
from .test_sessions import resume

pytestmark = [pytest.mark.long, pytest.mark.timeout(180)]

POINTS = ["journaled", "leased", "prompted", "requested", "mid_stream", "replied", "asked", "approved"]
LATER = ["tool_started", "tool_done", "tool_stored", "answered"]


def answering(house: House) -> None:
    """Let the model do what a conversation needs next, however often it is asked."""

    async def reply(writer: asyncio.StreamWriter) -> None:
        said = house.model.asked[-1].body["messages"]
        last = said[-1]
        if last["role"] == "tool":
            writer.write(says("It ran."))
        elif "run it" in str(last["content"]):
            writer.write(calls("terminal", command="sudo true; echo hi >> ran"))
        else:
            writer.write(says("Yes."))
        await writer.drain()

    house.model.always = reply


async def editor_of(house: House, version: int, point: str = "") -> Editor:
    """An editor whose agent dies at a point."""
    env = house.env
    house.env = {**env, "HERMES_TESTING": "1", "HERMES_DIE_AT": point} if point else env
    try:
        return await house.editor(version)
    finally:
        house.env = env


@pytest.mark.parametrize("point", [*POINTS, *LATER])
async def test_what_a_death_cuts_off_goes_on_when_the_session_is_loaded(house: House, version: int, point: str) -> None:
    house.configure(ASKS)
    answering(house)
    first = await editor_of(house, version, point)
    session = await first.new()
    with pytest.raises(ConnectionError):
        await first.say(session, "run it")
    second = await editor_of(house, version)
    await resume(second, session)
    assert await second.say(session, "are you there?") == "end_turn"
    told = house.model.asked[-1].body["messages"]
    mine = [one["content"] for one in told if one["role"] == "user" and "hermes" not in str(one["content"])[:8]]
    heard = [one for one in mine if one in ("run it", "are you there?")]
    # what was never stored was never promised: the editor got no answer, and says it again
    assert heard in (["run it", "are you there?"], ["are you there?"])
    assert (heard[0] == "run it") or point == "leased"
    ran = Path(house.work, "ran")
    lines = ran.read_text().splitlines() if ran.exists() else []
    assert lines in (["hi"], []), lines
    if heard[0] == "run it" and point != "tool_started":
        assert lines == ["hi"]
    asked = {one["tool_call_id"] for one in told if one["role"] == "tool"}
    called = {call["id"] for one in told for call in one.get("tool_calls") or ()}
    assert asked == called
