"""Other agents at work: what they say, what they ask, how they end, and that they go on."""

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import FakeToolContext, plugin_context
from hermes_core.testing.contract_base import manifest_path
from hermes_core.types import Question, Verdict
from hermes_tool_agents import child
from hermes_tool_agents.config import AgentSettings, Config
from hermes_tool_agents.jobs import Working, at_work
from hermes_tool_agents.tool import Task, agent_tool

from .place import Place
from .test_contract import AGENT


class House:
    """A plugin with an agent that is set up, and a folder to work in."""

    def __init__(self, folder: Path, *words: str, seconds: float = 1800.0) -> None:
        folder.joinpath("work").mkdir()
        env = {"COLOUR": "env:AGENT_COLOUR"}
        known = {"fake": AgentSettings(command=sys.executable, args=[AGENT, *words], env=env)}
        known["none"] = AgentSettings(command="/no/such/program")
        manifest = read_manifest(manifest_path("hermes_tool_agents"))
        secrets = {"AGENT_COLOUR": "red"}
        self.ctx: PluginContext = plugin_context(
            manifest, folder / "home", config=Config(known=known, seconds=seconds), secrets=secrets
        )
        self.place = Place(folder / "work")
        self.tool = agent_tool(self.ctx)
        self.asked: list[Question] = []
        self.verdict = Verdict(outcome="allow", choice="once", by="tests")
        self.calls: list[FakeToolContext] = []

    def context(self) -> FakeToolContext:
        """What a call may use."""

        async def ask(question: Question) -> Verdict:
            self.asked.append(question)
            return self.verdict

        made = FakeToolContext(self.place)
        made.ask = ask  # type: ignore[method-assign]
        self.calls.append(made)
        return made

    async def have(self, task: str, agent: str = "fake", **more: Any) -> str:
        """Have a task done."""
        return str(await self.tool.run(self.context(), Task(agent=agent, task=task, **more)))

    @property
    def alive(self) -> list[int]:
        """Processes that still run."""
        return [one.process.pid for one in self.place.begun if Path(f"/proc/{one.process.pid}").exists()]


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The agent of these tests has written down all before it says that it is done."""
    monkeypatch.setattr(child, "SETTLING", 0.0)


@pytest.fixture
def house(tmp_path: Path) -> Callable[..., House]:
    """Make one, with words for its agent."""
    return lambda *words, **more: House(tmp_path, *words, **more)


async def test_an_agent_works_in_the_place_of_commands_and_its_last_message_is_the_answer(house: Any) -> None:
    here = house()
    said = await here.have("hello")
    assert said.endswith(f"{here.place.folder} red: hello")
    assert here.alive == []
    assert here.tool.untrusted


async def test_it_goes_on_in_its_session_unless_that_is_to_be_fresh(house: Any) -> None:
    here = house()
    first = (await here.have("one")).split()[0]
    second = await here.have("two")
    assert second.split()[0] == first
    assert "what was said before" not in second
    assert (await here.have("three", fresh=True)).split()[0] != first


async def test_one_that_can_resume_nothing_begins_anew(house: Any) -> None:
    here = house("forgetful")
    first = (await here.have("one")).split()[0]
    assert (await here.have("two")).split()[0] != first


@pytest.mark.parametrize(("outcome", "chosen"), [("allow", "allow_once"), ("deny", "reject_once")])
async def test_what_it_asks_is_put_to_our_person_and_a_yes_is_for_once(house: Any, outcome: Any, chosen: str) -> None:
    here = house()
    here.verdict = Verdict(outcome=outcome, by="tests", choice="once" if outcome == "allow" else "deny")
    assert chosen in await here.have("ask")
    [question] = here.asked
    assert "rm everything" in question.subject
    assert question.choices == ("once", "deny")
    assert "allow" not in (await here.have("ask for good")).partition(": ")[2], "more than once was not asked for"


async def test_how_it_fails_is_told(house: Any) -> None:
    here = house()
    for task, words in (("die", "ended"), ("fail", "log in first")):
        with pytest.raises(ToolError, match=words):
            await here.have(task)
    with pytest.raises(ToolError, match="ended"):
        await here.have("hello", "none")
    with pytest.raises(ToolError, match="There is no agent"):
        await here.have("hello", "nobody")
    assert "[fake stopped: max_tokens]" in await here.have("cut")
    assert here.alive == []


async def test_one_that_comes_to_no_end_is_stopped_when_the_settings_say_so(house: Any) -> None:
    here = house(seconds=1.5)
    async with asyncio.timeout(30):
        with pytest.raises(ToolError, match=r"still at work after 1\.5 s .*tools\.agents\.seconds"):
            await here.have("wait")
    assert here.alive == []


async def test_it_is_seen_at_work_and_stopped(house: Any) -> None:
    here = house()
    jobs = Working(at_work(here.ctx.state))
    work = asyncio.create_task(here.have("wait"))
    async with asyncio.timeout(30):
        while not (here.calls and (found := await jobs.running(here.calls[0].session)) and found[0].last):
            await asyncio.sleep(0.01)
    [job] = found
    session = here.calls[0].session
    assert (job.title, job.last) == ("fake: wait", "waiting for Godot")
    assert "waiting for Godot" in await jobs.output(session, job.id)
    assert await jobs.stop(session, job.id)
    with pytest.raises(ToolError, match="The person stopped fake"):
        await work
    assert await jobs.running(session) == []
    assert not await jobs.stop(session, job.id)
    assert here.alive == []


async def test_a_turn_that_is_stopped_stops_its_agent(house: Any) -> None:
    here = house()
    work = asyncio.create_task(here.have("wait"))
    async with asyncio.timeout(30):
        while not (here.calls and (found := await Working(at_work(here.ctx.state)).running(here.calls[0].session))):
            await asyncio.sleep(0.01)
        while not found[0].last:
            found = await Working(at_work(here.ctx.state)).running(here.calls[0].session)
            await asyncio.sleep(0.01)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert here.alive == []


async def test_a_call_that_a_death_cut_says_how_to_go_on(house: Any) -> None:
    here = house()
    assert here.tool.left
    told = str(await here.tool.left(here.context(), Task(agent="fake", task="x")))
    assert "goes on where it was" in told
    assert os.getpid() not in here.alive
