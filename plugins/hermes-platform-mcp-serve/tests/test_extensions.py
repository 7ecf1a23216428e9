"""Calls that become tasks, over deaths too, and skills of folders, as a client sees both."""

import asyncio
from typing import Any, Literal

import pytest
from attrs import frozen
from mcp.client.extension import ClientExtension, ResultClaim
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, Request, RequestParams, Result
from pydantic import ConfigDict

from hermes_core.kinds import tool
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import plugin_context
from hermes_core.testing.project import manifest_path
from hermes_core.types import TurnOrder
from hermes_platform_mcp_serve.recovered import event_of
from hermes_platform_mcp_serve.tasks import IDENTIFIER

from .conftest import MODULE

GATE: dict[str, asyncio.Event] = {}
SEEN = []


@frozen(kw_only=True)
class Words:
    """What is said."""

    text: str


@tool(toolset="library", effects=())
async def ponder(given: Words) -> str:
    """Think until the gate is open."""
    SEEN.append("begun")
    try:
        await GATE["gate"].wait()
    finally:
        SEEN.append("ended")
    return f"{given.text} was thought about"


class Begun(Result):
    result_type: Literal["task"] = "task"
    task_id: str


class Open(Result):
    model_config = ConfigDict(extra="allow")


class Knows(ClientExtension):
    identifier = IDENTIFIER

    def claims(self):
        async def never(_begun, _context):
            raise AssertionError("it is asked after by hand here")

        return (ResultClaim(result_type="task", model=Begun, resolve=never),)


class Given(RequestParams):
    model_config = ConfigDict(extra="allow")


async def ask(client, method, **params) -> dict[str, Any]:
    answer = await client.session.send_request(Request(method=method, params=Given(**params)), Open)
    return answer.model_dump(by_alias=True, exclude_none=True)


@pytest.fixture
def library(hermes, scripted, monkeypatch):
    monkeypatch.setattr("hermes_platform_mcp_serve.asked._GRACE", 0.05)
    GATE["gate"] = asyncio.Event()
    SEEN.clear()
    hermes.tmp_plugin(scripted())
    hermes.tmp_plugin(MODULE)
    hermes.tmp_plugin(ponder, name="library")
    return hermes


async def state(client, name, *wanted):
    async with asyncio.timeout(20):
        while (found := await ask(client, "tasks/get", taskId=name))["status"] not in wanted:
            await asyncio.sleep(0.01)
    return found


async def seen(what):
    async with asyncio.timeout(20):
        while what not in SEEN:
            await asyncio.sleep(0.01)


async def begun(client):
    return (await client.session.call_tool("ponder", {"text": "tea"}, allow_claimed=True)).task_id


async def test_a_call_that_takes_long_is_a_task_of_its_client_and_of_nobody_else(library, connected):
    ctx = library.context(MODULE)
    async with connected(tools=["ponder"], ctx=ctx, extensions=[Knows()]) as client:
        name = await begun(client)
        assert (await ask(client, "tasks/get", taskId=name))["status"] == "working"
        GATE["gate"].set()
        done = await state(client, name, "completed")
        assert "tea was thought about" in done["result"]["content"][0]["text"]
        with pytest.raises(MCPError) as caught:
            await ask(client, "tasks/get", taskId="no such task")
        assert caught.value.code == INVALID_PARAMS
    async with connected(tools=["ponder"], ctx=ctx, owner="alice", extensions=[Knows()]) as alice:
        with pytest.raises(MCPError):
            await ask(alice, "tasks/get", taskId=name)
    async with connected(tools=["ponder"], ctx=ctx, extensions=[Knows()]) as again:  # the server was started again
        assert (await ask(again, "tasks/get", taskId=name))["result"] == done["result"]


async def test_a_task_that_is_cancelled_is_interrupted(library, connected):
    async with connected(tools=["ponder"], extensions=[Knows()]) as client:
        name = await begun(client)
        await seen("begun")
        assert await ask(client, "tasks/cancel", taskId=name)
        assert (await state(client, name, "cancelled"))["taskId"] == name
        await seen("ended")


async def test_a_task_of_an_earlier_life_is_cancelled_by_its_own_client_and_not_played(hermes, connected, tmp_path):
    ctx = plugin_context(read_manifest(manifest_path(MODULE)), tmp_path / "home")
    await ctx.turns.queue("left", owner=ctx.owner, order=TurnOrder(event=event_of("left")))  # as a death leaves it
    async with connected(ctx=ctx, owner="alice", extensions=[Knows()]) as alice:
        with pytest.raises(MCPError):
            await ask(alice, "tasks/cancel", taskId="left")
    assert any(ctx.turns.waiting.values())
    async with connected(ctx=ctx, extensions=[Knows()]) as client:
        with pytest.raises(MCPError):
            await ask(client, "tasks/cancel", taskId="no such task")
        await ask(client, "tasks/cancel", taskId="left")
    assert not any(ctx.turns.waiting.values())


async def test_a_client_that_knows_no_tasks_waits(library, connected):
    async with connected(tools=["ponder"]) as client:
        call = asyncio.ensure_future(client.call_tool("ponder", {"text": "tea"}))
        await seen("begun")
        GATE["gate"].set()
        assert "thought about" in (await call).content[0].text


def write(folder, **files):
    for path, words in files.items():
        place = folder / path.replace("__", "/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(words)


async def test_skills_of_a_folder_are_served_to_their_owner_alone_and_nothing_beside_them(library, connected, tmp_path):
    skills, head = tmp_path / "skills", "---\nname: {}\ndescription: Do it.\n---\n\nDo it.\n"
    write(skills / "tea", **{"SKILL.md": head.format("tea"), "herbs__mint.md": "Mint."})
    write(skills / "other", **{"SKILL.md": head.format("tea")})
    write(skills / "odd", **{"SKILL.md": head.format("odd").replace("\nd", "\nweight: .nan\nd", 1)})
    (tmp_path / "secret.txt").write_text("nobody else's")
    (skills / "tea" / "link.md").symlink_to(tmp_path / "secret.txt")
    library.configure({"platforms.mcp_serve.skills": [str(skills)]})
    ctx = library.context(MODULE)
    async with connected(ctx=ctx) as client:
        assert "io.modelcontextprotocol/skills" in client.server_capabilities.extensions
        [tea] = (await ask(client, "skills/list"))["skills"]
        assert [one["uri"] for one in tea["resources"]] == ["skill://tea/SKILL.md", "skill://tea/herbs/mint.md"]
        assert (await client.read_resource("skill://tea/herbs/mint.md")).contents[0].text == "Mint."
        rows = (await ask(client, "resources/directory/read", uri="skill://tea"))["resources"]
        assert [one["mimeType"] for one in rows] == ["text/markdown", "inode/directory"]
        for uri in ("skill://tea/link.md", "skill://tea/../../secret.txt", "skill://other/SKILL.md"):
            with pytest.raises(MCPError):
                await client.read_resource(uri)
    async with connected(ctx=ctx, owner="alice") as alice:
        assert (await ask(alice, "skills/list"))["skills"] == []
