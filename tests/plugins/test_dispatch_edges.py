"""The edges of dispatch: what is just in time, just too long or the third, and what is let go."""

import asyncio
import gc
import io
import os
import signal
import weakref
from contextvars import ContextVar

import pytest
from hooked import CALL, SESSION, adding, dispatch, gate, observer, plugin, prompter, tools, transformed, words

from hermes_core.errors import ContextTooLong, PluginError
from hermes_core.plugins import fence
from hermes_core.plugins.fence import Entered, call_in_time, one_line
from hermes_core.types import Prompt, Session

HERE = Entered("tool/a", "on_turn_end", print)


@pytest.fixture
def clock(monkeypatch):
    """The time that dispatch reads, which hooks move: ``pass_time(0.25)``."""
    now = [0.0]
    monkeypatch.setattr("hermes_core.plugins.dispatch.time.perf_counter", lambda: now[0])
    return now


def passing(clock, made, seconds):
    made[1].pass_time = lambda: clock.__setitem__(0, clock[0] + seconds)
    return made


async def decided(made):
    return await made.decide("pre_tool_call", session=SESSION, call=CALL, effects=frozenset())


async def prompted(made):
    return words(await made.transform("transform_prompt", "prompt", Prompt(blocks=()), session=SESSION))


def told(made):
    return [(fault.plugin, fault.error) for fault in made.faults]


# --- time


@pytest.mark.parametrize(("seconds", "outcome"), [(0.25, "allow"), (0.375, "deny")])
async def test_a_gate_that_holds_the_event_loop_beyond_its_deadline_denies(clock, seconds, outcome):
    body = "pass_time(); return Verdict(outcome='allow')"
    made = dispatch(passing(clock, gate("tool/a", body), seconds), deadlines={"decide": 0.25})
    clock[0] = 100.0
    assert (await decided(made)).outcome == outcome


@pytest.mark.parametrize(("seconds", "blocked"), [(0.25, {}), (0.375, {"tool/a": (1, 0.375)})])
def test_a_registration_is_noted_that_takes_longer_than_its_deadline(clock, seconds, blocked):
    code = "@hookimpl\ndef register_tools():\n    pass_time()\n    return []\n"
    made = dispatch(passing(clock, plugin("tool/a", code), seconds), deadlines={"contribute": 0.25})
    clock[0] = 100.0
    made.contributions("register_tools")
    assert made.blocked == blocked


async def test_the_trace_tells_how_long_each_hook_took(clock):
    out = io.StringIO()
    made = dispatch(
        passing(clock, gate("tool/a", "pass_time()"), 0.25),
        passing(clock, plugin("tool/b", "@hookimpl\ndef register_tools():\n    pass_time()\n    return []\n"), 0.5),
        trace=out,
    )
    clock[0] = 100.0
    await decided(made)
    made.contributions("register_tools")
    assert out.getvalue() == "hook pre_tool_call tool/a 250.0 ms ok\nhook register_tools tool/b 500.0 ms ok\n"


STEPS = "for _ in range(50):\n        await asyncio.sleep(0)\n    "


@pytest.mark.parametrize(("kernel", "found"), [(["llm.call"], ["x"]), ([], [])])
async def test_a_transform_that_may_call_models_has_the_time_of_one(kernel, found):
    code = f"@hookimpl\nasync def transform_prompt(prompt):\n    {STEPS}{adding('x')}\n"
    made = dispatch(plugin("tool/a", code, uses=["transform_prompt"], kernel=kernel), deadlines={"transform": 0.0})
    assert await prompted(made) == found
    assert told(made) == ([] if found else [("tool/a", "no answer within 0 s")])


@pytest.mark.parametrize(("wait", "late"), [(0.1, False), (60, True)])
async def test_a_deadline_that_ran_out_while_another_held_the_loop_is_longer_by_that(wait, late):
    slow = f"@hookimpl\nasync def on_turn_end():\n    await asyncio.sleep(0.1)\n    await asyncio.sleep({wait})\n"
    holds = "@hookimpl\nasync def transform_prompt():\n    import time; time.sleep(0.4)\n"
    made = dispatch(
        plugin("tool/a", slow, uses=["on_turn_end"]),
        plugin("tool/b", holds, uses=["transform_prompt"]),
        deadlines={"observe": 0.3, "transform": 5.0},
    )
    await made.observe("on_turn_end", session=SESSION, end=None)
    await asyncio.sleep(0.05)
    await prompted(made)
    await made.settle()
    assert told(made) == ([("tool/a", "no answer within 0.3 s")] if late else [])


async def test_a_gate_that_may_call_models_has_not_the_time_of_one():
    code = f"@hookimpl\nasync def pre_tool_call(call):\n    {STEPS}return Verdict(outcome='allow')\n"
    made = dispatch(plugin("tool/a", code, uses=["pre_tool_call"], kernel=["llm.call"]), deadlines={"decide": 0.0})
    assert (await decided(made)).outcome == "deny"
    assert told(made) == [("tool/a", "no answer within 0 s")]


# --- failing


async def test_the_third_failure_within_ten_minutes_to_the_second_suspends():
    for last, suspended in ((600.0, True), (600.5, False)):
        now = [0.0]
        bad = observer("tool/a", "seen.append(1); raise ValueError('again')")
        made = dispatch(bad, clock=lambda now=now: now[0])
        for at in (0.0, 300.0, last, last + 1000.0):
            now[0] = at
            await made.observe("on_session_start", session=SESSION)
            await made.settle()
        assert len(bad[1].seen) == (3 if suspended else 4)


async def test_a_suspended_transform_leaves_the_value_to_the_others():
    made = dispatch(prompter("tool/a", "seen.append(1); raise ValueError('again')"), prompter("tool/b", adding("b")))
    for _ in range(5):
        assert await prompted(made) == ["b"]
    assert made.counts == {("tool/a", "transform_prompt", "ValueError"): 3}


async def test_hooks_that_fail_side_by_side_are_suspended_once():
    held = prompter("tool/a", "seen.append(1); await inside.wait(); raise ValueError('again')")
    made = dispatch(held)
    tasks = [asyncio.create_task(prompted(made)) for _ in range(5)]
    while len(held[1].seen) < 5:
        await asyncio.sleep(0)
    held[1].inside.set()
    await asyncio.gather(*tasks)
    assert [error.partition(":")[0] for _, error in told(made)] == ["ValueError", "suspended until the next start"]


async def test_a_gate_is_never_suspended():
    made = dispatch(gate("tool/a", "raise ValueError('again')"))
    assert [(await decided(made)).outcome for _ in range(6)] == ["deny"] * 6
    assert told(made) == [("tool/a", "ValueError: again")]


@pytest.mark.parametrize(
    ("error", "kernel", "raised"),
    [
        ("ContextTooLong('full')", ["history.rewrite"], True),
        ("ContextTooLong('full')", [], False),
        ("ValueError('full')", ["history.rewrite"], False),
    ],
)
async def test_only_who_rewrites_histories_may_say_that_nothing_is_left_to_compact(error, kernel, raised):
    code = "from hermes_core.errors import ContextTooLong\n"
    code += f"@hookimpl\nasync def transform_prompt(prompt):\n    raise {error}\n"
    made = dispatch(plugin("tool/a", code, uses=["transform_prompt"], kernel=kernel))
    if raised:
        with pytest.raises(ContextTooLong):
            await prompted(made)
    else:
        assert await prompted(made) == []
    assert len(made.faults) == (not raised)


@pytest.mark.parametrize(
    ("body", "hint"),
    [
        ("return None", "Write: def register_tools(ctx: PluginContext) -> Iterable[Tool]"),
        ("raise ValueError('no')", "hermes plugins disable tool/a"),
    ],
)
def test_who_contributes_badly_is_shown_how_to_write_it_and_who_fails_how_to_go_on(body, hint):
    made = dispatch(plugin("tool/a", f"@hookimpl\ndef register_tools():\n    {body}\n"))
    made.contributions("register_tools")
    assert [fault.hint for fault in made.faults] == [hint]


def test_ctrl_c_while_a_plugin_registers_is_not_its_failure():
    made = dispatch(plugin("tool/a", "@hookimpl\ndef register_tools():\n    raise KeyboardInterrupt\n"))
    with pytest.raises(KeyboardInterrupt):
        made.contributions("register_tools")
    assert made.faults == []


def test_ctrl_c_once_more_in_a_hook_ends_the_program():
    async def interrupted():
        for _ in range(2):  # the first asks the program to end
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(call_in_time(interrupted, 5.0, HERE, set()))


def test_a_hook_that_raises_what_ctrl_c_raises_has_failed():
    async def interrupted():
        raise KeyboardInterrupt

    given, error = asyncio.run(call_in_time(interrupted, 5.0, HERE, set()))
    assert given is None
    assert isinstance(error, KeyboardInterrupt)


async def test_of_two_gates_that_ask_the_first_is_heard():
    asks = [gate(f"tool/{n}", f"return Verdict(outcome='ask', reason='{n}')") for n in "ab"]
    found = await decided(dispatch(*asks))
    assert (found.outcome, found.reason, found.by) == ("ask", "a", "tool/a")


# --- things that are called for others


async def test_a_contributed_thing_that_fails_is_told_of_once_and_counted():
    async def bad():
        raise ValueError("no")

    async def good():
        return 7

    made = dispatch()
    assert await made.shielded("tool/a", "its check", good) == 7
    assert made.faults == []
    for _ in range(3):
        assert await made.shielded("tool/a", "its check", bad) is None
    [fault] = made.faults
    assert (fault.plugin, fault.where, fault.error) == ("tool/a", "its check", "ValueError: no")
    assert made.counts == {("tool/a", "its check", "ValueError"): 3}


async def test_a_contributed_thing_has_the_time_of_an_observer():
    async def forever():
        await asyncio.Event().wait()

    made = dispatch(deadlines={"observe": 0.0})
    assert await made.shielded("tool/a", "its check", forever) is None
    assert told(made) == [("tool/a", "no answer within 0 s")]


# --- observers


async def test_an_observer_hears_the_next_event_when_it_is_done_with_the_last():
    slow = observer("tool/a", "await inside.wait() if session.id == '1' else None; seen.append(session.id)")
    made = dispatch(slow)
    for n in "12":
        await made.observe("on_session_start", session=Session(id=n, origin="cli"))
    for _ in range(10):
        await asyncio.sleep(0)
    assert slow[1].seen == []
    slow[1].inside.set()
    await made.settle()
    assert slow[1].seen == ["1", "2"]


async def test_who_tells_plugins_more_than_they_can_hear_slows_down():
    """Else what they have not heard yet would grow for as long as that lasts."""
    slow = observer("tool/a", "await asyncio.sleep(0.001); seen.append(session.id)")
    made, most = dispatch(slow), 0
    for n in range(600):
        await made.observe("on_session_start", session=Session(id=str(n), origin="cli"))
        most = max(most, len(asyncio.all_tasks()))
    await made.settle()
    assert slow[1].seen == [str(n) for n in range(600)], "each, and in order"
    assert most < 300


async def test_what_observers_did_is_let_go():
    made = dispatch(observer("tool/a", "seen.append(session.id)"))
    await made.observe("on_session_start", session=SESSION)
    tasks = [weakref.ref(task) for task in asyncio.all_tasks() - {asyncio.current_task()}]
    await made.settle()
    await made.observe("on_session_start", session=SESSION)
    await made.settle()
    gc.collect()
    assert len(tasks) == 1
    assert [task() for task in tasks] == [None]


def test_what_another_event_loop_left_undone_is_not_waited_for():
    hangs = observer("tool/a", "await asyncio.Event().wait()")
    made = dispatch(hangs)
    left = asyncio.new_event_loop()
    left.run_until_complete(made.observe("on_session_start", session=SESSION))
    try:
        asyncio.run(made.settle())
        asyncio.run(asyncio.wait_for(made.observe("on_session_start", session=SESSION), 5))
    finally:
        tasks = asyncio.all_tasks(left)
        for task in tasks:
            task.cancel()
        left.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        left.close()


# --- the fence


@pytest.mark.parametrize(("length", "shown"), [(300, "e" * 300), (301, "e" * 300 + " …")])
def test_an_error_is_told_in_at_most_three_hundred_signs(length, shown):
    assert one_line(PluginError("tool/a", "e" * length)) == shown


async def test_what_waits_for_nothing_is_given_no_deadline(monkeypatch):
    waited = []

    async def quick():
        return asyncio.current_task()

    async def slow():
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return "there"

    loop = asyncio.get_running_loop()
    later = loop.call_later
    monkeypatch.setattr(loop, "call_later", lambda *args, **more: waited.append(args[0]) or later(*args, **more))
    task, error = await call_in_time(quick, 5.0, HERE, set())
    assert (error, waited) == (None, [])
    assert task is not asyncio.current_task(), "it runs in a task of its own all the same"
    assert await call_in_time(slow, 5.0, HERE, set()) == ("there", None)
    assert waited == [5.0]


async def test_a_task_is_the_same_before_and_after_code_waits_for_the_first_time():
    seen, order = [], []

    async def code():
        order.append("code")
        seen.append(asyncio.current_task())
        entered.set("inside")
        try:
            async with asyncio.timeout(0.01):  # of the task that it is taken up in
                await asyncio.Event().wait()
        except TimeoutError:
            seen.append(asyncio.current_task())
            return entered.get()

    entered = ContextVar("entered", default="outside")
    here = asyncio.current_task()
    asyncio.get_running_loop().call_soon(order.append, "the next round")
    assert await call_in_time(code, 5.0, HERE, set()) == ("inside", None)
    assert order == ["code", "the next round"], "it begins at once"
    assert seen[0] is seen[1] is not here
    assert asyncio.current_task() is here
    assert (entered.get(), here.cancelling()) == ("outside", 0)


async def test_code_that_cancels_its_own_task_before_it_waits_ends_nobody_else():
    async def code():
        asyncio.current_task().cancel()

    answer, error = await call_in_time(code, 5.0, HERE, set())
    assert answer is None
    assert isinstance(error, asyncio.CancelledError)
    await asyncio.sleep(0)
    assert asyncio.current_task().cancelling() == 0


async def test_what_is_late_is_kept_until_it_ends():
    stop, left = asyncio.Event(), set()

    async def stubborn():
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await stop.wait()

    _, error = await call_in_time(stubborn, 0.0, HERE, left)
    assert error.text == "no answer within 0 s"
    [task] = left
    stop.set()
    await asyncio.wait({task})
    await asyncio.sleep(0)
    assert left == set()


async def test_what_fails_while_it_is_cancelled_is_not_told_by_the_event_loop():
    complaints, left = [], set()
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: complaints.append(context["message"]))

    async def sulks():
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise ValueError("sulks") from None

    await call_in_time(sulks, 0.0, HERE, left)
    await asyncio.wait(left)
    await asyncio.sleep(0)
    gc.collect()
    assert complaints == []


def test_a_coroutine_is_closed_with_the_step_that_drives_it():
    closed = []

    async def waits():
        try:
            await asyncio.Event().wait()
        finally:
            closed.append(1)

    async def driven():
        coroutine = waits()
        steps = fence._stepped(coroutine, print)
        steps.send(None)
        steps.close()
        return coroutine

    coroutine = asyncio.run(driven())
    assert closed == [1]
    del coroutine  # until here somebody else might still have closed it


async def test_a_step_is_held_against_a_plugin_when_it_is_longer_than_a_fifth_of_a_second(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("hermes_core.plugins.fence.perf_counter", lambda: now[0])
    for seconds, blocked in ((0.125, {}), (0.25, {"tool/a": (1, 0.25)})):
        holds = prompter("tool/a", "hold()")
        holds[1].hold = lambda seconds=seconds: now.__setitem__(0, now[0] + seconds)
        _, made = await transformed(holds)
        assert made.blocked == blocked


async def test_nothing_is_strict_that_is_not_told_to_be():
    made = dispatch(gate("tool/a", "raise ValueError('x')"), tools("tool/b", "two"))
    assert (await decided(made)).outcome == "deny"
