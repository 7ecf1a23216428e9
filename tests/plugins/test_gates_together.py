"""Several gates: the strictest is heard, whatever their order, and what any of them knows of a call counts."""

import itertools
import types
from typing import Any

import pytest

from hermes_core.hooks import hookimpl
from hermes_core.plugins.dispatch import Dispatch
from hermes_core.plugins.index import Installed
from hermes_core.plugins.manifest import parse_manifest
from hermes_core.types import Effect, Outcome, Session, ToolCall, Verdict

LOOKS, SENDS, NOTHING = frozenset({Effect.READ_FILES}), frozenset({Effect.SEND}), frozenset[Effect]()
STRENGTH: list[Outcome] = ["allow", "ask", "deny"]


def gate(answer: Verdict | None) -> Any:
    @hookimpl
    async def pre_tool_call(call: ToolCall) -> Verdict | None:
        return answer

    return pre_tool_call


async def decided(*answers: Verdict | None) -> Verdict:
    """What comes of gates that give these answers, asked in this order."""
    made = Dispatch(strict=True)
    for number, answer in enumerate(answers):
        module = types.ModuleType(f"gate{number}")
        vars(module)["pre_tool_call"] = gate(answer)
        data = {"api": 1, "name": f"g{number}", "kind": "tool", "summary": "T.", "hooks": {"use": ["pre_tool_call"]}}
        manifest = parse_manifest(data, where="g")
        one = Installed(label=f"tool/g{number}", manifest=manifest, module=module.__name__, path="")
        made.register(one, module, None)
    call, session = ToolCall(id="1", name="now", arguments={}), Session(id="s", origin="test")
    return await made.decide("pre_tool_call", session=session, call=call, effects=NOTHING, workspace=None)


def verdict(outcome: Outcome, effects: frozenset[Effect] | None = None, reason: str = "") -> Verdict:
    return Verdict(outcome=outcome, effects=effects, reason=reason)


async def test_the_strictest_counts_whatever_the_order() -> None:
    wrong = []
    for outcomes in itertools.product([*STRENGTH, None], repeat=3):
        answers = [verdict(outcome, reason=str(n)) if outcome else None for n, outcome in enumerate(outcomes)]
        said = [outcome for outcome in outcomes if outcome]
        strictest = max(said, key=STRENGTH.index, default="allow")
        first = outcomes.index(strictest) if said else ""
        found = await decided(*answers)
        wanted = (strictest, f"tool/g{first}" if said else "", str(first))
        if (found.outcome, found.by, found.reason) != wanted:
            wrong.append((outcomes, found))
    assert not wrong


@pytest.mark.parametrize(
    ("named", "known"),
    [
        ([], None),
        ([None], None),
        ([None, None], None),
        ([LOOKS], LOOKS),
        ([NOTHING], NOTHING),
        ([NOTHING, None], NOTHING),
        ([LOOKS, None], LOOKS),
        ([NOTHING, SENDS], SENDS),
        ([LOOKS, SENDS], LOOKS | SENDS),
        ([LOOKS, None, SENDS], LOOKS | SENDS),
    ],
)
async def test_no_gate_hides_the_effects_that_another_names(named, known) -> None:
    wrong = []
    for order in set(itertools.permutations(named)):
        for outcomes in itertools.product(["allow", "ask"], repeat=len(named)):
            found = await decided(*(verdict(*one) for one in zip(outcomes, order, strict=True)))
            if found.effects != known:
                wrong.append((order, outcomes, found.effects))
    assert not wrong


async def test_a_gate_that_says_nothing_changes_nothing() -> None:
    assert await decided(None, None) == Verdict(outcome="allow")
    named = Verdict(outcome="allow", by="me", effects=LOOKS)
    assert await decided(None, named, None) == named


async def test_what_a_gate_calls_itself_is_kept() -> None:
    assert (await decided(verdict("allow"), Verdict(outcome="ask", by="the guard"))).by == "the guard"
