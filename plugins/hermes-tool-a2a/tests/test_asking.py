"""Asking the SDK's own server: by a model within its rules, by a person, over a death, and what is refused."""

import asyncio
import json

import pytest
from a2a.types import AgentInterface

from hermes_core.errors import ToolError, UserError
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import Call, FakeToolContext, FakeWorkspace, plugin_context
from hermes_core.testing.contract_base import manifest_path
from hermes_core.types import Session, ToolCall, ToolResult
from hermes_tool_a2a.config import AgentSettings, Config
from hermes_tool_a2a.tool import Asking, ask_tool, judge

from .remote import KEY, remote

MODULE = "hermes_tool_a2a"


def made(tmp_path, url, seconds=20.0, **more):
    """What the plugin is handed, with one agent, and its tool."""
    config = Config(agents={"travel": AgentSettings(url=url, **more)}, seconds=seconds)
    manifest = read_manifest(manifest_path(MODULE))
    ctx = plugin_context(manifest, tmp_path / "home", config=config, secrets={"A2A_TRAVEL_KEY": KEY})
    return ctx, ask_tool(ctx)


@pytest.fixture
def context(tmp_path):
    return FakeToolContext(FakeWorkspace(folder=tmp_path))


async def test_it_speaks_the_other_binding_too(tmp_path, context):
    async with remote("HTTP+JSON") as there:
        _, tool = made(tmp_path, there.url)
        assert "Heard: To Oslo?" in await tool.run(context, Asking(name="travel", text="To Oslo?"))


async def test_it_is_asked_goes_on_asks_fails_and_gives_files(tmp_path, context):
    async with remote() as there:
        _, tool = made(tmp_path, there.url, key="env:A2A_TRAVEL_KEY")
        assert tool.description == "Ask an agent elsewhere: travel."
        answer = await tool.run(context, Asking(name="travel", text="To Oslo?"))
        assert answer.startswith("Heard: To Oslo?\n[conversation ")
        conversation = answer.partition("[conversation ")[2].rstrip("]")
        again = await tool.run(context, Asking(name="travel", text="When?", conversation=conversation))
        assert conversation in again
        asks = await tool.run(context, Asking(name="travel", text="ask me"))
        assert "Which day?" in asks
        task = asks.partition("task ")[2].rpartition("]")[0].split("task ")[-1]
        done = await tool.run(context, Asking(name="travel", text="Friday.", task=task))
        assert "Heard: Friday." in done
        failed = await tool.run(context, Asking(name="travel", text="fail"))
        assert failed.startswith("The task is failed.")
        kept = await tool.run(context, Asking(name="travel", text="file"))
        assert context.spilled
        assert "/../" not in kept
        assert (await tool.run(context, Asking(name="travel", text="plain"))).startswith("No task at all.")
        assert set(there.keys) == {f"Bearer {KEY}"}


async def test_what_takes_long_is_looked_at_again_and_a_death_begins_nothing_anew(tmp_path, context):
    async with remote() as there:
        _, tool = made(tmp_path, there.url, seconds=0.2)
        first = await tool.run(context, Asking(name="travel", text="slow"))
        assert "works on it still" in first
        task = first.rpartition("task ")[2].rstrip("]")
        there.agent.go.set()
        assert "Heard: slow" in await tool.run(context, Asking(name="travel", task=task))
        assert "Heard: slow" in await tool.left(context, Asking(name="travel", text="slow"))
        assert [words for _, words in there.agent.heard] == ["slow"]
        context.call_id = "another"
        with pytest.raises(ToolError, match="Nobody knows"):
            await tool.left(context, Asking(name="travel", text="slow"))


async def test_a_card_that_leads_elsewhere_gets_no_key_and_what_is_wrong_is_said_in_a_line(tmp_path, context):
    async with remote() as there, remote() as other:
        _, tool = made(tmp_path, there.url, key="env:A2A_TRAVEL_KEY")
        del there.card.supported_interfaces[:]
        there.card.supported_interfaces.append(
            AgentInterface(url=other.url, protocol_binding="JSONRPC", protocol_version="1.0")
        )
        with pytest.raises(ToolError, match="leads to another place"):
            await tool.run(context, Asking(name="travel", text="hello"))
        assert other.keys == []
    with pytest.raises(ToolError, match="could not be asked"):
        await tool.run(context, Asking(name="travel", text="hello"))
    for url, says in {
        "http://example.org": "in the clear",
        "file:///etc": "no address",
        "https://a@b": "no address",
    }.items():
        _, tool = made(tmp_path, url, key="env:A2A_TRAVEL_KEY")
        with pytest.raises(ToolError, match=says):
            await tool.run(context, Asking(name="travel", text="hello"))
    _, tool = made(tmp_path, "http://127.0.0.1:1", key="env:A2A_OTHER")
    with pytest.raises(ToolError, match="is not set"):
        await tool.run(context, Asking(name="travel", text="hello"))


def test_an_agent_is_asked_without_a_yes_only_where_that_is_set_and_nothing_is_from_outside(tmp_path):
    call = ToolCall(id="1", name="ask_agent", arguments={"name": "travel", "text": "x"})
    ctx, _ = made(tmp_path, "https://a.example", ask=False)
    assert judge(ctx, Session(id="s", origin="cli"), call).outcome == "allow"
    assert judge(ctx, Session(id="s", origin="cli", untrusted=True), call) is None
    ctx, _ = made(tmp_path, "https://a.example")
    assert judge(ctx, Session(id="s", origin="cli"), call) is None


async def test_a_model_asks_and_reads_an_answer_from_outside(hermes, scripted):
    model = scripted(Call("ask_agent", {"name": "travel", "text": "To Oslo?"}), "At eight.")
    async with remote() as there:
        hermes.tmp_plugin(MODULE)
        hermes.tmp_plugin(model)
        hermes.configure({"tools.a2a.agents": {"travel": {"url": there.url, "ask": False}}})
        async for _ in hermes.turn("When does it go?"):
            pass
        [result] = [p for m in model.requests[-1].messages for p in m.parts if isinstance(p, ToolResult)]
        assert result.untrusted
        assert "Heard: To Oslo?" in result.parts[0].text
        listed = json.loads(await hermes.command("a2a list", "--json"))
        assert listed["name"] == "travel"
        assert "Knows trains." in await hermes.command("a2a card", "travel")
        assert "Heard: Hello" in await hermes.command("a2a ask", "travel", "Hello")
        with pytest.raises(UserError, match="failed"):
            await hermes.command("a2a ask", "travel", "fail")


async def test_a_person_answers_a_question_keeps_files_and_reads_a_card(hermes, tmp_path):
    async with remote() as there:
        hermes.tmp_plugin(MODULE)
        hermes.configure({"tools.a2a.agents": {"travel": {"url": there.url}}})
        card = json.loads(await hermes.command("a2a card", "travel", "--json"))
        assert card["skills"][0]["name"] == "Trains"
        assert "Which day?" in await hermes.command("a2a ask", "travel", "ask")
        kept = tmp_path / "files"
        await hermes.command("a2a ask", "travel", "file", "--files", str(kept))
        assert [one.read_bytes() for one in kept.iterdir()] == [b"a,b"]
        with pytest.raises(UserError, match="is there already"):
            await hermes.command("a2a ask", "travel", "file", "--files", str(kept))
        with pytest.raises(UserError, match="could not be asked"):
            await hermes.command("a2a ask", "travel", "--task", "none")
        with pytest.raises(UserError, match="no agent"):
            await hermes.command("a2a card", "nobody")


async def test_an_answer_that_is_too_long_is_cut_off(tmp_path, context, monkeypatch):
    monkeypatch.setattr("hermes_tool_a2a.wire._MOST", 2_000)
    async with remote() as there:
        _, tool = made(tmp_path, there.url)
        with pytest.raises(ToolError, match="more than"):
            await tool.run(context, Asking(name="travel", text="x" * 5_000))


async def test_without_an_agent_there_is_no_tool(hermes, scripted):
    model = scripted("Hello.")
    hermes.tmp_plugin(MODULE)
    hermes.tmp_plugin(model)
    async for _ in hermes.turn("Hi."):
        pass
    assert "ask_agent" not in [one.name for one in model.requests[-1].tools]


async def test_who_stops_the_turn_stops_the_task_there(tmp_path, context):
    async with remote() as there:
        _, tool = made(tmp_path, there.url)
        calling = asyncio.ensure_future(tool.run(context, Asking(name="travel", text="slow")))
        async with asyncio.timeout(20):
            while not there.agent.heard:
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.2)
        context.interrupted = True
        calling.cancel()
        await asyncio.wait({calling})
        assert there.agent.heard[-1][1] == "canceled"
