"""Plugins choose which tools a model is told of; what was sent is never taken back."""

import pytest
from attrs import evolve, frozen

from hermes_core.agent.offering import hidden
from hermes_core.hooks import hookimpl
from hermes_core.kinds import tool
from hermes_core.testing import Call
from hermes_core.testing.bench import Bench
from hermes_core.types import Returned, Session, Text


@frozen
class Words:
    text: str


def say(name: str, **options):
    @tool(name=name, toolset="talk", **options)
    async def one(words: Words) -> str:
        """Say it."""
        return f"{name} {words.text}"

    return one


def kit(bench, scripted, *steps, tools=("a", "b", "c"), offer=None):
    provider = scripted(*steps)
    bench.tmp_plugin(provider)
    bench.tmp_plugin(*map(say, tools), name="talk")
    if offer:
        bench.tmp_plugin(offer, name="chooser")
    bench.configure({"policy.mode": "off"})
    bench._options["strict"] = False  # faults are recorded, as for a person
    return provider


def choosing(choose):
    """A hook that offers what ``choose`` makes of an offer."""

    @hookimpl
    async def offer_tools(session, offer):
        return choose(offer)

    return offer_tools


def only(*names):
    return lambda offer: evolve(
        offer,
        tools=[s for s in (*offer.tools, *offer.behind) if s.name in names],
        why=dict.fromkeys("abc", "too loud"),
    )


def told(provider, index=-1):
    return [spec.name for spec in provider.requests[index].tools]


async def turn(bench):
    events = [e async for e in bench.turn("go", session="s")]
    return ["".join(p.text for p in e.result.parts if isinstance(p, Text)) for e in events if isinstance(e, Returned)]


async def test_a_model_is_told_of_what_was_chosen_and_reaches_the_rest_through_tool_call(hermes, scripted) -> None:
    through = Call("tool_call", {"name": "c", "arguments": {"text": "hi"}})
    provider = kit(hermes, scripted, through, "done", offer=choosing(only("a", "tool_call")))
    assert await turn(hermes) == ["c hi"]
    assert told(provider) == ["a", "tool_call"]
    kept = await hidden(hermes.runtime, Session(id="", origin="cli"))
    assert kept == {"b": "too loud", "c": "too loud"}


async def test_what_cannot_be_used_says_what_it_needs(hermes, scripted) -> None:
    kit(hermes, scripted, "done")
    hermes.tmp_plugin(say("deep", needs=lambda session: f"no rope in {session.origin}"), name="rope")
    await turn(hermes)
    assert await hidden(hermes.runtime, Session(id="", origin="cli")) == {"deep": "no rope in cli"}


async def test_words_may_be_changed(hermes, scripted) -> None:
    louder = choosing(lambda o: evolve(o, tools=[evolve(s, description="LOUD") for s in o.tools]))
    provider = kit(hermes, scripted, "done", offer=louder)
    await turn(hermes)
    assert [s.description for s in provider.requests[0].tools] == ["LOUD"] * 3


@pytest.mark.parametrize(
    "choose",
    [
        lambda o: evolve(o, tools=[*o.tools, evolve(o.tools[0], name="made_up")]),
        lambda o: evolve(o, tools=[*o.tools, o.tools[0]]),
        lambda o: evolve(o, tools=[evolve(s, schema={"type": "object"}) for s in o.tools]),
        lambda o: o.tools,
        lambda o: 1 / 0,
    ],
    ids=["unknown", "twice", "another schema", "no offer", "raises"],
)
async def test_an_offer_that_cannot_be_is_dropped_and_recorded(hermes, scripted, choose) -> None:
    provider = kit(hermes, scripted, "done", offer=choosing(choose))
    await turn(hermes)
    assert told(provider) == ["a", "b", "c"]
    assert [(f.plugin, f.where) for f in hermes.runtime.dispatch.faults] == [("tool/chooser", "offer_tools")]


@pytest.mark.parametrize(
    "choose",
    [only("a"), lambda o: evolve(o, tools=o.tools[::-1]), lambda o: evolve(o, tools=[*o.behind, *o.tools])],
    ids=["taken back", "in another order", "something before it"],
)
async def test_what_was_sent_is_not_moved_in_another_process(hermes, scripted, tmp_path, choose) -> None:
    first = kit(hermes, scripted, "one")
    await turn(hermes)
    await hermes.close()
    again = Bench(tmp_path / "home")
    second = kit(again, scripted, "two", offer=choosing(choose))
    await turn(again)
    faults = [(f.where, "changed which tools" in f.error) for f in again.runtime.dispatch.faults]
    await again.close()
    assert second.requests[0].tools == first.requests[0].tools
    assert faults == [("offer_tools", True)]


async def test_what_is_installed_later_joins_behind_what_was_sent(hermes, scripted, tmp_path) -> None:
    first = kit(hermes, scripted, "one", tools=("b", "c"))
    await turn(hermes)
    await hermes.close()
    again = Bench(tmp_path / "home")
    second = kit(again, scripted, "two", tools=("a", "b", "c"))
    await turn(again)
    await again.close()
    assert told(first) == ["b", "c"]
    assert told(second) == ["b", "c", "a"]


async def test_a_tool_comes_with_the_turn_after_what_it_needs(hermes, scripted) -> None:
    there: list[str] = []
    provider = scripted("one", "two", "three")
    hermes.tmp_plugin(provider)
    hermes.tmp_plugin(say("deep", needs=lambda _: None if there else "no rope"), name="rope")
    hermes.tmp_plugin(say("flat"), name="ground")
    for turn in range(3):
        if turn == 1:
            there.append("rope")
        await hermes.run("go", session="s")
    told = [[spec.name for spec in request.tools] for request in provider.requests]
    assert told == [["flat"], ["flat", "deep"], ["flat", "deep"]]
    assert provider.requests[1].tools[0] == provider.requests[0].tools[0]
