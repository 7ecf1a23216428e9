"""A process dies around a question for a yes: it is asked again, or its answer is found. Nothing runs without one."""

import pytest

from hermes_core.types import Principal, Verdict

pytestmark = pytest.mark.long

ME = Principal()


def asked(stage) -> list[str]:
    return [e[1] for e in stage.truth if e[0] == "asked"]


def effects(stage) -> list[str]:
    return [e[1] for e in stage.truth if e[0] == "effect"]


def everything(store):
    return store.approvals.list(ME, closed=True)


def open_ones(stage) -> list:
    return stage.read(lambda store: store.approvals.list(ME))


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("point", ["asked", "approved", "tool_started", "tool_done", "tool_stored"])
def test_what_was_answered_is_not_asked_again(stages, point, number):
    stage, text = stages(), "hello 3"
    assert stage.say(text, f"{point}:{number}", person="yes")
    before, settled = asked(stage), {row.id for row in stage.read(everything) if row.state == "answered"}
    deaths = [stage.finished()]
    assert not stage.play(resume=True, person="yes")
    stage.judge(text, deaths)
    after = asked(stage)[len(before) :]
    assert not settled & set(after), "nobody is asked twice for what they answered"
    assert len({*before, *after}) == 2
    assert open_ones(stage) == []


def test_a_question_that_was_open_when_the_process_died_is_the_same_question_afterwards(stages):
    stage, text = stages(), "hello 1"
    assert stage.play(**dying(stage, text))
    [waiting] = open_ones(stage)
    assert stage.play(resume=True, person="dies"), "it dies of it again"
    assert [row.id for row in open_ones(stage)] == [waiting.id]
    assert not stage.play(resume=True, person="yes")
    assert asked(stage) == [waiting.id] * 3
    stage.judge(text, [])


def dying(stage, text: str) -> dict[str, str]:
    stage.said[text] = f"event of {text}"
    return {"say": text, "event": stage.said[text], "person": "dies"}


@pytest.mark.parametrize("outcome", ["allow", "deny"])
def test_an_answer_that_came_while_nobody_was_there_is_found(stages, outcome):
    stage, text = stages(), "hello 1"
    assert stage.play(**dying(stage, text))
    [waiting] = open_ones(stage)
    row, mine = stage.read(
        lambda store: store.approvals.settle(ME, waiting.id, Verdict(outcome=outcome, by="elsewhere"))
    )
    assert mine
    row, mine = stage.read(lambda store: store.approvals.settle(ME, waiting.id, Verdict(outcome="allow", by="late")))
    assert (mine, row.verdict, row.answered_by) == (False, outcome, "elsewhere")
    assert not stage.play(resume=True, person="yes")
    assert asked(stage) == [waiting.id], "only the process that died had asked"
    assert len(effects(stage)) == (outcome == "allow")
    [call] = stage.read(lambda store: store.history.tool_calls(ME, session_id="s"))
    assert call.outcome == ("ok" if outcome == "allow" else "refused")


def test_a_turn_that_is_given_up_takes_its_questions_with_it(stages):
    stage, text = stages(), "hello 1"
    assert stage.play(**dying(stage, text))
    stage.said.clear()
    assert not stage.say("and 0"), "the next message ends what was left behind"
    assert open_ones(stage) == []
    [row] = stage.read(everything)
    assert (row.state, row.verdict) == ("withdrawn", "deny")
    assert effects(stage) == []
