"""A death after a request left, and before the result that it tells of was stored."""


def test_what_the_model_was_told_and_nothing_stored_is_unknown_and_not_run_again(stages, turn):
    stage = stages()
    assert stage.say("hello 3", "requested:3")  # of the call that is alone in its reply
    before = {call.call_id: call.outcome for call in stage.read(_calls)}
    assert before["1-0"] == "started"
    effects = [event for event in stage.truth if event[0] == "effect"]
    assert [at for _, at in effects][-1] == "hello 3 1-0"
    stage.restart()
    stage.judge("hello 3", [stage.finished()])
    assert {call.call_id: call.outcome for call in stage.read(_calls)}["1-0"] == "unknown"
    assert [event for event in stage.truth if event[0] == "effect"] == effects


def test_a_result_is_stored_before_its_reply_is(stages, turn):
    stage = stages()
    assert stage.say("hello 3", "replied:3")
    assert {call.outcome for call in stage.read(_calls)} == {"ok"}
    stage.restart()
    stage.judge("hello 3", [stage.finished()])


async def _calls(store):
    from hermes_core.types import Principal

    return await store.history.tool_calls(Principal())
