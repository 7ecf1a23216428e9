"""Sessions: they outlive the agent, and are those of everything else."""

import asyncio
from pathlib import Path

import pytest

from .conftest import House, calls, hangs, says
from .editor import Editor, Failed


def transcript(editor: Editor, since: int = 0) -> list[tuple[str, str]]:
    """What an editor was told, without names and in one way for both versions."""
    told: list[tuple[str, str]] = []
    for update in editor.updates(since=since):
        kind = update["sessionUpdate"].removesuffix("_chunk")
        if kind in ("user_message", "agent_message", "agent_thought"):
            content = update["content"]
            text = "".join(one.get("text", "") for one in (content if isinstance(content, list) else [content]))
            if told and told[-1][0] == kind:
                told[-1] = kind, told[-1][1] + text
            else:
                told.append((kind, text))
        elif kind == "tool_call" or (kind == "tool_call_update" and "title" in update):
            told.append(("call", f"{update['kind']} {update['title']}"))
        elif kind == "tool_call_update" and update.get("status") in ("completed", "failed"):
            told.append(("returned", update["status"]))
    return told


async def resume(editor: Editor, session: str) -> None:
    """Load a session with all that was said."""
    more = {} if editor.version == 1 else {"replayFrom": {"type": "start"}}
    method = "session/load" if editor.version == 1 else "session/resume"
    await editor.ask(method, sessionId=session, cwd=str(editor.folder), mcpServers=[], **more)


async def test_a_session_is_shown_again_by_another_agent(house: House, version: int) -> None:
    house.script(says("One."), calls("terminal", command="echo hi"), says("Two."))
    first = await house.editor(version)
    session = await first.new()
    await first.say(session, "say one")
    await first.say(session, "say two")
    await first.stop()
    second = await house.editor(version)
    await resume(second, session)
    assert transcript(second) == [
        ("user_message", "say one"),
        ("agent_message", "One."),
        ("user_message", "say two"),
        ("call", "execute $ echo hi"),
        ("returned", "completed"),
        ("agent_message", "Two."),
    ]
    house.script(says("Three."))
    assert await second.say(session, "and three") == "end_turn"
    sent = [one["content"] for one in house.model.asked[-1].body["messages"] if one["role"] == "user"]
    assert sent[:3] == ["say one", "say two", "and three"]


async def test_a_session_is_there_once_its_id_is_told(house: House, version: int) -> None:
    first = await house.editor(version)
    session = await first.new()
    await first.kill()
    second = await house.editor(version)
    await resume(second, session)
    assert transcript(second) == []
    assert await second.say(session, "hello") == "end_turn"


async def test_a_turn_goes_on_where_a_death_cut_it_off(house: House, version: int) -> None:
    house.script(calls("terminal", command="echo hi >> ran"), hangs)  # type: ignore[arg-type]
    first = await house.editor(version)
    session = await first.new()
    saying = asyncio.create_task(first.say(session, "run it"))
    await first.until(lambda: first.text() == "Well,")
    await first.kill()
    with pytest.raises(ConnectionError):
        await saying
    house.script(says("It ran."))
    second = await house.editor(version)
    await resume(second, session)
    await second.until(lambda: "It ran." in second.text())
    assert Path(house.work, "ran").read_text() == "hi\n"
    assert await second.say(session, "hello") == "end_turn"
    assert "Nine o'clock." in second.text()


async def test_an_editor_that_leaves_leaves_its_turn_to_whoever_comes(house: House) -> None:
    house.script(hangs)  # type: ignore[arg-type]
    first = await house.editor()
    session = await first.new()
    saying = asyncio.create_task(first.say(session, "run it"))
    await first.until(first.text)
    await first.stop()
    with pytest.raises(ConnectionError):
        await saying
    second = await house.editor()
    await resume(second, session)
    await second.until(lambda: "Nine o'clock." in second.text())


async def test_both_versions_tell_the_same(house: House) -> None:
    told = []
    for version in (1, 2):
        house.script(
            says("Let me ", "see.", thinking="Hm."),
            calls("terminal", command="echo hi"),
            calls("write_file", path=f"{version}/x", content="y"),
            calls("read_file", path="/etc/nothing"),
            says("So it is."),
        )
        editor = await house.editor(version)
        session = await editor.new()
        await editor.say(session, "look")
        await editor.say(session, "and do")
        live = transcript(editor)
        before = len(editor.told)
        await resume(editor, session)
        told.append(([one for one in live if one[0] != "user_message"], transcript(editor, before)))
        await editor.stop()
    (first, again), (second, twice) = told
    assert [(k, t.replace("1/x", "2/x")) for k, t in first] == second
    assert [(k, t.replace("1/x", "2/x")) for k, t in again] == twice
    assert [one for one in twice if one[0] not in ("user_message", "agent_thought")] == [
        one for one in second if one[0] != "agent_thought"
    ]


async def test_sessions_are_listed_by_folder_and_those_without_a_word_are_not(house: House, version: int) -> None:
    editor = await house.editor(version)
    await editor.new()
    session = await editor.new()
    await editor.say(session, "what time is it?")
    found = (await editor.ask("session/list"))["sessions"]
    assert [(one["sessionId"], one["cwd"]) for one in found] == [(session, str(house.work))]
    assert (await editor.ask("session/list", cwd="/nowhere"))["sessions"] == []
    assert (await editor.ask("session/list", cwd=str(house.work)))["sessions"] == found


async def test_more_sessions_than_fit_come_by_pages(house: House) -> None:
    editor = await house.editor()
    names = set()
    for _ in range(53):
        names.add(session := await editor.new())
        await editor.say(session, "hello")
    first = await editor.ask("session/list")
    second = await editor.ask("session/list", cursor=first["nextCursor"])
    assert "nextCursor" not in second
    assert {one["sessionId"] for one in (*first["sessions"], *second["sessions"])} == names
    with pytest.raises(Failed):
        await editor.ask("session/list", cursor="nonsense")


async def test_a_copy_goes_its_own_way(house: House, version: int) -> None:
    house.script(says("One."), says("Two."))
    editor = await house.editor(version)
    session = await editor.new()
    await editor.say(session, "say one")
    copy = (await editor.ask("session/fork", sessionId=session, cwd=str(house.work), mcpServers=[]))["sessionId"]
    await editor.say(copy, "say two")
    assert [m["content"] for m in house.model.asked[-1].body["messages"][1:]] == ["say one", "One.", "say two"]
    before = len(editor.told)
    await resume(editor, session)
    assert ("user_message", "say two") not in transcript(editor, before)


async def test_what_is_closed_stops_and_what_is_deleted_is_gone(house: House, version: int) -> None:
    house.script(hangs)  # type: ignore[arg-type]
    editor = await house.editor(version)
    session = await editor.new()
    saying = asyncio.create_task(editor.say(session, "go"))
    await editor.until(editor.text)
    await editor.ask("session/close", sessionId=session)
    assert await saying == "cancelled"
    with pytest.raises(Failed) as caught:
        await editor.ask("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "x"}])
    assert caught.value.code == -32002
    await editor.ask("session/delete", sessionId=session)
    assert (await editor.ask("session/list"))["sessions"] == []
    with pytest.raises(Failed) as caught:
        await resume(editor, session)
    assert caught.value.code == -32002


async def test_what_was_chosen_is_kept_with_the_session(house: House, version: int) -> None:
    first = await house.editor(version)
    session = await first.new()
    name = "id" if version == 1 else "configId"
    found = await first.ask("session/set_config_option", sessionId=session, configId="model", value="custom:n")
    assert {one[name]: one["currentValue"] for one in found["configOptions"]}["model"] == "custom:n"
    await first.ask("session/set_config_option", sessionId=session, configId="effort", value="high")
    await first.ask("session/set_config_option", sessionId=session, configId="mode", value="smart")
    await first.say(session, "hello")
    assert house.model.asked[-1].body["model"] == "n"
    await first.kill()
    second = await house.editor(version)
    method = "session/load" if version == 1 else "session/resume"
    found = await second.ask(method, sessionId=session, cwd=str(house.work), mcpServers=[])
    kept = {one[name]: one["currentValue"] for one in found["configOptions"]}
    assert kept == {"model": "custom:n", "effort": "high", "mode": "smart"}
    await second.say(session, "hello")
    assert house.model.asked[-1].body["model"] == "n"
    for wrong in ({"configId": "mode", "value": "none"}, {"configId": "colour", "value": "red"}):
        with pytest.raises(Failed) as caught:
            await second.ask("session/set_config_option", sessionId=session, **wrong)
        assert caught.value.code == -32602


async def test_models_and_modes_are_offered(house: House) -> None:
    editor = await house.editor()
    found = await editor.ask("session/new", cwd=str(house.work), mcpServers=[])
    assert found["modes"]["currentModeId"] == "ask"
    [told] = await editor.until(lambda: editor.updates("config_option_update"))
    models = next(one for one in told["configOptions"] if one["id"] == "model")
    assert [one["value"] for one in models["options"]] == ["custom:m", "custom:n"]
    await editor.ask("session/set_mode", sessionId=found["sessionId"], modeId="off")
    await editor.say(found["sessionId"], "/permission ask")
    assert [one["currentModeId"] for one in editor.updates("current_mode_update")] == ["ask"]


async def test_a_folder_that_is_too_wide_and_servers_of_the_editor_are_told_of(house: House, version: int) -> None:
    editor = await house.editor(version)
    server = {"name": "clock", "command": "/bin/clock", "args": [], "env": []}
    server |= {"type": "stdio"} if version == 2 else {}
    await editor.ask("session/new", cwd=str(house.work.parent), mcpServers=[server])
    await editor.until(lambda: "too wide" in editor.text() and "clock" in editor.text())
    for wrong in ("relative", str(house.work / "nothing")):
        with pytest.raises(Failed) as caught:
            await editor.ask("session/new", cwd=wrong, mcpServers=[])
        assert caught.value.code == -32602
