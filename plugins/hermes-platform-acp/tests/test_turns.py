"""What an editor sees of a turn, in both versions of the protocol."""

import asyncio

import pytest

from .conftest import House, calls, hangs, says
from .editor import Failed


async def test_an_answer_comes_in_pieces_and_ends(house: House, version: int) -> None:
    house.script(says("It is ", "nine.", thinking="A clock."))
    editor = await house.editor(version)
    session = await editor.new()
    assert await editor.say(session, "What time is it?") == "end_turn"
    assert editor.text() == "It is nine."
    assert editor.text(who="agent_thought") == "A clock."
    chunks = editor.updates("agent_message_chunk")
    assert len({one["messageId"] for one in chunks}) == 1
    assert [u["content"] for u in editor.updates("user_message")] == (
        [[{"type": "text", "text": "What time is it?"}]] if version == 2 else []
    )
    states = [u["state"] for u in editor.updates("state_update")]
    assert states == (["running", "idle"] if version == 2 else [])


async def test_a_command_shows_what_runs_and_what_it_wrote(house: House, version: int) -> None:
    house.script(calls("terminal", command="echo one; echo two"), says("Done."))
    editor = await house.editor(version)
    assert await editor.say(await editor.new(), "run it") == "end_turn"
    first = editor.updates("tool_call" if version == 1 else "tool_call_update")[0]
    assert first["title"] == "$ echo one; echo two"
    assert first["kind"] == "execute"
    assert first["status"] == "in_progress"
    last = editor.updates("tool_call_update")[-1]
    assert last["status"] == "completed"
    if version == 1:
        assert "one\ntwo" in last["content"][0]["content"]["text"]
    else:
        assert last["content"] == [{"type": "terminal", "terminalId": first["toolCallId"]}]
        import base64

        shown = editor.updates("terminal_update")
        assert shown[0]["command"] == "echo one; echo two"
        assert b"one\ntwo" in base64.b64decode(shown[-1]["output"]["data"])


async def test_a_change_of_a_file_is_a_diff_of_the_whole_file(house: House, version: int) -> None:
    place = house.work / "a.txt"
    place.write_text("red\ngreen\nblue\n")
    house.script(calls("edit_file", path="a.txt", old="green", new="black"), says("Done."))
    editor = await house.editor(version)
    assert await editor.say(await editor.new(), "change it") == "end_turn"
    assert place.read_text() == "red\nblack\nblue\n"
    last = editor.updates("tool_call_update")[-1]
    [diff] = [one for one in last["content"] if one["type"] == "diff"]
    if version == 1:
        assert diff == {
            "type": "diff", "path": str(place), "oldText": "red\ngreen\nblue\n", "newText": "red\nblack\nblue\n",
        }  # fmt: skip
    else:
        assert diff["changes"] == [{"operation": "modify", "path": str(place)}]
        assert "-green\n+black\n" in diff["patch"]["text"]
    began = editor.updates("tool_call" if version == 1 else "tool_call_update")[0]
    assert began["locations"] == [{"path": str(place)}]
    assert began["kind"] == "edit"


async def test_a_plan_is_the_plan_of_the_session(house: House, version: int) -> None:
    steps = [{"id": "a", "content": "Look"}, {"id": "b", "content": "Leap", "status": "in_progress"}]
    house.script(calls("todo", todos=steps), says("Planned."))
    editor = await house.editor(version)
    await editor.say(await editor.new(), "plan it")
    found = editor.updates("plan") if version == 1 else [u["plan"] for u in editor.updates("plan_update")]
    assert [[(e["content"], e["status"]) for e in one["entries"]] for one in found] == [
        [("Look", "pending"), ("Leap", "in_progress")]
    ]


async def test_a_turn_that_is_cancelled_ends_as_that_and_the_next_one_is_answered(house: House, version: int) -> None:
    house.script(hangs)  # type: ignore[arg-type]  # it writes by itself
    editor = await house.editor(version)
    session = await editor.new()
    saying = asyncio.create_task(editor.say(session, "go"))
    await editor.until(editor.text)
    editor.notify("session/cancel", sessionId=session)
    assert await saying == "cancelled"
    assert await editor.say(session, "again") == "end_turn"


async def test_a_request_that_is_taken_back_stops_its_turn(house: House) -> None:
    house.script(hangs)  # type: ignore[arg-type]
    editor = await house.editor()
    session = await editor.new()
    number = editor.post("session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": "go"}]})
    await editor.until(editor.text)
    editor.notify("$/cancel_request", requestId=number)
    with pytest.raises(Failed) as caught:
        await editor.answer(number)
    assert caught.value.code == -32800
    assert await editor.say(session, "again") == "end_turn"


async def test_a_model_that_cannot_answer_is_told_with_what_mends_it(house: House, version: int) -> None:
    from hermes_core.testing.model_service import http

    house.model.always = http(401, '{"error": {"message": "wrong key", "type": "invalid_request_error"}}')
    editor = await house.editor(version)
    session = await editor.new()
    if version == 1:
        with pytest.raises(Failed) as caught:
            await editor.say(session, "hello")
        assert caught.value.code == -32000
        assert "wrong key" in caught.value.message
    else:
        assert await editor.say(session, "hello") == "error"
        error = editor.updates("state_update")[-1]["error"]
        assert error["code"] == -32000
        assert "wrong key" in error["message"]


async def test_messages_that_come_together_are_answered_one_after_another(house: House) -> None:
    house.script(says("first"), says("second"))
    editor = await house.editor()
    session = await editor.new()
    assert await asyncio.gather(editor.say(session, "1"), editor.say(session, "2")) == ["end_turn", "end_turn"]
    assert editor.text() == "firstsecond"


async def test_what_an_editor_sends_along_reaches_the_model(house: House, version: int) -> None:
    editor = await house.editor(version)
    picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    said = [
        "Look:",
        {"type": "resource", "resource": {"uri": "file:///w/a%20b.py", "text": "x = 1", "mimeType": "text/x-python"}},
        {"type": "resource_link", "uri": "file:///w/c.py", "name": "c.py"},
        {"type": "image", "mimeType": "image/png", "data": picture},
    ]
    assert await editor.say(await editor.new(), *said) == "end_turn"
    [body] = [str(one.body["messages"][-1]) for one in house.model.asked if one.method == "POST"][:1]
    assert "Look:" in body
    assert "/w/a b.py:\\nx = 1" in body
    assert "[c.py](/w/c.py)" in body


async def test_usage_says_how_full_the_context_is(house: House, version: int) -> None:
    text = (house.home / "config.yaml").read_text().replace("default: m}", "default: m, context_length: 32000}")
    (house.home / "config.yaml").write_text(text)
    editor = await house.editor(version)
    await editor.say(await editor.new(), "hello")
    [used] = editor.updates("usage_update")[:1]
    assert used["size"] == 32000
    assert 0 < used["used"] < 32000
