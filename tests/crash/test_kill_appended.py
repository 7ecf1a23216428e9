"""A process is killed around a request to which a plugin appended: the model is told the same bytes when it goes on."""

from itertools import pairwise

import pytest


@pytest.mark.parametrize("point", ["prompted:1", "requested:1", "prompted:2", "requested:2", "replied:2", "prompted:3"])
def test_what_a_plugin_appended_is_there_to_the_byte_after_a_death(stages, point) -> None:
    stage = stages()
    stage.appends = True
    assert stage.say("hello 3", point)
    stage.restart()
    told = [messages for what, *rest in stage.truth if what == "told" for messages in rest]
    assert len(told) >= 2
    for before, after in pairwise(told):
        assert after[: len(before)] == before
    for messages in told:
        asides = [text for text in messages if "(by the way" in text]
        replies = [text for text in messages if "role='assistant'" in text]
        assert len(asides) == len(replies) + 1, "one for each request, also for one that was made twice"
