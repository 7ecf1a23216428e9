"""A process is killed while a plugin sends a turn on: nobody is asked twice about it, and it is not forgotten."""

import pytest

from hermes_core.types import Principal

ME = Principal()


@pytest.mark.parametrize(
    ("point", "asked"),
    [("replied:2", 2), ("sent_on", 2), ("prompted:3", 2), ("replied:3", 2), ("answered", 3)],
)
def test_a_turn_that_was_sent_on_goes_on_once(stages, point, asked) -> None:
    stage = stages()
    stage.goes_on = True
    assert stage.say("hello 1", point)
    stage.restart()

    async def look(store):
        return [m for _, m in await store.history.messages(ME, "s", window=1000)], await store.journal.last_turn("s")

    rows, turn = stage.read(look)
    words = "Do not end yet, says provider/outside: look again 0"
    assert [m.parts[0].text for m in rows if m.role == "user"] == ["hello 1", words]
    answers = [m.parts[0].text for m in [m for m in rows if m.role == "assistant"][1:]]
    assert answers == ["the answer to hello 1", f"the answer to {words}"]
    assert [e[1:] for e in stage.truth if e[0] == "may end"] == [
        ["the answer to hello 1", 0],
        *[[f"the answer to {words}", 1]] * (asked - 1),
    ]
    assert (turn.state, turn.usage.calls) == ("done", 3)
    assert [e[1] for e in stage.truth if e[0] == "effect"] == ["hello 1 0-0"]
