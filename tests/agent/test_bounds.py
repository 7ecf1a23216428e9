"""A turn that works for another is never given more than that has, whatever that is like and whatever is asked for."""

from math import inf
from types import SimpleNamespace

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_core.agent.bounds import LEVELS, levels_below, limits_of, narrowed, permits
from hermes_core.agent.meter import Meter
from hermes_core.agent.policy.judge import Policy
from hermes_core.errors import BoundReached, UserError
from hermes_core.kinds import Purse, Tool
from hermes_core.plugins.dispatch import Dispatch
from hermes_core.testing import FakeWorkspace
from hermes_core.types import Effect, Limits, Session, ToolCall, TurnBounds, Usage

SETS = ["files", "terminal", "web", "tool1"]
NAMES = [f"tool{n}" for n in range(6)]
OPTION = st.sampled_from([0, 1, -1, 5, 10**9, 0.5, -inf, inf])
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
NAMED = st.lists(st.sampled_from([*SETS, *NAMES, "files/tool0", "tool1/tool1", "unknown"]), max_size=3)
BOUNDS = st.builds(
    TurnBounds,
    tools=st.none() | NAMED,
    without=NAMED,
    never=st.lists(st.sampled_from(list(Effect)), max_size=2),
    mode=st.sampled_from(["", "ask", "smart", "off"]),
    deny=RULES,
    grants=RULES,
    calls=OPTION,
    tokens=OPTION,
    money=OPTION,
    seconds=OPTION,
    levels=st.none() | st.integers(-3, 99),
)
MODES = ["ask", "smart", "off"]


def _below(asked: TurnBounds, above: TurnBounds | None, tools: list[Tool], left: Limits) -> TurnBounds | None:
    """The bounds of what works for a turn; None where nothing may."""
    try:
        return narrowed(asked, above, [tool for tool in tools if permits(above, tool)], left)
    except UserError:
        assert left.exhausted or levels_below(above) == 0
        return None


@given(st.none() | BOUNDS, toolboxes(), BOUNDS, BOUNDS, LIMITS, LIMITS)
def test_no_child_and_no_grandchild_is_given_more(parent, tools, asked_for, next_asked, left, next_left) -> None:
    child = _below(asked_for, parent, tools, left)
    grandchild = _below(next_asked, child, tools, next_left) if child else None
    for above, below, asked, most in ((parent, child, asked_for, left), (child, grandchild, next_asked, next_left)):
        if below is None:
            continue
        assert levels_below(below) < levels_below(above) <= LEVELS
        assert set(above.deny if above else ()) <= set(below.deny)
        assert set(below.grants) <= set(above.grants if above else ()) & set(asked.grants)
        if above and above.mode:
            assert MODES.index(below.mode) <= MODES.index(above.mode)
        for name in ("calls", "tokens", "money", "seconds"):
            assert getattr(limits_of(below), name) <= getattr(most, name)
        for tool in tools:
            if permits(below, tool):
                assert permits(above, tool)
                assert permits(asked, tool)
                assert levels_below(below) > 0 or Effect.DELEGATE not in tool.effects


def test_an_empty_list_of_tools_is_no_tool() -> None:
    tool = Tool(name="tool1", description="x", params=object, run=_run, toolset="files")
    assert permits(TurnBounds(), tool)
    assert not permits(TurnBounds(tools=()), tool)
    assert permits(TurnBounds(tools=["files/tool1"]), tool)
    assert not permits(TurnBounds(tools=["web/tool1"]), tool)


@settings(max_examples=60)
@given(st.none() | BOUNDS, toolboxes(), BOUNDS, LIMITS, st.sampled_from(NAMES), st.sampled_from(["a", "b", "ab"]))
async def test_what_is_allowed_below_is_allowed_above(parent, tools, asked_for, left, name, word) -> None:
    child = _below(asked_for, parent, tools, left)
    if child is None:
        return
    policy = Policy(Dispatch(), mode="off", deny=(), allow=(), guarded=())
    policy.set_mode("s", "ask")
    policy.parents["c"] = "s"
    tool = evolve(next(t for t in tools if t.name == name), params=object)
    call = ToolCall(id="1", name=name, arguments={"query": word})

    async def judged(session):
        return (await policy.judge(session, call, tool, None, FakeWorkspace(), None)).outcome

    below = await judged(Session(id="c", parent="s", origin="child", bounds=child))
    assert below != "allow" or await judged(Session(id="s", origin="cli", bounds=parent)) == "allow"


class Given(Purse):
    """Gives a turn exactly these limits."""

    name = "given"

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def limits(self, usual):
        return self._limits

    async def check(self, session, spent, unbooked, *, last):
        return inf

    async def left(self, session):
        return {}


def meter(limits: Limits, used: Usage = Usage(), above: Meter | None = None, name: str = "s") -> Meter:  # noqa: B008
    config = SimpleNamespace(agent=SimpleNamespace(max_calls=90, tool_workers=8))
    purses = [("tool/given", Given(limits))]
    parts = SimpleNamespace(settings=SimpleNamespace(config=config), purses=lambda: purses, dispatch=Dispatch())
    made = Meter(parts, SimpleNamespace(session=Session(id=name, origin="embed")), None, above)
    made.book(used)
    return made


@given(LIMITS, st.lists(st.integers(0, 50), max_size=5), st.integers(0, 50))
async def test_what_children_use_is_gone_for_everyone(limits, children, own) -> None:
    counted = meter(limits, Usage(calls=own, input=own, output=own, cost=own / 10))
    for n, used in enumerate(children):
        counted.running[str(n)] = lambda used=used: Usage(calls=used, input=used, cost=used / 10)
    total, left = own + sum(children), evolve(await counted.left(), seconds=limits.seconds)
    assert left.calls == max(0, limits.calls - total)
    assert left.tokens == max(0, limits.tokens - total - own)
    assert left.money <= limits.money
    assert bool(left.exhausted) == any(getattr(left, name) <= 0 for name in ("calls", "tokens", "money", "seconds"))


@given(st.sampled_from(["calls", "tokens", "money", "seconds"]))
def test_what_is_used_up_is_named(name) -> None:
    left = evolve(Limits(), **{name: 0})
    assert left.exhausted in ("model calls", "tokens", "money", "time")
    assert Limits().exhausted == ""


async def test_a_turn_stops_when_the_one_it_works_for_has_nothing_left() -> None:
    root = meter(Limits(calls=5), Usage(calls=1), name="root")
    child = meter(Limits(calls=50), Usage(calls=2), root, name="child")
    grandchild = meter(Limits(), above=child, name="grandchild")
    await grandchild.check_step()
    child.book(Usage(calls=2))
    with pytest.raises(BoundReached, match="No model calls was left for it") as reached:
        await grandchild.check_step()
    with pytest.raises(BoundReached):  # and has no last word
        await grandchild.check_last(reached.value)
    assert root.take(["child", "gone"]).calls == 4
    await grandchild.check_step()
