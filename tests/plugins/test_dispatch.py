"""Five modes of calling, and what happens when an implementation misbehaves."""

import asyncio
import io

import pytest
from hooked import (
    CALL,
    ENVELOPE,
    LEAVING,
    QUESTION,
    SESSION,
    STUBBORN,
    adding,
    asker,
    dispatch,
    gate,
    observer,
    plugin,
    prompter,
    tools,
    transformed,
    words,
)

from hermes_core.errors import ContractError, NotPermitted
from hermes_core.plugins.dispatch import Dispatch
from hermes_core.types import Prompt, PromptBlock, Session, ToolCall, Verdict

NOW = (
    "from hermes_core import hookimpl\nfrom hermes_core.kinds import tool\n@tool\nasync def now() -> str:\n    'Now.'\n"
)

# --- registering


@pytest.mark.parametrize(
    ("code", "uses", "said"),
    [
        ("@hookimpl\nasync def admit(envelop): ...", ["admit"], "admit: there is no argument 'envelop'"),
        ("@hookimpl\ndef admit(envelope): ...", ["admit"], "must be an 'async def'"),
        ("@hookimpl\nasync def register_tools(ctx): ...", [], "must be a plain 'def'"),
        ("@hookimpl\nasync def admit(*, envelope, **more): ...", ["admit"], "'more' must be a plain named one"),
        ("@hookimpl(wrapper=True)\ndef admit(envelope):\n    yield", ["admit"], "wrappers are not used"),
        ("@hookimpl(hookwrapper=True)\ndef admit(envelope):\n    yield", ["admit"], "wrappers are not used"),
        ("@hookimpl(tryfirst=True)\nasync def admit(envelope): ...", ["admit"], "tryfirst and trylast do not work"),
        ("@hookimpl\nasync def pre_tool_cal(call): ...", [], "did you mean 'pre_tool_call'"),
        ("@hookimpl(specname='admitt')\nasync def gate(envelope): ...", [], "did you mean 'admit'"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_signature_expected(code, uses, said):
    good = "@hookimpl\nasync def on_fault(fault): ...\n"
    made = Dispatch()
    installed, module = plugin("tool/bad", good + code, uses=[*uses, "on_fault"])
    with pytest.raises(ContractError) as caught:
        made.register(installed, module, None)
    assert said in caught.value.cause
    assert caught.value.hint
    assert made.implementations("on_fault") == []
    if "admit" in uses:
        assert caught.value.hint == "Write: async def admit(ctx: PluginContext, envelope: Envelope) -> Verdict | None"


def test_an_undeclared_hook_is_not_permitted():
    made = Dispatch()
    installed, module = plugin("tool/sly", "@hookimpl\nasync def admit(envelope): ...")
    with pytest.raises(NotPermitted, match="'admit' without declaring it"):
        made.register(installed, module, None)
    assert made.implementations("admit") == []


def test_a_hook_of_a_module_is_a_function_or_a_method_and_nothing_that_is_wrapped_around_one():
    code = """
from functools import cache

@hookimpl
async def on_fault(fault): ...

class Held:
    @hookimpl
    async def admit(self, envelope): ...

admit = Held().admit

@cache
@hookimpl
def on_turn_start(message): ...
"""
    made = Dispatch()
    installed, module = plugin("tool/held", code, uses=["on_fault", "admit", "on_turn_start"])
    made.register(installed, module, None)
    assert made.implementations("on_fault") == made.implementations("admit") == ["tool/held"]
    assert made.implementations("on_turn_start") == []


def test_a_module_is_registered_once():
    made = Dispatch()
    installed, module = plugin("tool/a", "")
    made.register(installed, module, None)
    with pytest.raises(ContractError):
        made.register(installed, module, None)
    made.register(*plugin("tool/b", ""), None)


async def test_an_implementation_names_only_what_it_wants_even_with_a_default():
    code = "@hookimpl\nasync def pre_tool_call(*, call=None):\n    return Verdict(outcome='deny', reason=call.name)"
    made = dispatch(plugin("tool/a", code, uses=["pre_tool_call"]))
    assert (await made.decide("pre_tool_call", session=SESSION, call=CALL, effects=frozenset())).reason == "now"


async def test_a_hook_at_run_time_gets_its_own_plugins_context():
    made = Dispatch(strict=True)
    for label in ("tool/a", "tool/b"):
        code = "@hookimpl\nasync def transform_prompt(ctx, prompt):\n"
        code += "    return Prompt(blocks=(*prompt.blocks, PromptBlock(name='x', text=ctx)))\n"
        made.register(*plugin(label, code, uses=["transform_prompt"]), f"that of {label}")
    found = await made.transform("transform_prompt", "prompt", Prompt(blocks=()), session=SESSION)
    assert [b.text for b in found.blocks] == ["that of tool/a", "that of tool/b"]


async def test_the_call_site_cannot_choose_another_mode():
    with pytest.raises(KeyError):
        await Dispatch().observe("admit", envelope=ENVELOPE)


async def test_no_implementation_is_an_answer_in_every_mode():
    made = Dispatch()
    prompt = Prompt(blocks=())
    assert await made.observe("on_session_start", session=SESSION) is None
    assert await made.transform("transform_prompt", "prompt", prompt, session=SESSION) is prompt
    assert (await made.decide("admit", envelope=ENVELOPE)) == Verdict(outcome="allow")
    assert await made.ask("approve", session=SESSION, question=QUESTION) is None
    assert made.contributions("register_tools") == []


# --- order


async def test_plugins_are_called_alphabetically_not_in_the_order_of_loading():
    found, _ = await transformed(*(prompter(f"tool/{n}", adding(n)) for n in "cab"))
    assert found == ["a", "b", "c"]


async def test_the_users_order_comes_first_then_the_authors():
    plugins = [
        prompter("tool/a", adding("a")),
        prompter("tool/b", adding("b"), "(trylast=True)"),
        prompter("tool/c", adding("c"), "(tryfirst=True)"),
        prompter("memory/d", adding("d")),
        prompter("tool/e", adding("e"), "(trylast=True)"),
    ]
    assert (await transformed(*plugins))[0] == ["c", "d", "a", "b", "e"]
    assert (await transformed(*plugins, order=["tool/e", "d"]))[0] == ["e", "d", "c", "a", "b"]


# --- transform


async def test_a_value_is_chained_and_none_keeps_it():
    found, _ = await transformed(
        prompter("tool/a", adding("a")), prompter("tool/b", "return None"), prompter("tool/c", adding("c"))
    )
    assert found == ["a", "c"]


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("raise ValueError('broken\\nsecond line')", "ValueError: broken …"),
        ("raise SystemExit(3)", "called sys.exit(3)"),
        ("assert False", "AssertionError"),
        ("raise asyncio.CancelledError", "CancelledError"),
        ("await asyncio.Event().wait()", "no answer within 0.05 s"),
        ("return 'text'", "transform_prompt returned a str"),
    ],
)
async def test_a_transform_that_fails_leaves_the_value_before(body, error):
    found, made = await transformed(
        prompter("tool/a", adding("a")),
        prompter("tool/b", body),
        prompter("tool/c", adding("c")),
        deadlines={"transform": 0.05},
    )
    assert found == ["a", "c"]
    (fault,) = made.faults
    assert (fault.plugin, fault.phase, fault.where, fault.error) == ("tool/b", "call", "transform_prompt", error)
    assert fault.hint == "hermes plugins disable tool/b"


async def test_code_that_swallows_its_cancellation_does_not_hold_the_turn():
    found, made = await transformed(
        prompter("tool/a", STUBBORN), prompter("tool/b", adding("b")), deadlines={"transform": 0.05}
    )
    assert found == ["b"]
    assert made.faults[0].error == "no answer within 0.05 s"


async def test_a_judge_says_which_change_stands():
    def judge(installed, before, after):
        if installed.label == "tool/b":
            raise NotPermitted(installed.label, "may not")
        return after

    made = dispatch(prompter("tool/a", adding("a")), prompter("tool/b", adding("b")))
    prompt = Prompt(blocks=[PromptBlock(name="n", text="0")])
    found = await made.transform("transform_prompt", "prompt", prompt, judge=judge, session=SESSION)
    assert words(found) == ["0", "a"]
    assert made.faults[0].error == "may not"


async def test_cancelling_the_caller_cancels_the_hook():
    installed, module = prompter("tool/a", LEAVING)
    made = dispatch((installed, module))
    task = asyncio.create_task(made.transform("transform_prompt", "prompt", Prompt(blocks=()), session=SESSION))
    await module.inside.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await module.outside.wait()
    assert made.faults == []


async def test_a_hook_that_blocks_the_loop_is_recorded_under_its_plugin(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("hermes_core.plugins.fence.perf_counter", lambda: now[0])
    holds = prompter("tool/a", "await asyncio.sleep(0); hold()")
    holds[1].hold = lambda: now.__setitem__(0, now[0] + 0.25)
    _, made = await transformed(holds, prompter("tool/b", "return None"))
    assert made.blocked == {"tool/a": (1, 0.25)}


def test_a_registration_that_takes_long_is_noted():
    made = dispatch(tools("tool/a", "one"), deadlines={"contribute": 0.0})
    made.contributions("register_tools")
    assert list(made.blocked) == ["tool/a"]
    assert made.faults == []


# --- decide


@pytest.mark.parametrize(
    ("bodies", "outcome", "by"),
    [
        (["return None", "return Verdict(outcome='allow')"], "allow", "tool/b"),
        (["return Verdict(outcome='allow')", "return Verdict(outcome='ask', by='me')"], "ask", "me"),
        (["return Verdict(outcome='ask')", "return Verdict(outcome='deny')", "raise SystemExit"], "deny", "tool/b"),
        (["return Verdict(outcome='ask')", "return Verdict(outcome='allow')"], "ask", "tool/a"),
    ],
)
async def test_deny_beats_ask_beats_allow(bodies, outcome, by):
    made = dispatch(*(gate(f"tool/{n}", body) for n, body in zip("abc", bodies, strict=False)))
    found = await made.decide("pre_tool_call", session=SESSION, call=CALL, effects=frozenset())
    assert (found.outcome, found.by) == (outcome, by)
    assert made.faults == []


@pytest.mark.parametrize(
    "body",
    [
        "raise ValueError('x')", "raise SystemExit", "assert False", "raise asyncio.CancelledError", "return True",
        "await asyncio.Event().wait()", "return Verdict(outcome='maybe')", "raise BaseException",
        "import time; time.sleep(0.05); return Verdict(outcome='allow')",  # it holds the event loop: nothing can end it
    ],
)  # fmt: skip
async def test_a_gate_that_cannot_decide_denies_and_names_itself_every_time(body):
    made = dispatch(gate("tool/guard", body), deadlines={"decide": 0.02})
    for _ in range(5):
        found = await made.decide("pre_tool_call", session=SESSION, call=CALL, effects=frozenset())
        assert found.outcome == "deny"
        assert found.by == "tool/guard"
        assert found.reason.startswith("tool/guard could not decide: ")
        assert "hermes plugins disable tool/guard" in found.reason
    assert len(made.faults) == 1
    assert list(made.counts.values()) == [5]


# --- ask


async def test_the_first_answer_wins_and_the_others_are_withdrawn():
    slow = asker("platform/a", LEAVING)
    quick = asker("platform/b", "return Verdict(outcome='allow', choice='once')")
    none = asker("platform/c", "return None")
    bad = asker("platform/d", "return 'yes'")
    made = dispatch(slow, quick, none, bad)
    found = await made.ask("approve", session=SESSION, question=QUESTION)
    assert (found.outcome, found.choice, found.by) == ("allow", "once", "platform/b")
    await slow[1].outside.wait()


async def test_when_nobody_answers_there_is_no_verdict():
    made = dispatch(
        asker("platform/a", "await asyncio.Event().wait()"),
        asker("platform/b", "raise ValueError"),
        deadlines={"ask": 0.02},
    )
    assert await made.ask("approve", session=SESSION, question=QUESTION) is None
    assert {f.plugin for f in made.faults} == {"platform/a", "platform/b"}


# --- observe


async def test_an_observer_does_not_hold_the_turn_and_hears_events_in_order():
    waits = observer("tool/a", "await asyncio.sleep(0); seen.append(session.id)")
    hangs = observer("tool/b", "await asyncio.Event().wait()")
    made = dispatch(hangs, waits, deadlines={"observe": 0.05})
    for n in "123":
        await made.observe("on_session_start", session=Session(id=n, origin="cli"))
    assert waits[1].seen == []
    await made.settle()
    assert waits[1].seen == ["1", "2", "3"]
    assert made.faults[0].plugin == "tool/b"


async def test_three_failures_in_ten_minutes_suspend_the_hook_of_that_plugin():
    now = [0.0]
    bad = observer("tool/a", "seen.append(1); raise ValueError('again')")
    good = observer("tool/b", "seen.append(1)")
    made = dispatch(bad, good, clock=lambda: now[0])
    for at in (0, 500, 1000, 1400, 1500, 1600):
        now[0] = at
        await made.observe("on_session_start", session=SESSION)
        await made.settle()
    assert len(bad[1].seen) == 5  # 1000, 1400, 1500 are the first three within ten minutes
    assert len(good[1].seen) == 6
    assert "suspended" in made.faults[-1].error


async def test_on_fault_is_told_and_its_own_failure_is_not_told_again():
    code = "@hookimpl\nasync def on_fault(fault):\n    seen.append(fault)\n    raise ValueError('in on_fault')\n"
    listener = plugin("tool/z", code, uses=["on_fault"])
    made = dispatch(listener, gate("tool/a", "raise ValueError('x')"))
    await made.decide("pre_tool_call", session=SESSION, call=CALL, effects=frozenset())
    await made.settle()
    assert [fault.plugin for fault in listener[1].seen] == ["tool/a"]
    assert [fault.plugin for fault in made.faults] == ["tool/a", "tool/z"]


# --- contribute


def test_contributions_keep_their_owner_and_each_plugin_is_asked_once():
    first, second = tools("tool/a", "one"), tools("tool/b", "two")
    made = dispatch(second)
    assert [(owner, t.name) for owner, t in made.contributions("register_tools")] == [("tool/b", "two")]
    made.register(*first, None)
    for _ in range(2):
        found = made.contributions("register_tools")
        assert [(owner, t.name) for owner, t in found] == [("tool/a", "one"), ("tool/b", "two")]
        found.clear()  # it is the caller's own
    assert second[1].seen == [1]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise ValueError('no')", "ValueError: no"),
        ("raise SystemExit(1)", "called sys.exit(1)"),
        ("return None", "register_tools returned nothing"),
        ("return ['text']", "returned a str, not a Tool"),
        ("return [t]", "adds 'other' without declaring it"),
        ("return [ok, ok]", "needs a name of its own"),
        ("yield ok\n    raise ValueError('late')", "ValueError: late"),
    ],
)
def test_a_plugin_that_contributes_badly_adds_nothing_and_others_work(body, said):
    code = "@tool(name='other')\nasync def t() -> str:\n    'T.'\n@tool\nasync def ok() -> str:\n    'T.'\n"
    bad = plugin("tool/a", f"{code}@hookimpl\ndef register_tools(ctx):\n    {body}\n", contributes={"tools": ["ok"]})
    made = dispatch(bad, tools("tool/b", "two"))
    assert [owner for owner, _ in made.contributions("register_tools")] == ["tool/b"]
    (fault,) = made.faults
    assert (fault.plugin, fault.phase, fault.where) == ("tool/a", "register", "register_tools")
    assert said in fault.error
    assert fault.hint


def test_of_two_owners_of_a_name_the_first_works_whatever_was_loaded_first():
    late, early = tools("tool/a", "same", "mine", distribution="zeta"), tools("tool/b", "same", distribution="alpha")
    for plugins in ([late, early], [early, late]):
        made = dispatch(*plugins)
        found = {t.name: owner for owner, t in made.contributions("register_tools")}
        assert found == {"same": "tool/b", "mine": "tool/a"}
        made.contributions("register_tools")
        (fault,) = made.faults
        assert fault.error == "alpha and zeta both add 'same'; alpha is used"
    made = dispatch(late, early, builtin=["tool/a"])
    assert {t.name: owner for owner, t in made.contributions("register_tools")}["same"] == "tool/a"


def test_only_the_permission_lets_a_tool_replace_another():
    made = dispatch(
        tools("tool/a", "same", distribution="alpha"),
        tools("tool/z", "same", distribution="zeta", kernel=["tools.override"]),
        builtin=["tool/a"],
    )
    assert [owner for owner, _ in made.contributions("register_tools")] == ["tool/z"]
    assert made.faults == []


# --- for authors


async def test_strict_raises_again():
    made = dispatch(gate("tool/a", "raise ValueError('x')"), observer("tool/b", "raise LookupError"), strict=True)
    with pytest.raises(ValueError, match="x"):
        await made.decide("pre_tool_call", session=SESSION, call=CALL, effects=frozenset())
    with pytest.raises(LookupError):
        await made.observe("on_session_start", session=SESSION)


async def test_the_trace_names_owner_and_duration_but_no_arguments():
    out = io.StringIO()
    made = dispatch(gate("tool/a", "raise ValueError('x')"), tools("tool/b", "two"), trace=out)
    await made.decide(
        "pre_tool_call",
        session=SESSION,
        call=ToolCall(id="1", name="now", arguments={"k": "hidden"}),
        effects=frozenset(),
    )
    made.contributions("register_tools")
    lines = out.getvalue().splitlines()
    assert lines[0].startswith("hook pre_tool_call tool/a ")
    assert lines[0].endswith("ms ValueError: x")
    assert lines[1].startswith("hook register_tools tool/b ")
    assert "hidden" not in out.getvalue()


def test_two_event_loops_one_after_another_do_not_disturb_each_other():
    waits = observer("tool/a", "await asyncio.sleep(0); seen.append(session.id)")
    made = dispatch(waits)

    async def one_loop():
        await made.observe("on_session_start", session=SESSION)
        await made.settle()

    asyncio.run(one_loop())
    asyncio.run(one_loop())
    assert waits[1].seen == ["s", "s"]
