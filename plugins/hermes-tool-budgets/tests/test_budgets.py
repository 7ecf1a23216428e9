"""Limits hold: what is spent is at most the limit, as far as the next reply can be foreseen."""

import asyncio
import os
import time
from types import SimpleNamespace

import pytest
from attrs import evolve, frozen

from hermes_core.kinds import Provider, tool
from hermes_core.testing import Call
from hermes_core.types import CallDelta, Done, Ended, Failed, Model, Spent, TextDelta, Usage, UsageDelta


@frozen
class Words:
    text: str = ""


class Endless(Provider):
    """Calls a tool as long as it is offered one; each call costs 10 tokens and 1 dollar."""

    name = "endless"

    def __init__(self, *, hang: bool = False) -> None:
        self.asked, self.hang = 0, hang

    async def models(self):
        return [Model(name="endless-1")]

    async def ready(self) -> bool:
        return True

    async def stream(self, request):
        self.asked += 1
        if self.hang:
            await asyncio.Event().wait()
        await asyncio.sleep(0)
        if request.tools:
            yield CallDelta(index=0, id=f"c{self.asked}", name="step", arguments=f'{{"text": "{self.asked}"}}')
        else:
            yield TextDelta(text="that far")
        yield UsageDelta(usage=Usage(input=8, output=2, cost=1.0, calls=1))
        yield Done(reason="tools" if request.tools else "stop")


def kit(hermes, limits, kind=Endless, **options) -> Endless:
    @tool(touches=lambda _words: ())
    async def step(words: Words) -> str:
        """Step."""
        return words.text

    provider = kind(**options)
    hermes.tmp_plugin("hermes_tool_budgets")
    hermes.tmp_plugin(provider)
    hermes.tmp_plugin(step)
    hermes.configure({f"budget.{key}": value for key, value in limits.items()})
    return provider


async def play(hermes, session="s"):
    events = [event async for event in hermes.turn("go", session=session)]
    return events[-1], next((e for e in events if isinstance(e, Failed)), None)


@pytest.mark.parametrize("scope", ["turn", "session"])
async def test_used_up_calls_end_in_one_last_word(hermes, scope) -> None:
    provider = kit(hermes, {f"{scope}.calls": 3})
    ended, failed = await play(hermes)
    assert (ended.answer, ended.reason, failed) == ("that far", "done", None)
    assert provider.asked == 4
    if scope == "session":
        ended, failed = await play(hermes)
        assert (ended.reason, failed.kind, provider.asked) == ("failed", "budget_reached", 4)


@pytest.mark.parametrize("scope", ["turn", "session", "day"])
@pytest.mark.parametrize(("what", "limit"), [("tokens", 25), ("money", 2.5)])
async def test_it_stops_before_the_limit_is_passed(hermes, scope, what, limit) -> None:
    provider = kit(hermes, {f"{scope}.{what}": limit})
    ended, failed = await play(hermes)
    assert (ended.reason, failed.kind) == ("failed", "budget_reached")
    assert f"budget.{scope}.{what}" in failed.text
    assert f"hermes config set budget.{scope}.{what}" in failed.hint
    assert f"the next reply takes about {'10 tokens' if what == 'tokens' else '$1.0000'}" in failed.text
    assert provider.asked == 2
    roles = [m.role for m in await (await hermes.runtime.store()).history.load("s")]
    assert roles == ["user", "assistant", "tool", "assistant", "tool"]


@pytest.mark.parametrize("scope", ["session", "day"])
async def test_a_new_process_knows_about_what_a_reply_takes(hermes, tmp_path, scope) -> None:
    from hermes_core.testing.bench import Bench

    for number in range(4):
        again = Bench(tmp_path / "home")
        provider = kit(again, {f"{scope}.tokens": 25, "turn.calls": 1})
        async with again:
            failed = (await play(again))[1]
            assert provider.asked == (2, 0, 0, 0)[number], "a call and the last word"
            assert (failed.kind if failed else "") == ("budget_reached" if number else "")


async def test_the_day_counts_all_sessions(hermes) -> None:
    provider = kit(hermes, {"day.tokens": 50, "turn.calls": 2})
    await play(hermes, "one")  # three calls: two, and the last word
    ended, failed = await play(hermes, "two")
    assert (ended.reason, failed.kind, provider.asked) == ("failed", "budget_reached", 5)
    ended, failed = await play(hermes, "three")
    assert (failed.kind, provider.asked) == ("budget_reached", 5)


async def test_many_at_once_do_not_all_spend_the_same_rest(hermes) -> None:
    provider = kit(hermes, {"day.tokens": 500})
    await asyncio.gather(*(play(hermes, f"s{number}") for number in range(20)))
    assert 50 <= provider.asked <= 51


async def test_a_turn_that_is_stopped_holds_up_nobody(hermes) -> None:
    provider = kit(hermes, {"day.tokens": 500}, hang=True)
    stopped = asyncio.create_task(play(hermes, "stopped"))
    while not provider.asked:
        await asyncio.sleep(0)
    waiting = asyncio.create_task(play(hermes, "waiting"))  # a first call's size is anybody's guess
    for _ in range(50):
        await asyncio.sleep(0)
    assert provider.asked == 1
    provider.hang = False
    assert hermes.interrupt("stopped")
    assert (await stopped)[0].reason == "interrupted"
    assert (await waiting)[1].kind == "budget_reached"
    assert provider.asked == 51


async def test_a_call_that_takes_too_long_is_ended(hermes) -> None:
    kit(hermes, {"turn.seconds": 0.05}, hang=True)
    ended, failed = await play(hermes)
    assert (ended.reason, failed.kind) == ("failed", "budget_reached")
    assert "seconds (budget.turn.seconds)" in failed.text


async def test_a_tool_has_no_more_time_than_its_turn(hermes, scripted) -> None:
    @tool
    async def hang() -> str:
        """Hang."""
        await asyncio.Event().wait()
        return ""

    hermes.tmp_plugin("hermes_tool_budgets")
    hermes.configure({"budget.turn.seconds": 0.05})
    hermes.tmp_plugin(scripted(Call("hang")))
    hermes.tmp_plugin(hang)
    ended, failed = await play(hermes)
    assert (ended.reason, failed.kind) == ("failed", "budget_reached")


async def test_calls_that_led_to_nothing_are_booked_too(hermes, scripted) -> None:
    from hermes_core.types import Done as End

    empty = [UsageDelta(usage=Usage(input=10, calls=1)), End(reason="stop")]
    hermes.tmp_plugin(scripted(empty, empty, empty, empty))
    ended, failed = await play(hermes)
    assert isinstance(ended, Ended)
    assert "nothing" in failed.text
    store = await hermes.runtime.store()
    spent = await store.spending.spent(owner=hermes.runtime.owner, session_id="s")
    assert (spent.usage.calls, spent.usage.input) == (4, 40)


async def test_what_is_left_can_be_asked(hermes) -> None:
    hermes.tmp_plugin("hermes_tool_commands")
    kit(hermes, {"session.calls": 9, "day.tokens": 1000, "turn.calls": 2})
    await play(hermes)
    session = (await hermes.runtime.sessions.take("s", "embed", hermes.runtime.owner)).session
    said = str(await hermes.slash("/usage", session))
    assert "Left of budget.session.calls: 6" in said
    assert "Left of budget.day.tokens: 970" in said


async def test_the_older_spelling_still_bounds_a_turn(hermes) -> None:
    hermes.configure({"agent.max_calls": 2})
    provider = kit(hermes, {})
    assert (await play(hermes))[0].answer == "that far"
    assert provider.asked == 3


async def test_two_processes_do_not_both_spend_the_same_rest(hermes, tmp_path) -> None:
    from hermes_core.testing.bench import Bench

    again = Bench(tmp_path / "home")
    providers = [kit(one, {"day.tokens": 200}) for one in (hermes, again)]
    async with again:
        await asyncio.gather(*(play(one, f"s{number}-{id(one)}") for number in range(5) for one in (hermes, again)))
    assert 20 <= sum(one.asked for one in providers) <= 21
    store = await hermes.runtime.store()
    spent = await store.spending.spent(owner=hermes.runtime.owner)
    assert spent.usage.input + spent.usage.output <= 210


async def test_what_a_process_had_under_way_counts_for_nothing_once_it_is_dead(hermes, tmp_path) -> None:
    from hermes_atomic.whole import held
    from hermes_tool_budgets.process import Process
    from hermes_tool_budgets.under_way import over, under_way

    name = "0" * 16
    kit(hermes, {})
    documents, owner = hermes.context("hermes_tool_budgets").documents, hermes.runtime.owner
    me, other = Process(tmp_path), Process(tmp_path)
    other.name = lambda _lasts: name
    with held(tmp_path / f"{name}.lock", seconds=-1):
        assert await (await under_way(documents, owner, other)).begin("theirs", {"tokens": 25.0})
        assert await (await under_way(documents, owner, me)).begin("mine", {})
        await over(documents, owner, "mine")
        kept = await under_way(documents, owner, me)
        assert kept.flights["theirs"]["tokens"] == 25
    assert (await under_way(documents, owner, me)).flights == {}
    assert not me.is_dead(me.name(0))
    os.utime(tmp_path / f"{name}.lock", (0, 0))
    third = Process(tmp_path)
    assert {path.stem for path in tmp_path.glob("*.lock")} - {name} == {me.name(60)}
    assert third.name(60) != me.name(60)
    assert {path.stem for path in tmp_path.glob("*.lock")} == {me.name(60), third.name(60)}
    for strange in ("", "../x", "f" * 16):
        assert not me.is_dead(strange)


async def test_what_a_dead_process_of_another_machine_had_under_way_is_believed_for_a_while(
    hermes, monkeypatch, tmp_path
) -> None:
    from hermes_tool_budgets import under_way
    from hermes_tool_budgets.process import Process

    provider = kit(hermes, {"day.tokens": 25})
    later = time.time() + 1_801
    documents = hermes.context("hermes_tool_budgets").documents
    kept = await under_way.under_way(documents, hermes.runtime.owner, Process(tmp_path / "elsewhere"))
    assert await kept.begin("dead", {"tokens": 25.0})
    assert not await kept.begin("slower", {"tokens": 10.0})
    waiting = asyncio.create_task(play(hermes))
    for _ in range(50):
        await asyncio.sleep(0)
    assert provider.asked == 0
    monkeypatch.setattr(under_way, "time", SimpleNamespace(time=lambda: later))
    assert (await waiting)[1].kind == "budget_reached"
    assert provider.asked == 2


async def test_a_turn_that_goes_on_after_a_kill_does_not_wait_for_itself(hermes) -> None:
    from hermes_tool_budgets.config import Config, LimitSettings
    from hermes_tool_budgets.process import Process
    from hermes_tool_budgets.purse import Budget

    kit(hermes, {"day.tokens": 25})
    session = evolve((await hermes.runtime.sessions.take("s", "embed", hermes.runtime.owner)).session, turn="t")
    ctx = hermes.context("hermes_tool_budgets")
    for name in ("first", "next"):  # as on two machines: that the first died is not seen
        process = Process(ctx.paths.data / name)
        budget = Budget(Config(day=LimitSettings(tokens=25)), ctx.sessions, ctx.documents, process)
        async with asyncio.timeout(10):
            await budget.check(session, Spent(usage=Usage(), seconds=0), Usage(), last=False)


async def test_the_next_reply_is_thought_as_dear_as_the_dearest_so_far(hermes) -> None:
    class Uneven(Endless):
        async def stream(self, request):
            async for delta in super().stream(request):
                dear = isinstance(delta, UsageDelta) and self.asked == 1
                yield UsageDelta(usage=Usage(input=60, output=0, cost=6.0, calls=1)) if dear else delta

    provider = kit(hermes, {"session.money": 12.5}, Uneven)
    _, failed = await play(hermes)
    assert "used $7.0000 of $12.5 (budget.session.money), and the next reply takes about $6.0000" in failed.text
    assert provider.asked == 2
