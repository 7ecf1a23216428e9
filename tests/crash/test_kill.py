"""A process is killed at every point of a turn, each time the point is reached; then the restart is judged."""

import itertools
import random

import pytest

from hermes_core.store.killpoints import POINTS

pytestmark = pytest.mark.long

DELIVERY = ("acked", "outboxed", "sending", "accepted", "receipted")  # tried in tests/delivery
OTHER = ("migrating", "received", "sent_on", "compacting", "compacted", "asked", "approved", *DELIVERY)
EVERY_TURN = [p for p in POINTS if p not in OTHER]


@pytest.mark.parametrize("calls", [0, 1, 3])
@pytest.mark.parametrize("point", EVERY_TURN)
def test_what_was_begun_is_finished_once(stages, point, calls, turn):
    """The first round kills once. Later ones kill the restart too: at the same point, or wherever."""
    dice = random.Random(f"{turn} {point} {calls}")
    for number in itertools.count(1):
        stage, text = stages(), f"hello {calls}"
        if not stage.say(text, f"{point}:{number}", patient=number % 2 == turn % 2):
            break
        deaths = [stage.finished()]
        for _ in range(turn and dice.choice((1, 1, 2))):
            again = dice.choice((point, dice.choice(EVERY_TURN)))
            if not stage.restart(f"{again}:{dice.choice((1, 1, 2))}"):
                break
            deaths.append(stage.finished())
        stage.restart()
        stage.judge(text, deaths)
    stage.judge(text, [])
    reached = number - 1
    assert reached or (point.startswith("tool_") and not calls)
    assert not point.startswith("tool_") or reached == calls


def test_a_session_that_was_resumed_goes_on(stages):
    stage = stages()
    assert stage.say("hello 1", "tool_done")
    stage.restart()
    stage.said.clear()
    assert not stage.say("and 0")
    assert [e[1] for e in stage.truth if e[0] == "answer"] == ["the answer to hello 1", "the answer to and 0"]


def test_a_death_while_the_tables_are_made_leaves_a_home_that_works(stages, turn):
    stage = stages(empty=True)
    assert stage.say("hello 1", "migrating")
    stage.restart()
    stage.judge("hello 1", [])


def test_a_message_that_comes_again_before_the_turn_is_resumed_is_no_second_turn(stages):
    stage = stages()
    assert stage.say("hello 3", "replied")
    assert not stage.say("hello 3")
    assert [e[1] for e in stage.truth if e[0] == "failed"] == ["duplicate"]
    stage.restart()
    stage.judge("hello 3", [])


def test_a_call_that_had_begun_is_told_as_unknown_and_not_run_again(stages):
    stage = stages()
    assert stage.say("hello 1", "tool_started")
    stage.restart()
    stage.judge("hello 1", [])
    [call] = stage.read(lambda store: store.history.tool_calls(stage_owner()))
    assert call.outcome == "unknown"
    assert "outcome of this call is unknown" in call.output
    assert not [e for e in stage.truth if e[0] == "effect"]


@pytest.mark.parametrize("point", ["compacting", "compacted", "prompted:2", "requested:2", "replied:2", "tool_done:3"])
def test_a_death_around_a_compaction_keeps_the_task_and_the_bytes(stages, point, turn):
    stage = stages()
    for text in ("first 0", "second 0"):
        assert not stage.say(text)
    stage.said.clear()
    stage.compacts = True
    assert stage.say("the task 3", point)
    for _ in range(turn and 2):  # a turn whose process dies a fourth time is given up
        stage.restart(point)
    stage.restart()
    stage.judge_compacted("the task 3")


def stage_owner():
    from hermes_core.types import Principal

    return Principal()
