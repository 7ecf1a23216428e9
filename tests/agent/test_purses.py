"""A purse limits what turns use: it is asked before each request, and nothing is spent without its word."""

from math import inf, nan

import pytest
from attrs import frozen

from hermes_core.errors import BudgetReached, ConfigError
from hermes_core.kinds import Purse, tool
from hermes_core.testing import Call, Say
from hermes_core.types import Failed, Limits


@frozen
class Words:
    text: str = ""


@tool(touches=lambda _words: ())
async def step(words: Words) -> str:
    """Step."""
    return words.text


class Coins(Purse):
    """Lets through as many requests as it has coins, and writes down what it was asked."""

    name = "coins"

    def __init__(self, coins: float = inf, *, closing: bool = False, broken: str = "") -> None:
        self.coins, self.closing, self.broken, self.asked = coins, closing, broken, list[str]()

    async def check(self, session, spent, unbooked, *, last):
        self._saw(f"check {spent.usage.calls}")
        if self.coins <= spent.usage.calls and not last:
            raise BudgetReached("No coin is left.", hint="Earn one.", closing=self.closing)
        return inf

    async def left(self, session):
        self._saw("left")
        return {"purse.calls": self.coins}

    def _saw(self, what: str) -> None:
        self.asked.append(what)
        if self.broken and what.startswith(self.broken):
            raise RuntimeError("a hole in it")


async def play(hermes, **options):
    events = [event async for event in hermes.runtime.turns.run("go", session="s", **options)]
    return events[-1], next((e for e in events if isinstance(e, Failed)), None)


async def test_it_is_asked_before_each_request(hermes, scripted) -> None:
    purse = Coins()
    hermes.tmp_plugin(scripted(Call("step"), Say("done")))
    hermes.tmp_plugin(step)
    hermes.tmp_plugin(purse)
    ended, failed = await play(hermes)
    assert (ended.answer, failed) == ("done", None)
    assert purse.asked == ["check 0", "check 1"]


@pytest.mark.parametrize(("closing", "answer", "kind"), [(True, "that far", ""), (False, "", "budget_reached")])
async def test_what_it_has_not_is_not_spent(hermes, scripted, closing, answer, kind) -> None:
    hermes.tmp_plugin(provider := scripted(Call("step"), *([Say("that far")] if closing else [])))
    hermes.tmp_plugin(step)
    hermes.tmp_plugin(Coins(1, closing=closing))
    ended, failed = await play(hermes)
    assert (ended.answer, failed.kind if failed else "") == (answer, kind)
    assert failed is None or (failed.text, failed.hint) == ("No coin is left.", "Earn one.")
    assert len(provider.requests) == (2 if closing else 1)


async def test_one_that_fails_ends_the_turn_and_is_named(hermes, scripted) -> None:
    hermes.tmp_plugin(provider := scripted())
    label = hermes.tmp_plugin(Coins(broken="check"), name="holey")
    ended, failed = await play(hermes)
    assert (ended.reason, provider.requests) == ("failed", [])
    assert "could not say what may be spent" in failed.text
    assert failed.hint == f"hermes plugins disable {label}"
    assert [fault.plugin for fault in hermes.runtime.dispatch.faults] == [label]


@pytest.mark.parametrize("said", [nan, -1.0, None, "much"])
async def test_seconds_that_are_none_end_the_turn_and_are_named(hermes, scripted, said) -> None:
    class Odd(Coins):
        async def check(self, session, spent, unbooked, *, last):
            return said

    hermes.tmp_plugin(provider := scripted())
    label = hermes.tmp_plugin(Odd())
    ended, failed = await play(hermes)
    assert (ended.reason, provider.requests) == ("failed", [])
    assert failed.hint == f"hermes plugins disable {label}"


@pytest.mark.parametrize("said", [None, RuntimeError("a hole in it")])
async def test_one_that_cannot_say_its_limits_is_named(hermes, scripted, said) -> None:
    class Odd(Coins):
        def limits(self, usual):
            if said:
                raise said

    hermes.tmp_plugin(provider := scripted())
    label = hermes.tmp_plugin(Odd())
    ended, failed = await play(hermes)
    assert (ended.reason, provider.requests) == ("failed", [])
    assert failed.hint == f"hermes plugins disable {label}"
    assert [fault.plugin for fault in hermes.runtime.dispatch.faults] == [label]


async def test_nothing_is_spent_where_one_should_be_and_is_not(hermes, scripted) -> None:
    hermes.tmp_plugin(provider := scripted())
    label = hermes.tmp_plugin(name="forgetful", manifest={"contributes": {"purses": ["coins"]}})
    ended, failed = await play(hermes)
    assert (ended.reason, provider.requests) == ("failed", [])
    assert "is to limit what is spent, and cannot" in failed.text
    assert f"hermes plugins disable {label}" in failed.hint


async def test_the_smallest_of_what_purses_leave_is_left(hermes, scripted) -> None:
    class Small(Coins):
        name = "small"

        def limits(self, usual: Limits) -> Limits:
            return Limits(calls=2)

    hermes.tmp_plugin(Coins(7), name="one")
    hermes.tmp_plugin(Small(5), name="two")
    hermes.tmp_plugin(provider := scripted(Call("step"), Call("step"), Say("that far")))
    hermes.tmp_plugin(step)
    assert (await play(hermes))[0].answer == "that far"
    assert not provider.requests[-1].tools


async def test_without_one_a_turn_has_the_calls_of_its_setting(hermes, scripted) -> None:
    hermes.configure({"agent.max_calls": 2})
    hermes.tmp_plugin(provider := scripted(Call("step"), Call("step"), Say("that far")))
    hermes.tmp_plugin(step)
    ended, _ = await play(hermes)
    assert (ended.answer, len(provider.requests)) == ("that far", 3)


async def test_limits_of_a_plugin_that_is_not_there_are_refused_and_not_forgotten(hermes) -> None:
    hermes.configure({"budget.day.money": 5})
    with pytest.raises(ConfigError, match="budget: no such setting"):
        await play(hermes)
