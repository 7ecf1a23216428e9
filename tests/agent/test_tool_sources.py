"""Tools that come and go: called at once, offered from the next turn on, and nothing that was sent moves."""

import time
from itertools import pairwise

import pytest
from attrs import frozen

from hermes_core.agent.control import Plugins
from hermes_core.agent.turn_origin import TurnOrigin
from hermes_core.kinds import Tool, ToolSource, tool
from hermes_core.testing import Call
from hermes_core.testing.bench import Bench
from hermes_core.types import Effect, Message, Principal, Returned, Text, TurnBounds


@frozen
class Words:
    text: str


class Shop:
    """Has a tool of each name in ``names``; ``broken`` fails to say so."""

    def __init__(self, *names: str) -> None:
        self.names, self.broken, self.ran, self.lacking = list(names), False, [], {}
        self.asked = 0

    def tools(self):
        @tool(toolset="shop")
        async def make(words: Words) -> str:
            """Make a tool of that name; take it away with - before it."""
            self.names.append(words.text)
            if words.text.startswith("-"):
                self.names = [name for name in self.names if name not in (words.text, words.text[1:])]
            return "made"

        @tool(toolset="shop")
        async def own_taken(words: Words) -> str:
            """A tool that is installed."""
            return f"installed {words.text}"

        return [make, own_taken, ToolSource(name="own", toolset="shop", tools=self.made)]

    def made(self, session):
        self.asked += 1
        if self.broken:
            raise RuntimeError("no list")
        return [self._one(name) for name in self.names if session.owner == Principal()]

    def _one(self, name):
        @tool(name=name, toolset="shop", effects={Effect.SEND}, needs=lambda _: self.lacking.get(name))
        async def one(words: Words) -> str:
            """Say it again."""
            self.ran.append(name)
            return f"{name} {words.text}"

        return one


def kit(bench, scripted, shop, *steps, **settings):
    provider = scripted(*steps)
    bench.tmp_plugin(provider)
    bench.tmp_plugin(*shop.tools(), name="shop")
    bench.configure({"policy.mode": "off", **settings})
    return provider


def elsewhere(bench, source):
    bench.tmp_plugin(source, name="other")
    bench._options["strict"] = False  # faults are recorded, as for a person


def hidden_tool():
    @tool(toolset="shop", needs=lambda _: "there is no rope")
    async def deep(words: Words) -> str:
        """Go down."""
        return words.text

    return deep


def through(name, **arguments):
    return Call("tool_call", {"name": name, "arguments": arguments or {"text": "hi"}})


def names(request):
    return [spec.name for spec in request.tools]


async def turn(hermes, session="s", **more):
    await hermes.__aenter__()
    events = [event async for event in hermes.runtime.turns.run("go", session=session, **more)]
    return ["".join(p.text for p in e.result.parts if isinstance(p, Text)) for e in events if isinstance(e, Returned)]


async def test_a_made_tool_can_be_called_at_once_and_changes_nothing_that_was_sent(hermes, scripted):
    provider = kit(hermes, scripted, Shop(), Call("make", {"text": "own_x"}), through("own_x"), "done")
    assert await turn(hermes) == ["made", "own_x hi"]
    assert [names(r) for r in provider.requests] == [["make", "own_taken", "tool_call"]] * 3
    for before, after in zip(provider.requests, provider.requests[1:], strict=False):
        assert list(after.messages[: len(before.messages)]) == list(before.messages)
        assert after.tools == before.tools
    history = await (await hermes.runtime.store()).history.tool_calls(hermes.runtime.owner, tool="own_x")
    assert [e.outcome for e in history] == ["ok"]


async def test_a_source_is_asked_for_a_call_of_what_is_no_installed_tool_once_a_reply(hermes, scripted):
    shop, asked = Shop("own_x"), []

    def ask(number):
        def step(request):
            asked.append(shop.asked)
            return number

        return step

    calls = [Call("own_taken", {"text": "a"}), [through("own_x"), through("own_y"), Call("own_x", {"text": "b"})]]
    kit(hermes, scripted, shop, *map(ask, calls), ask("done"))
    assert (await turn(hermes))[0] == "installed a"
    begun, installed, coming = asked
    assert (installed - begun, coming - installed) == (0, 1)


async def test_rules_see_its_own_name_and_effects(hermes, scripted):
    shop = Shop("own_x", "own_y")
    kit(
        hermes, scripted, shop, [through("own_x"), through("own_y")], "done",
        **{"policy.deny": ["own_x"], "policy.mode": "ask"},
    )  # fmt: skip
    denied, asked = await turn(hermes)
    assert "policy.deny" in denied
    assert "sends something in your name" in asked
    assert shop.ran == []


async def test_it_is_offered_from_the_next_turn_on_behind_what_was_sent(hermes, scripted, tmp_path):
    """In the order they came, whichever process has the session then."""
    shop = Shop()
    first = kit(
        hermes, scripted, shop, Call("make", {"text": "own_b"}), "one", Call("own_b", {"text": "hi"}), "two", "three"
    )
    await turn(hermes)
    assert await turn(hermes) == ["own_b hi"]
    shop.names.append("own_a")
    await turn(hermes)
    await hermes.close()
    shop.names.append("own_0")
    again = Bench(tmp_path / "home")
    second = kit(again, scripted, shop, "four", "five")
    await turn(again)
    await turn(again, "later")
    await again.close()
    begun, requests = ["make", "own_taken", "tool_call"], [*first.requests, *second.requests]
    assert [names(r) for r in requests[:4]] == [begun, begun, [*begun, "own_b"], [*begun, "own_b"]]
    assert [names(r) for r in requests[4:6]] == [[*begun, "own_b", "own_a"], [*begun, "own_b", "own_a", "own_0"]]
    assert names(requests[6]) == ["make", "own_taken", "own_0", "own_a", "own_b", "tool_call"]
    for before, after in pairwise(requests[:6]):
        assert list(after.tools[: len(before.tools)]) == list(before.tools)


async def test_what_has_gone_says_so_and_is_offered_no_more(hermes, scripted):
    shop = Shop("own_a", "own_b")
    provider = kit(
        hermes,
        scripted,
        shop,
        Call("make", {"text": "-own_a"}),
        Call("own_a", {"text": "hi"}),
        "one",
        Call("own_a", {"text": "hi"}),
        "two",
    )
    assert await turn(hermes) == ["made", "own_a is not there any more.\nDo without it."]
    (said,) = await turn(hermes)
    assert "no tool named 'own_a'" in said
    begun = ["make", "own_taken", "own_a", "own_b", "tool_call"]
    left = ["make", "own_taken", "own_b", "tool_call"]
    assert [names(r) for r in provider.requests] == [begun, begun, begun, left, left]


async def test_a_turn_that_is_taken_up_goes_on_with_what_it_began_with(hermes, scripted, monkeypatch):
    shop = Shop()
    provider = kit(hermes, scripted, shop, "one", "two", "three")
    await turn(hermes)
    shop.names.append("own_a")
    await turn(hermes)
    shop.names.append("own_b")
    store = await hermes.runtime.store()
    said = Message(role="user", parts=(Text(text="go"),))
    await store.journal.open_turn("s", said, turn_id="t", holder="dead", provider="scripted", model="m")
    monkeypatch.setattr("hermes_atomic.processes.is_running", lambda pid: False)
    assert [event async for event in hermes.resume("s")]
    assert names(provider.requests[2]) == names(provider.requests[1]) == ["make", "own_taken", "tool_call", "own_a"]


async def test_a_turn_is_told_of_no_new_tool_that_its_bounds_do_not_permit(hermes, scripted):
    shop = Shop()
    provider = kit(hermes, scripted, shop, "one", "two")
    await turn(hermes)
    shop.names += ["own_a", "own_b"]
    await turn(hermes, turn_origin=TurnOrigin(bounds=TurnBounds(without=("own_a",))))
    assert names(provider.requests[1]) == ["make", "own_taken", "tool_call", "own_b"]


@pytest.mark.parametrize("schema", [True, "text", {"x": {1}}, {"const": float("nan")}])
async def test_a_schema_that_is_none_costs_its_own_tool_only(hermes, scripted, schema):
    """Also of a tool that is installed: no request can hold it."""

    async def run(_context, _given):
        return "ran"

    def bad(name):
        return Tool(name=name, description="Odd.", schema=schema, run=run)

    shop = Shop("own_x_a")
    provider = kit(hermes, scripted, shop, "one")
    elsewhere(hermes, bad("odd"))
    made = lambda session: [bad("own_x_odd"), 3, *shop.made(session)]  # noqa: E731
    hermes.tmp_plugin(ToolSource(name="own_x", toolset="more", tools=made), name="third")
    await turn(hermes)
    assert "own_x_a" in names(provider.requests[0])
    assert not {"odd", "own_x_odd"} & {*names(provider.requests[0])}
    assert len([f for f in hermes.runtime.dispatch.faults if "cannot be offered" in f.error]) == 3


async def test_a_source_that_exits_costs_its_own_tools_only(hermes, scripted):
    def leaves(session):
        raise SystemExit(3)

    provider = kit(hermes, scripted, Shop("own_a"), "one")
    elsewhere(hermes, ToolSource(name="gone", toolset="more", tools=leaves))
    await turn(hermes)
    assert "own_a" in names(provider.requests[0])
    assert [f.error for f in hermes.runtime.dispatch.faults] == ["called sys.exit(3)"]


def hangs(_session):
    time.sleep(60)


def never_stops(_session):
    while True:
        yield 3


@pytest.mark.parametrize(("source", "said"), [(hangs, "did not end within 0.2 s"), (never_stops, "has no end")])
async def test_a_source_that_never_stops_is_named_and_holds_no_turn(hermes, scripted, monkeypatch, source, said):
    monkeypatch.setattr("hermes_core.agent.toolbox._SECONDS", 0.2)
    provider = kit(hermes, scripted, Shop("own_a"), Call("own_a", {"text": "hi"}), "one", "two")
    elsewhere(hermes, ToolSource(name="more", toolset="more", tools=source))
    monkeypatch.setattr(hermes.runtime.loader, "is_own", lambda _: False)  # ours is not watched
    began = time.monotonic()
    assert await turn(hermes) == ["own_a hi"]
    await turn(hermes)
    assert time.monotonic() - began < 5
    assert "own_a" in names(provider.requests[0])
    (fault,) = hermes.runtime.dispatch.faults
    assert (fault.plugin, fault.where) == ("tool/other", "more")
    assert said in fault.error


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("own_x_there", "tool/there and tool/other both add 'own_x_there'; tool/there is used"),
        ("own_x_both", "tool/other and tool/shop both add 'own_x_both'; tool/other is used"),
        ("own_x_a b", "'own_x_a b' is no name for its tool: own_x_, then letters, digits, - and _, 64 in all"),
        ("own_y", "'own_y' is no name for its tool: own_x_, then letters, digits, - and _, 64 in all"),
        ("own_x_" + "x" * 59, "is no name for its tool"),
    ],
)
async def test_a_name_that_cannot_be_is_told_once_with_who_lost_it(hermes, scripted, name, said):
    shop = Shop("own_x_both", "own_late")
    provider = kit(hermes, scripted, shop, "one", Call("own_late", {"text": "hi"}), "two")
    hermes.tmp_plugin(Shop()._one("own_x_there"), name="there")
    elsewhere(hermes, ToolSource(name="own_x", toolset="more", tools=Shop(name).made))
    await turn(hermes)
    shop.names.append("own_later")
    assert await turn(hermes) == ["own_late hi"]
    assert len([f for f in hermes.runtime.dispatch.faults if said in f.error]) == 1
    assert names(provider.requests[0]).count(name) == (name in ("own_x_there", "own_x_both"))


async def test_toolsets_choose_among_them_too(hermes, scripted):
    provider = kit(hermes, scripted, Shop("own_a"), "one", toolsets=["more"])
    elsewhere(hermes, ToolSource(name="more", toolset="more", tools=Shop("more_b").made))
    await turn(hermes)
    assert names(provider.requests[0]) == ["more_b"]


async def test_a_listing_shows_them_with_why_one_is_hidden(hermes, scripted):
    shop = Shop("own_a", "own_b")
    shop.lacking["own_b"] = "a person switched it off"
    kit(hermes, scripted, shop, "one", **{"agent.disabled_tools": ["own_taken"]})
    await turn(hermes)
    rows = {row.name: (row.off, row.hidden) for row in await Plugins(hermes.runtime).tools()}
    shown = {"make": (False, ""), "own_taken": (True, ""), "own_a": (False, "")}
    assert rows == {**shown, "own_b": (False, "a person switched it off")}


async def test_a_call_of_what_is_hidden_says_why(hermes, scripted):
    shop = Shop("own_a")
    provider = kit(hermes, scripted, shop, Call("own_a", {"text": "hi"}), through("deep"), "one")
    hermes.tmp_plugin(hidden_tool(), name="rope")
    shop.lacking["own_a"] = "a person switched it off"
    assert await turn(hermes) == [
        "own_a cannot be used now: a person switched it off.",
        "deep cannot be used now: there is no rope.",
    ]
    assert "deep" not in names(provider.requests[0])
    assert shop.ran == []


async def test_nobody_else_gets_it(hermes, scripted):
    provider = kit(hermes, scripted, Shop("own_x"), through("own_x"), "done")
    (said,) = await turn(hermes, owner=Principal(person="hana"))
    assert "no tool named 'own_x'" in said
    assert "own_x" not in names(provider.requests[0])


async def test_it_never_takes_the_place_of_an_installed_or_disabled_one(hermes, scripted):
    shop = Shop("own_taken", "own_off", "own_x")
    provider = kit(
        hermes, scripted, shop, Call("own_taken", {"text": "a"}), "done", **{"agent.disabled_tools": ["own_off"]}
    )
    assert await turn(hermes) == ["installed a"]
    assert names(provider.requests[0]) == ["make", "own_taken", "own_x", "tool_call"]


async def test_one_that_fails_to_say_what_it_made_is_told_of_and_costs_nothing_else(hermes, scripted):
    shop = Shop("own_x")
    shop.broken = True
    kit(hermes, scripted, shop, Call("own_taken", {"text": "a"}), "done")
    hermes._strict = False
    assert await turn(hermes) == ["installed a"]
    assert [f.where for f in hermes.runtime.dispatch.faults] == ["own"]


async def test_it_is_found_by_search_where_tools_are_searched_for(hermes, scripted):
    hermes.tmp_plugin("hermes_tool_search")
    provider = kit(
        hermes, scripted, Shop("own_x"), Call("tool_search", {"query": "own_x"}), through("own_x"), "done",
        **{"agent.tool_search": "on", "agent.core_toolsets": []},
    )  # fmt: skip
    found, said = await turn(hermes)
    assert "own_x: Say it again." in found.splitlines()
    assert said == "own_x hi"
    assert names(provider.requests[0]) == ["tool_search", "tool_describe", "tool_call"]
