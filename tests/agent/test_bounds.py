"""A child is never given more than its parent has, whatever the parent is like and whatever is asked for."""

from math import inf

from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_core.agent.bounds import LEVELS, Bounds, Limits, Meter, inherit
from hermes_core.agent.policy.judge import Policy
from hermes_core.kinds import Tool
from hermes_core.plugins.dispatch import Dispatch
from hermes_core.testing import FakeWorkspace
from hermes_core.types import ChildTask, Effect, Session, ToolCall, Usage

SETS = ["files", "terminal", "web", "memory"]
NAMES = [f"tool{n}" for n in range(6)]
NEVER = {Effect.ASK, Effect.REMEMBER, Effect.SCHEDULE, Effect.CONFIGURE, Effect.SEND}
WISH = st.sampled_from([0, 1, -1, 5, 10**9, 0.5, -inf, inf])
LEFT = st.one_of(st.just(inf), st.floats(0, 1e6))


async def _run(*_: object) -> str:
    return ""


@st.composite
def toolboxes(draw) -> list[Tool]:
    effects = st.frozensets(st.sampled_from(list(Effect)), max_size=3)
    return [
        Tool(name=name, description="x", params=object, run=_run, toolset=draw(st.sampled_from(SETS)), effects=draw(effects))  # noqa: E501
        for name in NAMES
    ]  # fmt: skip


LIMITS = st.builds(Limits, calls=LEFT, tokens=LEFT, money=LEFT, seconds=LEFT)
RULES = st.lists(
    st.sampled_from(["tool*", "*", "tool1(*)", "tool2(a*)", "tool2(ab)", "tool3", "tool[12](b)"]), max_size=3
).map(tuple)
PARENTS = st.builds(
    Bounds,
    mode=st.sampled_from(["ask", "off"]),
    deny=RULES,
    allow=RULES,
    tools=st.frozensets(st.sampled_from(NAMES)),
    levels=st.integers(0, LEVELS),
    limits=LIMITS,
)
TASKS = st.builds(
    ChildTask,
    goal=st.text(max_size=5),
    toolsets=st.lists(st.sampled_from([*SETS, "unknown"]), max_size=3),
    without=st.lists(st.sampled_from(SETS), max_size=2),
    calls=WISH,
    tokens=WISH,
    money=WISH,
    seconds=WISH,
    levels=st.integers(-3, 99),
)


@given(PARENTS, toolboxes(), TASKS, TASKS)
def test_no_child_and_no_grandchild_is_given_more(parent, tools, task, next_task) -> None:
    child = inherit(parent, tools, task)
    for above, below, wish in ((parent, child, task), (child, inherit(child, tools, next_task), next_task)):
        assert (below.mode, below.deny, below.allow) == (above.mode, above.deny, above.allow)
        assert below.tools <= above.tools
        assert below.levels <= max(0, above.levels - 1)
        for name in ("calls", "tokens", "money", "seconds"):
            assert getattr(below.limits, name) <= getattr(above.limits, name)
        for tool in tools:
            if tool.name in below.tools:
                assert not tool.effects & NEVER
                assert below.levels > 0 or Effect.DELEGATE not in tool.effects
                assert not wish.toolsets or tool.toolset in wish.toolsets
                assert tool.toolset not in wish.without


def _policy(bounds: Bounds, own_deny: tuple[str, ...] = ()) -> Policy:
    return Policy(Dispatch(), mode=bounds.mode, deny=(*bounds.deny, *own_deny), allow=bounds.allow, guarded=())


@settings(max_examples=60)
@given(PARENTS, toolboxes(), TASKS, RULES, st.sampled_from(NAMES), st.sampled_from(["a", "b", "ab"]))
async def test_what_is_allowed_below_is_allowed_above(parent, tools, task, own_deny, name, word) -> None:
    child = inherit(parent, tools, task)
    tool = evolve(next(t for t in tools if t.name == name), params=object)
    call = ToolCall(id="1", name=name, arguments={"query": word})
    asked = (Session(id="s", origin="cli"), call, tool, None, FakeWorkspace(), None)
    below = await _policy(child, own_deny).judge(*asked)
    above = await _policy(parent).judge(*asked)
    assert below.outcome != "allow" or above.outcome == "allow"


@given(LIMITS, st.lists(st.integers(0, 50), max_size=5), st.integers(0, 50))
def test_what_children_use_is_gone_for_everyone(limits, children, own) -> None:
    meter = Meter(limits, 8, lambda: Usage(calls=own, input=own, output=own, cost=own / 10))
    meter.running = {str(n): Usage(calls=used, input=used, cost=used / 10) for n, used in enumerate(children)}
    total = own + sum(children)
    assert meter.left.calls == max(0, limits.calls - total)
    assert meter.left.tokens == max(0, limits.tokens - total - own)
    assert meter.left.money <= limits.money
    assert bool(meter.left.exhausted) == any(
        getattr(meter.left, name) <= 0 for name in ("calls", "tokens", "money", "seconds")
    )


@given(st.sampled_from(["calls", "tokens", "money", "seconds"]))
def test_what_is_used_up_is_named(name) -> None:
    left = evolve(Limits(), **{name: 0})
    assert left.exhausted in ("model calls", "tokens", "money", "time")
    assert Limits().exhausted == ""
