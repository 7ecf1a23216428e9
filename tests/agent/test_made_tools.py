"""A tool may make tools: they can be called at once, under their own names, and nothing that was sent changes."""

from attrs import frozen

from hermes_core.kinds import tool
from hermes_core.testing import Call
from hermes_core.testing.bench import Bench
from hermes_core.types import Effect, Principal, Returned, Text


@frozen
class Words:
    text: str


class Shop:
    """Makes a tool of each name in ``names``; ``broken`` fails to say so."""

    def __init__(self, *names: str) -> None:
        self.names, self.broken, self.ran = list(names), False, []

    def tools(self):
        @tool(toolset="shop", makes=self.made)
        async def make(words: Words) -> str:
            """Make a tool of that name."""
            self.names.append(words.text)
            return "made"

        @tool(toolset="shop")
        async def own_taken(words: Words) -> str:
            """A tool that is installed."""
            return f"installed {words.text}"

        return [make, own_taken]

    def made(self, session):
        if self.broken:
            raise RuntimeError("no list")
        return [self._one(name) for name in self.names if session.owner == Principal()]

    def _one(self, name):
        @tool(name=name, toolset="shop", effects={Effect.SEND})
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


def through(name, **arguments):
    return Call("tool_call", {"name": name, "arguments": arguments or {"text": "hi"}})


def names(request):
    return [spec.name for spec in request.tools]


async def turn(hermes, session="s", **more):
    await hermes.__aenter__()
    events = [event async for event in hermes.runtime.turn("go", session=session, **more)]
    return ["".join(p.text for p in e.result.parts if isinstance(p, Text)) for e in events if isinstance(e, Returned)]


async def test_a_made_tool_can_be_called_at_once_and_changes_nothing_that_was_sent(hermes, scripted):
    provider = kit(hermes, scripted, Shop(), Call("make", {"text": "own_x"}), through("own_x"), "done")
    assert await turn(hermes) == ["made", "own_x hi"]
    assert [names(r) for r in provider.requests] == [["make", "own_taken", "tool_call"]] * 3
    for before, after in zip(provider.requests, provider.requests[1:], strict=False):
        assert list(after.messages[: len(before.messages)]) == list(before.messages)
        assert after.tools == before.tools
    history = await (await hermes.runtime.store()).tool_history(hermes.runtime.owner, name="own_x")
    assert [e.outcome for e in history] == ["ok"]


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


async def test_a_session_that_begins_later_has_it_and_one_that_began_before_stays_as_it_was(hermes, scripted, tmp_path):
    shop = Shop()
    kit(hermes, scripted, shop, Call("make", {"text": "own_x"}), "done")
    await turn(hermes)
    await hermes.close()
    again = Bench(tmp_path / "home")
    provider = kit(again, scripted, shop, through("own_x"), "old", Call("own_x", {"text": "new"}), "done")
    assert await turn(again) == ["own_x hi"]
    assert await turn(again, "later") == ["own_x new"]
    await again.close()
    assert names(provider.requests[0]) == ["make", "own_taken", "tool_call"]
    assert names(provider.requests[2]) == ["make", "own_taken", "own_x", "tool_call"]


async def test_a_session_that_began_with_it_keeps_its_bytes_when_there_are_more(hermes, scripted, tmp_path):
    shop = Shop("own_b")
    first = kit(hermes, scripted, shop, "done")
    await turn(hermes)
    await hermes.close()
    shop.names.append("own_a")
    again = Bench(tmp_path / "home")
    second = kit(again, scripted, shop, "done")
    await turn(again)
    await again.close()
    assert second.requests[0].tools == first.requests[0].tools
    assert "own_b" in names(first.requests[0])


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
    assert [f.where for f in hermes.runtime.dispatch.faults][:1] == ["make"]


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
