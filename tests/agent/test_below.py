"""Turns that work for a call, as the plugin sees them that orders them."""

import asyncio

import pytest
from attrs import frozen

from hermes_core.errors import ProviderError, UserError
from hermes_core.kinds import ToolContext, tool
from hermes_core.testing import Call, Fail, FakeToolContext, FakeWorkspace, Say
from hermes_core.types import Effect, Ended, Failed, Returned, Started, Text, TurnBounds, TurnOrder, Verdict


@frozen
class Words:
    text: str = ""


@tool(toolset="voice", touches=lambda _params: ())
async def shout(params: Words) -> str:
    """Shout."""
    return params.text.upper()


@pytest.fixture
def below(hermes, scripted):
    """A turn whose tool ``go`` does what is given, with the turns of its plugin; what that came to, and the events."""

    async def run(do, *steps, **options):
        hermes.tmp_plugin(provider := scripted(Call("go"), *steps))
        hermes.tmp_plugin(shout)
        found = []

        @tool(effects={Effect.DELEGATE}, touches=lambda _params: ())
        async def go(context: ToolContext) -> str:
            """Go."""
            found.append(await do(hermes.runtime.plugin_context(hermes.runtime.index.get(label)).turns, context))
            return "gone"

        label = hermes.tmp_plugin(go, name="orders", manifest={"permissions": {"kernel": ["turns.run"]}})
        events = [event async for event in hermes.runtime.turns.run("begin", session="s", **options)]
        assert isinstance(events[-1], Ended)
        below.provider = provider
        return found[0] if found else None, events

    below = run
    return run


async def played(turn):
    return [event async for event in turn]


def results(events):
    return ["".join(p.text for p in e.result.parts if isinstance(p, Text)) for e in events if isinstance(e, Returned)]


async def sessions(hermes, **known):
    return await (await hermes.runtime.store()).sessions.list(hermes.runtime.owner, **known)


async def test_it_has_a_session_below_that_of_the_call_which_no_list_shows(hermes, below) -> None:
    async def do(turns, context):
        return await played(turns.run("Shout.", order=TurnOrder(system="Be loud."), call=context))

    inner, _ = await below(do, Call("shout", {"text": "x"}), Say("done"), Say("end"))
    assert (results(inner), inner[-1].answer) == (["X"], "done")
    assert [row.session.id for row in await sessions(hermes)] == ["s"]
    [child] = await sessions(hermes, origin="child")
    assert (child.session.id, child.session.parent) == (inner[0].session_id, "s")
    assert "Be loud." in below.provider.requests[1].messages[0].parts[0].text
    assert not hermes.runtime.sessions.holds(child.session.id)


async def test_its_bounds_take_away_from_those_of_the_calls_turn(below) -> None:
    async def do(turns, context):
        bounds = TurnBounds(without=["voice"], never=[Effect.DELEGATE])
        return await played(turns.run("x", order=TurnOrder(bounds=bounds), call=context))

    await below(do, Say("done"), Say("end"))
    outer, inner, _ = below.provider.requests
    assert {"go", "shout"} <= {spec.name for spec in outer.tools}
    assert not {"go", "shout"} & {spec.name for spec in inner.tools}


async def test_no_level_below_is_left_where_none_is_given(below) -> None:
    async def do(turns, context):
        return await played(turns.run("x", order=TurnOrder(bounds=TurnBounds(levels=0)), call=context))

    inner, _ = await below(do, Call("go"), Say("done"), Say("end"))
    assert "go" not in {spec.name for spec in below.provider.requests[1].tools}
    assert "this turn may not use it" in results(inner)[0]


@pytest.mark.parametrize(
    "order",
    [
        TurnOrder(session="a"),
        TurnOrder(fork="s"),
        TurnOrder(folder="/tmp"),
        TurnOrder(deliver="all"),
        TurnOrder(ask="all"),
    ],
)
async def test_it_goes_nowhere_else(hermes, below, order) -> None:
    async def do(turns, context):
        with pytest.raises(UserError, match="a session of its own"):
            await played(turns.run("x", order=order, call=context))

    await below(do, Say("end"))
    assert len(await sessions(hermes, children=True)) == 1


async def test_a_call_of_no_kernel_and_one_that_is_over_have_no_turns(hermes, below, tmp_path) -> None:
    kept = []

    async def do(turns, context):
        kept.extend((turns, context))
        with pytest.raises(UserError, match="runs in this kernel"):
            await played(turns.run("x", call=FakeToolContext(FakeWorkspace(folder=tmp_path))))

    await below(do, Say("end"))
    turns, context = kept
    with pytest.raises(UserError, match="is over"):
        await played(turns.run("x", call=context))
    assert len(await sessions(hermes, children=True)) == 1


async def test_events_tell_the_turns_of_one_call_apart_and_one_that_is_done_is_told_again(hermes, below) -> None:
    async def do(turns, context):
        first = turns.run("x", order=TurnOrder(event="1"), call=context)
        started = await anext(first)
        with pytest.raises(UserError, match="at work already"):
            await played(turns.run("x", order=TurnOrder(event="1"), call=context))
        rest = [started, *await played(first)]
        again = await played(turns.run("x", order=TurnOrder(event="1"), call=context))
        other = await played(turns.run("x", order=TurnOrder(event="2"), call=context))
        return rest, again, other

    (first, again, other), events = await below(do, Say("one"), Say("two"), Say("end"))
    assert [type(event) for event in again] == [Started, Ended]
    assert (again[-1].answer, again[-1].session_id) == (first[-1].answer, first[-1].session_id)
    assert (other[-1].answer, len(await sessions(hermes, origin="child"))) == ("two", 2)
    assert events[-1].usage.calls == 4  # what was told again is not counted again


async def test_a_failure_is_told_again(below) -> None:
    async def do(turns, context):
        return [await played(turns.run("x", call=context)) for _ in "ab"]

    (first, again), _ = await below(do, Fail(ProviderError("It is broken.")), Say("end"))
    assert [event.text for event in again if isinstance(event, Failed)] == ["It is broken."]
    assert first[-1].reason == again[-1].reason == "failed"


async def test_it_asks_the_model_of_the_calls_turn_unless_it_names_another(hermes, below, scripted) -> None:
    hermes.configure({"model.provider": "other"})
    hermes.tmp_plugin(scripted(Say("from the other"), name="other"))

    async def do(turns, context):
        same = await played(turns.run("x", order=TurnOrder(event="1"), call=context))
        order = TurnOrder(event="2", model="other:scripted-1", effort="low")
        another = await played(turns.run("x", order=order, call=context))
        return same[-1].answer, another[-1].answer

    found, _ = await below(do, Say("from the same"), Say("end"), model="scripted:scripted-1")
    assert found == ("from the same", "from the other")


async def test_a_person_of_its_own_may_be_asked(hermes, below) -> None:
    @tool(toolset="post", effects=[Effect.SEND])
    async def post(params: Words) -> str:
        """Post it."""
        return f"posted {params.text}"

    hermes.tmp_plugin(post, name="post")

    async def mine(question):
        return Verdict(outcome="allow", choice="once", by="me")

    async def do(turns, context):
        unasked = await played(turns.run("x", order=TurnOrder(event="1"), call=context))
        asked = await played(turns.run("x", order=TurnOrder(event="2"), call=context, ask=mine))
        return results(unasked), results(asked)

    say = Call("post", {"text": "x"})
    (unasked, asked), _ = await below(do, say, Say("."), say, Say("."), Say("end"))
    assert "Nobody is here to ask" in unasked[0]
    assert asked == ["posted x"]


async def test_what_is_left_alone_ends_with_the_call(hermes, below) -> None:
    @tool(touches=lambda _params: ())
    async def wait(params: Words) -> str:
        """Wait."""
        await asyncio.Event().wait()
        return ""

    hermes.tmp_plugin(wait, name="waiting")
    left = []

    async def do(turns, context):
        started = asyncio.Event()

        async def watch():
            async for event in turns.run("x", call=context):
                left.append(event)
                started.set()

        task = asyncio.create_task(watch())
        await started.wait()
        return task

    task, _ = await below(do, Call("wait"), Say("end"))
    await task
    assert (left[-1].reason, hermes.runtime.turns.playing) == ("interrupted", 0)
