"""Calls that a server makes a task of, and its skills: one server for all that is asked of it."""

import asyncio
import sys
from pathlib import Path

import pytest

from hermes_core.errors import ToolError
from hermes_core.types import Text
from hermes_tool_mcp.calling import _skill
from hermes_tool_mcp.results import result_of
from hermes_tool_mcp.tools import SKILL, offered

SERVER = Path(__file__).with_name("tasks_server.py")


def row(*words, **more):
    args = [str(SERVER), *map(str, words)]
    return {"command": sys.executable, "args": args, "wall": False, "timeout": 30.0, "connect_timeout": 30.0, **more}


async def said(connection, tool, context):
    answer = await connection.call(tool, {}, context)
    return "".join(part.text for part in await result_of(answer, context) if isinstance(part, Text))


async def test_a_call_that_becomes_a_task_is_a_call_like_any_other(servers, tmp_path):
    log = tmp_path / "log.txt"
    there = servers(tasks=row(log))
    connection = there.connection("tasks")
    context = there.context(["ada"])
    assert await said(connection, "quick", context) == "done"
    assert await said(connection, "asks", context) == "ada"
    assert len(context.asked) == 1  # though it is asked after several times meanwhile
    assert log.read_text().splitlines().count("answered") == 2  # the server was away the first time
    with pytest.raises(ToolError, match="it broke"):
        await said(connection, "breaks", context)
    assert "cancelled breaks" not in log.read_text()
    with pytest.raises(ToolError, match="more than 10 times"):
        await said(connection, "nosy", there.context([""] * 20))
    assert log.read_text().splitlines()[-1] == "cancelled nosy"
    with pytest.raises(ToolError, match="did not answer within"):
        await connection.call("slow", {}, context, seconds=0.3)
    lines = log.read_text().splitlines()
    assert "asked after" in lines
    assert lines[-1] == "cancelled slow"  # nobody waits any more
    call = asyncio.ensure_future(said(connection, "slow", context))
    while log.read_text().splitlines()[-1] != "asked after":
        await asyncio.sleep(0.01)
    call.cancel()
    await asyncio.wait([call])
    assert log.read_text().splitlines()[-1] == "cancelled slow"
    assert await said(connection, "quick", context) == "ada"


async def test_a_skill_is_read_when_it_is_wanted_and_only_as_the_list_says(servers, tmp_path):
    log = tmp_path / "log.txt"
    there = servers(tasks=row(log))
    connection, context = there.connection("tasks"), there.context()
    await connection.client()
    assert not log.exists()  # nothing was fetched before anybody wanted it
    listed = there.pool.lists.get("tasks", there.rows["tasks"])
    assert [one.name for one in listed.skills] == ["tea"]  # and none whose files nobody lists
    [tool] = [one for one in offered(there.rows["tasks"], listed) if one.name == SKILL]
    assert "- tea: Make tea." in tool.description
    main = await _skill(connection, context, "tea", "")
    assert main.startswith("---\nname: tea")
    assert "herbs.md, forged.md" in main
    assert await _skill(connection, context, "tea", "herbs.md") == "Mint.\n"
    for name, path, why in (
        ("tea", "forged.md", "not what the server's own list says"),
        ("tea", "../secret", "has no file"),
        ("coffee", "", "no skill"),
    ):
        with pytest.raises(ToolError, match=why):
            await _skill(connection, context, name, path)
    assert log.read_text().splitlines() == [f"read skill://tea/{one}" for one in ("SKILL.md", "herbs.md", "forged.md")]


async def test_a_server_that_cannot_list_its_skills_has_its_tools_all_the_same(servers, tmp_path):
    there = servers(tasks=row(tmp_path / "log.txt", "forgets"))
    await there.connection("tasks").client()
    listed = there.pool.lists.get("tasks", there.rows["tasks"])
    assert (len(listed.tools), listed.skills) == (5, ())
    assert listed.left == ({"name": "its skills", "why": "it cannot list them: I forgot them."},)
