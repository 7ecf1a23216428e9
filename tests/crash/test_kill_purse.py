"""A process is killed between asking its purse and paying: the limit holds, and what is left of it can be spent."""

import pytest

pytestmark = pytest.mark.long

CALLS = 3  # of a model, which the turn needs


@pytest.mark.parametrize("number", range(1, CALLS + 1))
@pytest.mark.parametrize("point", ["prompted", "requested", "mid_stream", "replied"])
def test_a_purse_is_neither_emptied_twice_nor_locked_by_a_death(stages, point, number):
    """The session may make as many calls as its turn needs: one that was booked twice would end it too early."""
    stage, said = stages(), "hello 3"
    stage.calls = CALLS
    assert stage.say(said, f"{point}:{number}")
    deaths = [stage.finished()]
    stage.restart()
    stage.judge(said, deaths)
    before = len(stage.truth)
    stage.play(say="and more 0", event="another")
    later = [what for what, *_ in stage.truth[before:]]
    assert "request" not in later, "a call was let through beyond the limit"
    assert "failed" in later
