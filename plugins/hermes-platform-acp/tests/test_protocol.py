"""The connection itself: versions, what is refused, and that nothing else comes over it."""

import asyncio
import random
import sys
from typing import Any

import pytest

from .conftest import House, calls, says
from .editor import Editor, Failed
from .test_sessions import resume, transcript


async def test_the_draft_is_spoken_only_where_it_was_chosen(house: House) -> None:
    plain = await house.editor()
    with pytest.raises(Failed) as caught:
        await plain.ask("initialize", protocolVersion=1)
    assert caught.value.code == -32600
    with pytest.raises(Failed) as caught:
        await plain.ask("session/nothing")
    assert caught.value.code == -32601
    house.configure("acp: {draft_v2: true}\n")
    editor = Editor(house.env, house.work, 1)
    house.editors.append(editor)
    assert (await editor.start())["protocolVersion"] == 1


async def test_an_editor_that_asks_for_more_gets_what_there_is(house: House) -> None:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "hermes_core", "acp"), stdin=pipe, stdout=pipe, env=house.env, cwd=house.work
    )
    out, _ = await asyncio.wait_for(
        process.communicate(
            b'{"jsonrpc":"2.0","id":1,"method":"session/list"}\n'
            b'{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":7}}\n'
        ),
        60,
    )
    first, second = out.splitlines()
    assert b"Say initialize first" in first
    assert b'"protocolVersion":1' in second
    assert process.returncode == 0


async def test_what_commands_and_plugins_print_is_not_on_stdout(house: House) -> None:
    """Every line of stdout is held against the schemas: a stray word fails any of these tests."""
    house.script(calls("terminal", command="echo out; echo err >&2; cat"), says("Done."))
    editor = await house.editor()
    assert await editor.say(await editor.new(), "print") == "end_turn"
    assert await editor.stop() == ""


async def test_a_terminal_is_told_that_editors_start_it(house: House) -> None:
    import pty

    ours, theirs = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "hermes_core", "acp"), stdin=theirs, stdout=theirs, stderr=-1, env=house.env
    )
    _, said = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 2
    assert b"An editor starts this" in said
    assert b"Traceback" not in said
    import os

    os.close(ours)
    os.close(theirs)


async def test_slash_commands_are_offered_run_and_told(house: House, version: int) -> None:
    editor = await house.editor(version)
    session = await editor.new()
    [told] = await editor.until(lambda: editor.updates("available_commands_update"))
    names = {one["name"] for one in told["availableCommands"]}
    assert {"help", "model", "status", "compress", "steer", "permission"} <= names
    assert not {"new", "resume", "branch"} & names
    assert await editor.say(session, "/status") == "end_turn"
    assert f"Conversation: {session}" in editor.text()
    assert not [one for one in house.model.asked if one.method == "POST"]
    before = len(editor.told)
    await editor.say(session, "/title Nine lives")
    await editor.say(session, "/model nonsense:nothing")
    assert editor.text(before)
    await editor.say(session, "/nothing is no command")
    assert house.model.asked[-1].body["messages"][-1]["content"] == "/nothing is no command"


async def test_what_was_said_beside_a_turn_reaches_it(house: House) -> None:
    house.script(calls("terminal", command="sleep 1.5"), says("Done."))
    editor = await house.editor()
    session = await editor.new()
    saying = asyncio.create_task(editor.say(session, "wait"))
    await editor.until(lambda: editor.updates("tool_call"))
    assert await editor.say(session, "/steer and hurry") == "end_turn"
    assert await saying == "end_turn"
    assert "and hurry" in str(house.model.asked[-1].body["messages"])


@pytest.mark.parametrize(
    "prompt",
    [[], [{"type": "text"}], [{"type": "image", "mimeType": "image/png", "data": "?"}], [{"type": "dance"}], "x", [5]],
)
async def test_content_that_cannot_be_read_is_refused(house: House, prompt: Any) -> None:
    editor = await house.editor()
    session = await editor.new()
    with pytest.raises(Failed) as caught:
        await editor.ask("session/prompt", sessionId=session, prompt=prompt)
    assert caught.value.code == -32602
    assert await editor.say(session, "hello") == "end_turn"


@pytest.mark.long
async def test_scripted_sessions_tell_the_same_in_both_versions_and_when_they_are_loaded(
    house: House, pytestconfig: pytest.Config
) -> None:
    """Five hundred with ``--rounds 25``."""
    rounds = 20 * pytestconfig.getoption("rounds")
    editors = [await house.editor(1), await house.editor(2)]
    for seed in range(rounds):
        told = []
        for editor in editors:
            dice = random.Random(seed)
            for _ in range(dice.randint(0, 4)):
                made = dice.choice(["terminal", "write_file", "read_file", "todo"])
                given: dict[str, Any] = {
                    "terminal": {"command": dice.choice(["echo hi", "false", "seq 3"])},
                    "write_file": {"path": f"v{editor.version}/{seed}", "content": str(dice.random())},
                    "read_file": {"path": f"v{editor.version}/{seed}"},
                    "todo": {"todos": [{"id": "a", "content": "Look"}]},
                }[made]
                house.script(calls(made, **given))
            house.script(says(*("word " for _ in range(dice.randint(1, 5))), thinking=dice.choice(["", "Hm."])))
            session, before = await editor.new(), len(editor.told)
            assert await editor.say(session, f"go {seed}") == "end_turn"
            live, at = transcript(editor, before), len(editor.told)
            await resume(editor, session)
            again = [one for one in transcript(editor, at) if one[0] != "agent_thought"]
            assert [o for o in live if o[0] not in ("agent_thought", "user_message")] == again[1:]
            told.append([(kind, text.replace("v1/", "v2/")) for kind, text in live if kind != "user_message"])
            await editor.ask("session/close", sessionId=session)
        assert told[0] == told[1]
