"""What an editor's person is asked, and what each answer does."""

import asyncio

import pytest

from .conftest import House, calls, says
from .editor import Failed

ASKS = "policy: {mode: ask}\nbackends: {local: {wall: none}}\n"  # nothing bounds a command
RISKY = "sudo true; touch done"  # needs a yes


async def test_yes_runs_it_and_shows_exactly_what(house: House, version: int) -> None:
    house.configure(ASKS)
    house.script(calls("terminal", command=RISKY), says("Done."))
    editor = await house.editor(version)
    session = await editor.new()
    assert await editor.say(session, "do it") == "end_turn"
    [(method, asked)] = editor.asked
    assert method == "session/request_permission"
    assert (house.work / "done").exists()
    title = asked["toolCall"]["title"] if version == 1 else asked["title"]
    assert RISKY in title
    named = [one["optionId"] for one in asked["options"]]
    assert named[0] == "once"
    assert named[-2:] == ["deny", "instead"]
    about = asked["toolCall"] if version == 1 else asked["subject"]
    assert (about["rawInput"] if version == 1 else {"command": about["command"]}) == {"command": RISKY}
    call = about["toolCallId"]
    assert call in [one["toolCallId"] for one in editor.updates() if "toolCallId" in one]
    states = [u["state"] for u in editor.updates("state_update")]
    assert states == (["running", "requires_action", "running", "idle"] if version == 2 else [])


@pytest.mark.parametrize("answer", ["deny", "", "what is this?"])
async def test_no_and_what_is_no_answer_run_nothing(house: House, version: int, answer: str) -> None:
    house.configure(ASKS)
    house.script(calls("terminal", command=RISKY), says("All right."))
    editor = await house.editor(version)
    editor.permit = lambda _: answer
    assert await editor.say(await editor.new(), "do it") == "end_turn"
    assert not (house.work / "done").exists()
    assert "refused by the person" in str(house.model.asked[-1].body["messages"][-1])


async def test_a_yes_for_the_conversation_is_asked_for_once(house: House) -> None:
    house.configure(ASKS)
    house.script(calls("terminal", command=RISKY), says("1"), calls("terminal", command=RISKY), says("2"))
    editor = await house.editor()
    editor.permit = lambda asked: "session" if "session" in [o["optionId"] for o in asked["options"]] else "once"
    session = await editor.new()
    await editor.say(session, "do it")
    await editor.say(session, "again")
    assert "session" in [one["optionId"] for one in editor.asked[0][1]["options"]]
    assert len(editor.asked) == 1


async def test_no_with_what_to_do_instead_tells_the_model_so(house: House, version: int) -> None:
    house.configure(ASKS)
    house.script(calls("terminal", command=RISKY), says("All right."))
    editor = await house.editor(version, elicitation={"form": {}})
    editor.permit, editor.fill = lambda _: "instead", lambda _: "use a file tool"
    assert await editor.say(await editor.new(), "do it") == "end_turn"
    assert not (house.work / "done").exists()
    assert "use a file tool" in str(house.model.asked[-1].body["messages"][-1])


async def test_without_a_way_to_say_what_instead_the_turn_stops(house: House, version: int) -> None:
    house.configure(ASKS)
    house.script(calls("terminal", command=RISKY), says("All right."))
    editor = await house.editor(version)
    editor.permit = lambda _: "instead"
    session = await editor.new()
    assert await editor.say(session, "do it") == "cancelled"
    assert not (house.work / "done").exists()
    assert await editor.say(session, "rather say the time") == "end_turn"


async def test_a_question_is_taken_back_when_its_turn_is_stopped(house: House, version: int) -> None:
    house.configure(ASKS)
    house.script(calls("terminal", command=RISKY), says("All right."))
    editor = await house.editor(version)
    waits = asyncio.Event()

    async def never(_: object) -> str:
        waits.set()
        await asyncio.sleep(3600)
        return ""

    editor.permit = never
    session = await editor.new()
    saying = asyncio.create_task(editor.say(session, "do it"))
    await asyncio.wait_for(waits.wait(), 60)
    editor.notify("session/cancel", sessionId=session)
    assert await saying == "cancelled"
    await editor.until(lambda: editor.taken_back)
    assert not (house.work / "done").exists()
    editor.forget_questions()


async def test_choices_and_words_are_asked_for(house: House, version: int) -> None:
    house.script(calls("clarify", question="Which colour?", choices=["red", "blue"]), says("Blue it is."))
    editor = await house.editor(version)
    editor.permit = lambda asked: next(o["optionId"] for o in asked["options"] if o["name"] == "blue")
    assert await editor.say(await editor.new(), "paint") == "end_turn"
    assert "blue" in str(house.model.asked[-1].body["messages"][-1])


async def test_a_form_takes_an_answer_in_words(house: House, version: int) -> None:
    house.script(calls("clarify", question="Which colour?"), says("Ochre it is."))
    editor = await house.editor(version, elicitation={"form": {}})
    editor.fill = lambda _: "ochre"
    assert await editor.say(await editor.new(), "paint") == "end_turn"
    assert "ochre" in str(house.model.asked[-1].body["messages"][-1])


async def test_a_program_that_a_tool_started_is_no_person_and_says_no_yes(house: House, version: int) -> None:
    house.configure(ASKS)
    house.script(calls("terminal", command=RISKY), says("All right."))
    house.env["HERMES_RUN"] = "0123456789abcdef"
    editor = await house.editor(version)
    session = await editor.new()
    assert await editor.say(session, "do it") == "end_turn"
    assert editor.asked == []
    assert not (house.work / "done").exists()
    with pytest.raises(Failed) as caught:
        await editor.ask("session/set_config_option", sessionId=session, configId="mode", value="off")
    assert "started by a tool" in caught.value.message
