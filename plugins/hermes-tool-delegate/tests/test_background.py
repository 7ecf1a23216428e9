"""Children in the background: the call returns, one turn tells of all of them, once, also over a death."""

import asyncio
from pathlib import Path

import pytest
from attrs import evolve

import hermes_tool_delegate
from hermes_core.errors import ToolError
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import Call, FakeToolContext, FakeWorkspace
from hermes_core.testing.fake_context import plugin_context
from hermes_core.types import Ended, Noticed, Offer, Returned, Session, Speaker, Text, TurnBounds
from hermes_tool_delegate.config import Config

TASKS = {"tasks": [{"goal": "count apples"}, {"goal": "count pears"}], "background": True}


def text_of(request):
    """The words of users in a request."""
    return [part.text for one in request.messages if one.role == "user" for part in one.parts if isinstance(part, Text)]


def answer(request):
    """What the parent and its children say: of several at work nobody knows who asks first."""
    said = text_of(request)
    if said[-1].startswith("count"):
        return f"{said[-1]}: seven"
    if said[-1].startswith("<children>"):
        return "I see"
    return "handed out" if any(one.role == "tool" for one in request.messages) else Call("delegate", TASKS)


async def played(hermes):
    """The turn that tells, once it waits."""
    async with asyncio.timeout(30):
        while "s" not in await hermes.interrupted():
            await asyncio.sleep(0.05)
    return [event async for event in hermes.runtime.turns.follow("s")]


async def test_the_call_returns_and_one_turn_tells_of_all(hermes, scripted):
    provider = scripted(*[answer] * 5)
    hermes.tmp_plugin(provider)
    hermes.tmp_plugin("hermes_tool_delegate")
    events = [event async for event in hermes.turn("go", session="s")]
    (result,) = [one.result for one in events if isinstance(one, Returned)]
    assert "2 children work in the background" in result.parts[0].text
    told = await played(hermes)
    assert isinstance(told[-1], Ended)
    assert told[-1].answer == "I see"
    assert [one.text for one in told if isinstance(one, Noticed)] == ["2 child agents have ended: 2 done."]
    said = text_of(provider.requests[-1])[-1]
    assert '"answer": "count apples: seven"' in said
    assert '"answer": "count pears: seven"' in said
    rows = await (await hermes.runtime.store()).history.load("s")
    assert [one.untrusted for one in rows if "<children>" in str(one.parts)] == [True]
    await asyncio.sleep(1)
    assert await hermes.interrupted() == []


# --- without a kernel -----------------------------------------------------------------------------------------------


@pytest.fixture
def ctx(tmp_path):
    manifest = read_manifest(Path(hermes_tool_delegate.__file__).with_name("hermes-plugin.toml"))
    return plugin_context(manifest, tmp_path / "home", config=Config(background=2))


@pytest.fixture
async def call(ctx, tmp_path):
    await ctx.turns.take_up("test")
    (tool,) = hermes_tool_delegate.register_tools(ctx)
    context = FakeToolContext(FakeWorkspace(folder=tmp_path), tools=Offer(tools=(), toolsets={"terminal": "terminal"}))

    async def hand(number=1, **given):
        context.call_id = f"call-{number}"
        return await tool.run(context, tool.params(**{"goal": "x", "background": True, **given}))

    hand.context = context
    return hand


async def told(ctx, number=1):
    async with asyncio.timeout(10):
        while len(found := [one for one in ctx.turns.ordered if one.session == "test"]) < number:
            await asyncio.sleep(0.01)
    return found


async def test_a_child_may_no_more_than_its_parent(ctx, call):
    anna = Speaker(person="anna", role="member")
    bounds = TurnBounds(tools=("terminal",), deny=("terminal(x)",), hosts=("a.example",), calls=3, grants=("terminal",))
    call.context.session = evolve(call.context.session, speaker=anna, bounds=bounds)
    await call()
    child = ctx.turns.ordered[0].order
    assert child.hidden
    assert child.speaker == anna
    mine = child.bounds
    assert (mine.tools, mine.deny, mine.hosts, mine.calls) == (("terminal/terminal",), bounds.deny, bounds.hosts, 3)
    assert (mine.mode, tuple(mine.grants)) == ("ask", ())
    assert {"send", "remember", "schedule"} <= {one.value for one in mine.never}
    (order,) = await told(ctx)
    assert order.order.speaker == anna


async def test_a_child_leaves_nothing_behind_and_calls_have_an_end(ctx, call):
    await call(1)
    await call(2)
    with pytest.raises(ToolError, match="2 calls within an hour"):
        await call(3)
    call.context.session = Session(id="c", origin="child", parent="test")
    with pytest.raises(ToolError, match="waits for its own"):
        await call(1)


async def test_a_call_that_is_run_again_hands_out_once(ctx, call):
    await call(1)
    await call(1)
    await told(ctx)
    await asyncio.sleep(0.2)
    assert len(ctx.turns.ordered) == 2, "the child, and what tells of it"


class Died(BaseException):
    """A kill: nothing that catches errors catches it."""


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", range(1, 5))
async def test_a_death_at_any_step_tells_it_once(ctx, call, monkeypatch, step, after):
    left = [step]

    def dying(does):
        async def one(*given, **more):
            left[0] -= 1
            if left[0] == 0 and not after:
                raise Died
            result = await does(*given, **more)
            if left[0] == 0:
                raise Died
            return result

        return one

    with monkeypatch.context() as patched:
        for broker, name in ((ctx.documents, "put"), (ctx.turns, "queue")):
            patched.setattr(broker, name, dying(getattr(broker, name)))
        begun = asyncio.ensure_future(call(1))
        await asyncio.wait([begun])
        tasks = list(ctx.state["beside"]._at_work.values())
        if tasks:
            await asyncio.wait(tasks)
        cut = isinstance(begun.exception(), Died)
        [task.exception() for task in tasks]
    again = evolve(ctx, state={})
    await hermes_tool_delegate.on_session_start(again, call.context.session)
    if cut:  # its turn is taken up, and the call run again
        await asyncio.sleep(0.05)
        (tool,) = hermes_tool_delegate.register_tools(again)
        await tool.run(call.context, tool.params(goal="x", background=True))
    (order,) = await told(again)
    assert '"status": "done"' in order.text
    await asyncio.sleep(0.2)
    await hermes_tool_delegate.on_session_start(evolve(ctx, state={}), call.context.session)
    await asyncio.sleep(0.2)
    assert len(await told(again)) == 1
