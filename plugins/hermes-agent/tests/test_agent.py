"""An agent's functions are told by their types, get values of them, and what they give is told as it is."""

import asyncio
import enum
import json
import os
import signal
import threading
from dataclasses import dataclass
from datetime import date
from typing import Any, Protocol, TypedDict

import attrs
import pytest

from hermes_agent import Agent, Context
from hermes_agent.tools import output_of, tool_of
from hermes_core.embed import Hermes
from hermes_core.errors import HermesError, Unavailable, UserError
from hermes_core.kinds import ToolContext
from hermes_core.types import Blob, Principal, Text


class Speed(enum.Enum):
    SLOW = "slow"
    FAST = "fast"


@dataclass
class Stop:
    name: str
    minutes: int = 1


@attrs.frozen
class Trip:
    day: date
    stops: list[Stop]


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    for name in os.environ:
        if name.startswith("HERMES_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


def agent(**options):
    return Agent(**{"home": "state", "provider": "offline", **options})


def plan(trip: Trip, speed: Speed = Speed.SLOW) -> Trip:
    """Plan a trip.

    Args:
        trip: Where to go.
        speed: How fast.
    """
    assert isinstance(trip.day, date)
    assert isinstance(trip.stops[0], Stop)
    assert isinstance(speed, Speed)
    return attrs.evolve(trip, stops=[*trip.stops, Stop(f"home, {speed.value}")])


async def run(made, given):
    return await made.run(None, given)


def test_classes_go_in_and_come_out():
    made = tool_of(plan, (), "own", False)
    assert made.description == "Plan a trip."
    assert made.schema["properties"]["trip"]["description"] == "Where to go."
    given = {"trip": {"day": "2026-11-28", "stops": [{"name": "Oslo"}]}, "speed": "fast"}
    said = json.loads(asyncio.run(run(made, given)))
    assert said == {
        "day": "2026-11-28",
        "stops": [{"name": "Oslo", "minutes": 1}, {"name": "home, fast", "minutes": 1}],
    }


def test_what_a_class_refuses_is_told_to_the_model():
    made = tool_of(plan, (), "own", False)
    with pytest.raises(HermesError, match=r"plan was not run.*month"):
        asyncio.run(run(made, {"trip": {"day": "2026-13-28", "stops": []}}))


def test_pictures_are_kept_and_values_beside_them_are_told():
    picture = Blob(media_type="image/png", data=b"png")
    assert output_of([picture, {"a": 1}]) == [picture, Text(text='{"a": 1}')]
    assert output_of(picture) == [picture]
    assert output_of({"a": 1}) == '{"a": 1}'


def test_all_that_cannot_work_is_said_at_registration():
    def bad(one: complex, two) -> object:
        """Be bad."""

    def worse() -> ToolContext:
        """Be worse."""

    with agent() as helper:
        with pytest.raises(UserError, match=r"Tool bad: parameter one: complex .*; parameter two has no annotation"):
            helper.register_tool(bad)
        with pytest.raises(UserError, match="worse: what it gives"):
            helper.register_tool(worse)


def test_a_function_may_ask_for_its_context():
    def who(context: ToolContext) -> str:
        """Say who asks."""
        return f"session {context.session.id}"

    with agent() as helper:
        helper.register_tool(who)
        answer = helper.run("use the tool who")
        assert f"session {answer.session}" in answer.text
        assert answer.turn
        assert answer.usage is not None


def test_instructions_are_said_once_to_a_session_that_is_there():
    with agent(instructions="Be a pirate.") as helper:
        session = helper.run("hello").session
    with agent(instructions="Be a monk.", session=session) as helper:
        helper.run("one")
        helper.run("two")
        past = helper._play(helper._hermes.sessions.past(helper._hermes.owner, session))
    said = [part.text for message in past if message.role == "user" for part in message.parts]
    assert ["Be a monk." in text for text in said].count(True) == 1
    assert said[-1] == "two"
    assert not any("pirate" in text for text in said)


def test_it_works_where_a_loop_runs_already():
    async def notebook():
        with agent() as helper:
            first = helper.run("hello")
            assert helper.run("hello again").session == first.session
            return helper.state.tool_history

    assert asyncio.run(notebook()) == []


def test_one_that_ran_outside_says_what_to_do_inside():
    helper = agent()
    helper.run("hello")

    async def inside():
        with pytest.raises(UserError, match="outside of an event loop"):
            helper.run("hello")

    asyncio.run(inside())
    helper.close()


def test_a_name_that_another_tool_has_is_said_before_anything_runs():
    def terminal(command: str) -> str:
        """Do something else."""
        return command

    helper = agent()
    helper.register_tool(terminal)
    with pytest.raises(UserError, match="Another tool is called terminal"):
        helper.run("hello")


def test_it_has_no_tools_but_its_own_whatever_they_are_called():
    def files(where: str) -> str:
        """List what is filed."""
        return f"filed {where}"

    def said(**options):
        with agent(**options) as helper:
            helper.register_tool(files)
            texts = helper.run('use the tool files with {"where": "here"}').text, helper.run("list the files").text
            return *texts, {(call.name, call.outcome) for call in helper.state.tool_history}

    own, listed, calls = said()
    assert "filed here" in own
    assert "this turn may not use it" in listed
    assert ("files", "ok") in calls
    assert ("list_files", "ok") in said(toolsets=["files"])[2]
    with pytest.raises(UserError, match="toolsets is a list"):
        agent(toolsets="files")


def test_one_that_is_at_work_says_so_to_another_thread_and_to_its_own_tools():
    tried = []

    async def notebook():
        helper = agent()
        begun = helper._begun

        def again():
            with pytest.raises(UserError, match="at work already"):
                helper.run("nested")
            tried.append(True)

        helper._begun = lambda: _Slow(begun(), again)
        helper.run("hello")
        helper.close()

    asyncio.run(notebook())
    assert tried


class _Slow:
    """A Hermes that does something in another thread as it runs."""

    def __init__(self, hermes, work):
        self._hermes, self._work = hermes, work

    def __getattr__(self, name):
        return getattr(self._hermes, name)

    async def run(self, message, **more):
        await asyncio.to_thread(self._work)
        return await self._hermes.run(message, **more)


def test_ctrl_c_in_a_notebook_ends_the_turn():
    ended = threading.Event()

    class Endless(_Slow):
        async def run(self, message, **more):
            await asyncio.sleep(0.2)  # its thread waits for it by now
            os.kill(os.getpid(), signal.SIGINT)
            try:
                await asyncio.sleep(60)
            finally:
                ended.set()

    async def notebook():
        helper = agent()
        begun = helper._begun
        helper._begun = lambda: Endless(begun(), None)
        with pytest.raises(KeyboardInterrupt):
            helper.run("hello")
        assert ended.is_set()
        helper._hermes = helper._hermes._hermes
        assert str(helper.run("hello"))
        helper.close()

    asyncio.new_event_loop().run_until_complete(notebook())  # as a notebook has it: SIGINT raises


async def test_errors_have_their_class(tmp_path):
    nobody = {"providers.custom.base_url": "http://127.0.0.1:9/v1", "model.default": "m", "agent.model_tries": 1}
    async with Hermes(home=tmp_path / "home", provider="custom", config=nobody) as hermes:
        with pytest.raises(Unavailable) as raised:
            await hermes.run("hello")
    assert raised.value.hint


async def test_runs_are_anybodys(tmp_path):
    anna = Principal(person="anna")
    async with Hermes(home=tmp_path / "home", provider="offline") as hermes:
        answer = await hermes.run("hello", session="of-anna", owner=anna)
        assert answer.reason == "done"
        assert await hermes.interrupted(owner=anna) == []
        assert [event async for event in hermes.resume("of-anna", owner=anna)] == []


class Shop:
    """What tools of a program need."""

    def __init__(self, stock: int) -> None:
        self.stock = stock


def test_a_tool_gets_what_the_program_has_for_it(tmp_path):
    def buy(shop: Context[Shop], count: int = 1) -> str:
        """Buy something."""
        shop.deps.stock -= count
        return f"{shop.owner.person} has {shop.deps.stock} left in {shop.session}"

    shop = Shop(5)
    with Agent(provider="offline", home=tmp_path / "home", deps=shop, session="s") as agent:
        tool = agent.register_tool(buy)
        assert list(tool.schema["properties"]) == ["count"]
        agent.run('use the tool buy with {"count": 2}')
        assert shop.stock == 3
        assert agent.state.tool_history[0].output == "owner has 3 left in s"
    with pytest.raises(UserError, match="buy: it wants deps of Shop, and has NoneType"):
        Agent(provider="offline", home=tmp_path / "home").register_tool(buy)


class Sells(Protocol):
    def sell(self) -> int: ...


class Prices(TypedDict):
    tea: int


@pytest.mark.parametrize(
    ("kind", "deps"),
    [(Shop | None, None), (Shop | int, 3), (Sells, Shop(1)), (Prices, {"tea": 1}), (Any, None)],
)
def test_what_a_tool_wants_may_be_said_in_every_way(kind, deps):
    def buy(shop, count: int = 1) -> str:
        """Buy something."""
        return ""

    buy.__annotations__["shop"] = Context[kind]
    assert list(Agent(deps=deps).register_tool(buy).schema["properties"]) == ["count"]


def test_a_union_that_does_not_fit_is_said_by_its_parts():
    def buy(shop: Context[Shop | int]) -> str:
        """Buy something."""
        return ""

    with pytest.raises(UserError, match="deps of Shop or int, and has str"):
        Agent(deps="tea").register_tool(buy)
