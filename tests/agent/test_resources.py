"""Resources of sessions: opened once, closed when idle, at rest, at exit or by a person, and nobody else's trouble."""

import asyncio
import itertools

import pytest

from hermes_core.agent.slash.jobs import JobsBeside
from hermes_core.errors import UserError
from hermes_core.kinds import Resource, tool
from hermes_core.kinds.tool import ToolContext
from hermes_core.testing import Call
from hermes_core.types import Ended, Returned


class Lamp(Resource):
    """Numbered things; it may break, hang, or burn on."""

    name = "lamp"

    def __init__(self):
        self.number, self.open_now, self.closed = itertools.count(1), [], []
        self.dead, self.burning, self.fails, self.hangs, self.refuses = set(), False, False, False, False

    async def open(self, session, workspace):
        assert workspace.cwd
        if self.refuses:
            raise UserError("There is no oil.")
        await asyncio.sleep(0)
        thing = next(self.number)
        self.open_now.append(thing)
        return thing

    async def close(self, thing):
        self.open_now.remove(thing)
        if self.hangs:
            await asyncio.Event().wait()
        if self.fails:
            raise RuntimeError("broken glass")
        self.closed.append(thing)

    def alive(self, thing):
        return thing not in self.dead

    def busy(self, thing):
        return self.burning

    def describe(self, thing):
        return f"lamp {thing}"


@tool(name="light", touches=lambda _: ())
async def light(context: ToolContext) -> str:
    """Light it."""
    first = await context.resource("lamp")
    assert await context.resource("lamp") == first
    return str(first)


class Lantern(Lamp):
    """One that is there for tools of all plugins."""

    name, shared = "lantern", True


@tool(name="borrow", touches=lambda _: ())
async def borrow(context: ToolContext) -> str:
    """Use what other plugins keep."""
    return str(await context.resource("lantern"))


@tool(name="steal", touches=lambda _: ())
async def steal(context: ToolContext) -> str:
    """Use what another plugin keeps for itself."""
    return str(await context.resource("lamp"))


async def said(hermes, session="s"):
    events = [event async for event in hermes.turn("go", session=session)]
    assert isinstance(events[-1], Ended)
    return [event.result.parts[0].text for event in events if isinstance(event, Returned)]


@pytest.fixture
def lamp():
    return Lamp()


@pytest.fixture
def lit(hermes, scripted, lamp):
    """A kernel whose model lights the lamp in each of so many turns."""

    def made(turns):
        hermes.tmp_plugin(scripted(*[[Call("light")], "Lit."] * turns))
        hermes.tmp_plugin(light, lamp, name="house")
        return hermes

    return made


async def until(condition):
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.005)


async def test_a_session_has_one_and_another_session_its_own(lit, hermes, lamp):
    lit(4)
    assert await said(hermes) == ["1"]
    assert await said(hermes) == ["1"]
    assert await said(hermes, "other") == ["2"]
    await hermes.runtime.sessions.forget("s")
    assert lamp.closed == [1], "its session rests"
    assert await said(hermes) == ["3"], "and it is opened again when that goes on"
    await hermes.close()
    assert sorted(lamp.closed) == [1, 2, 3], "nothing is open after the end"


async def test_calls_of_one_reply_share_it(hermes, scripted, lamp):
    hermes.tmp_plugin(scripted([Call("light"), Call("light")], "Lit."))
    hermes.tmp_plugin(light, lamp, name="house")
    assert await said(hermes) == ["1", "1"]


async def test_what_is_shared_goes_to_tools_of_all_plugins_and_what_is_not_to_none(hermes, scripted):
    hermes.tmp_plugin(scripted([Call("borrow"), Call("steal")], "Done."))
    lantern, kept = Lantern(), Lamp()
    hermes.tmp_plugin(lantern, kept, name="house")
    hermes.tmp_plugin(borrow, steal, name="guest")
    borrowed, stolen = await said(hermes)
    assert borrowed == "1"
    assert "lamp" in stolen
    assert kept.open_now == []
    await hermes.close()
    assert lantern.closed == [1]


async def test_what_is_idle_is_closed_and_what_is_busy_is_not(lit, hermes, lamp):
    lit(2)
    lamp.idle, lamp.burning = 0.01, True
    await said(hermes)
    await asyncio.sleep(0.1)
    assert lamp.open_now == [1]
    lamp.burning = False
    await until(lambda: lamp.closed == [1])
    assert await said(hermes) == ["2"]


async def test_one_that_died_is_replaced(lit, hermes, lamp):
    lit(2)
    await said(hermes)
    lamp.dead.add(1)
    assert await said(hermes) == ["2"]
    assert lamp.closed == [1]


async def test_a_person_sees_and_stops_it(lit, hermes, lamp):
    lit(1)
    await said(hermes)
    session = (await hermes.runtime.sessions.take("s", "embed", hermes.runtime.owner)).session
    (job,) = await JobsBeside(hermes.runtime, session).list()
    assert (job.id, job.title, job.state, job.kind) == ("resource:lamp", "lamp 1", "idle", "other")
    assert await JobsBeside(hermes.runtime, session).stop("resource:lamp")
    assert not await JobsBeside(hermes.runtime, session).stop("resource:lamp")
    assert await JobsBeside(hermes.runtime, session).list() == []
    assert lamp.closed == [1]


async def test_one_that_fails_to_close_is_named_and_gone(lit, hermes, lamp):
    lit(2)
    lamp.fails = True
    await said(hermes)
    await hermes.runtime.sessions.forget("s")
    (fault,) = hermes.runtime.dispatch.faults
    assert (fault.plugin, fault.where) == ("tool/house", "register_resources: lamp")
    assert "broken glass" in fault.error
    assert await said(hermes) == ["2"]


async def test_one_that_hangs_in_its_close_holds_nobody_up(lit, hermes, lamp, monkeypatch):
    lit(2)
    dispatch = hermes.runtime.dispatch
    monkeypatch.setitem(dispatch._deadlines, "observe", 0.05)
    lamp.hangs = True
    await said(hermes)
    await said(hermes, "other")
    await hermes.close()
    assert not lamp.open_now
    assert [fault.where for fault in dispatch.faults] == ["register_resources: lamp"]


async def test_a_person_is_told_that_it_is_stopped_also_where_its_close_hangs(lit, hermes, lamp, monkeypatch):
    lit(1)
    monkeypatch.setattr("hermes_core.agent.resources._PATIENCE", 0.01)
    lamp.hangs = True
    await said(hermes)
    session = (await hermes.runtime.sessions.take("s", "embed", hermes.runtime.owner)).session
    assert await JobsBeside(hermes.runtime, session).stop("resource:lamp")
    assert await JobsBeside(hermes.runtime, session).list() == []
    monkeypatch.setitem(hermes.runtime.dispatch._deadlines, "observe", 0.05)
    await hermes.close()


async def test_one_that_cannot_be_opened_is_told_to_the_model(lit, hermes, lamp):
    lit(2)
    lamp.refuses = True
    assert await said(hermes) == ["There is no oil."]
    lamp.refuses = False
    assert await said(hermes) == ["1"]


async def test_no_tool_reaches_for_those_of_another_plugin(hermes, scripted, lamp):
    hermes.tmp_plugin(scripted([Call("light")], "No."))
    hermes.tmp_plugin(light, name="thief")
    hermes.tmp_plugin(lamp, name="house")
    (told,) = await said(hermes)
    assert "no resource" in told.lower()
    assert not lamp.open_now


async def test_a_session_rests_when_nothing_goes_on_in_what_it_keeps_open(lit, hermes, lamp, monkeypatch):
    lit(3)
    monkeypatch.setattr("hermes_core.agent.session_state._KEPT", 1)
    lamp.burning = True
    await said(hermes)
    await said(hermes, "other")
    assert hermes.runtime.sessions.holds("s")
    lamp.burning = False
    await said(hermes, "third")
    assert not hermes.runtime.sessions.holds("s")
    assert 1 in lamp.closed
