"""A process is killed while a tool calls tools: what these did is not done again, and the turn goes on."""

import itertools
from collections import Counter

import pytest

from hermes_core.store.validity import NO_RESULT
from hermes_core.types import Principal

pytestmark = pytest.mark.long

TEXT = "hello 2"
AT = f"{TEXT} 0-0"


@pytest.mark.parametrize("point", ["tool_started", "tool_done", "tool_stored"])
def test_calls_of_a_call_are_made_once(stages, point, turn):
    """Killed between each row of a call of a call and its end; later rounds kill the restart too."""
    for number in itertools.count(1):
        stage = stages()
        if not stage.say(TEXT, f"{point}:{number}"):
            break
        if turn:
            stage.play(f"{point}:1", resume=True)
        stage.play(resume=True)
        judge(stage, turn)
    assert number == 5, "the call, and three below it"


def judge(stage, again):
    async def look(store):
        owner = Principal()
        rows = [m for _, m in await store.history.messages(owner, "s", window=1000)]
        return rows, await store.history.tool_calls(owner, session_id="s"), await store.journal.interrupted(owner)

    rows, calls, left = stage.read(look)
    assert left == []
    assert [m.role for m in rows] == ["user", "assistant", "tool", "assistant"]
    assert rows[2].parts[0].parts[0].text == "did both"
    top, *below = reversed(calls)
    assert (top.name, top.outcome) == ("both", "ok")
    assert Counter(c.name for c in below) == {"add": 2, "look": 1}
    assert len({c.call_id for c in below}) == 3
    found = next(e[1] for e in reversed(stage.truth) if e[0] == "found")
    assert [c.output for c in below] == found, "what was stored is what the tool was given"
    for text in (found[0], found[2]):
        assert text == f"added {AT}" or text.startswith(NO_RESULT)
    assert found[1] == f"looked {AT}"
    effects = [e[1] for e in stage.truth if e[0] == "effect"]
    unknown = sum(c.outcome == "unknown" for c in below)
    assert len(effects) <= 3 + 1 + again, "only what may be done again was"
    assert sum(c.outcome == "ok" for c in below) == 3 - unknown
    assert unknown <= 1 + again
