"""Plugins are asked before each model call of a turn: they let it be made, end the turn, or leave it to the person."""

import pytest

from hermes_core import hookimpl
from hermes_core.kinds import tool
from hermes_core.testing import Call
from hermes_core.types import Failed, Message, Text, Verdict


@tool(idempotent=True, touches=lambda _: ("file:/a",))
async def look() -> str:
    """Look."""
    return "a wall"


@tool
async def push() -> str:
    """Push."""
    return "pushed"


def judging(outcome, *, at=2, seen=None):
    """A gate that says its word before call number ``at``, and what it was told."""

    @hookimpl
    async def next_step(session, number, usage, results):
        if seen is not None:
            seen.append((session.turn, number, usage.calls, [(r.name, r.failed) for r in results]))
        if number == at:
            if outcome == "raise":
                raise RuntimeError("it broke")
            return Verdict(outcome=outcome, reason="it is enough")
        return None

    return next_step


def kit(hermes, scripted, gate, *steps):
    provider = scripted(*steps)
    hermes.tmp_plugin(provider)
    hermes.tmp_plugin(look, push)
    hermes.tmp_plugin(gate, name="gate")
    return provider


async def play(hermes, session="s"):
    events = [event async for event in hermes.turn("go", session=session)]
    return events[-1], next((e for e in events if isinstance(e, Failed)), None)


async def roles(hermes):
    return [m.role for m in await (await hermes.runtime.store()).history.load("s")]


async def test_a_gate_is_told_what_it_needs_to_decide(hermes, scripted) -> None:
    seen = []
    kit(hermes, scripted, judging("allow", seen=seen), [Call("look"), Call("push")], Call("nothing"), "done")
    ended, failed = await play(hermes)
    assert (ended.answer, failed) == ("done", None)
    turn = ended.turn_id
    assert seen == [
        (turn, 1, 0, []),
        (turn, 2, 1, [("look", False), ("push", False)]),
        (turn, 3, 2, [("nothing", True)]),
    ]


async def test_results_of_a_turn_before_are_not_told_again(hermes, scripted) -> None:
    seen = []
    kit(hermes, scripted, judging("allow", seen=seen), Call("look"), "done", "done too")
    await play(hermes)
    await play(hermes)
    assert [(number, results) for _, number, _, results in seen] == [(1, []), (2, [("look", False)]), (1, [])]


@pytest.mark.parametrize(("outcome", "said"), [("deny", "it is enough"), ("raise", "could not decide")])
async def test_a_no_ends_the_turn_with_its_reason_and_nothing_more_is_asked(hermes, scripted, outcome, said) -> None:
    hermes._options["strict"] = False
    provider = kit(hermes, scripted, judging(outcome), Call("look"))
    ended, failed = await play(hermes)
    assert ended.reason == "failed"
    assert "tool/gate" in failed.text
    assert said in failed.text
    assert len(provider.requests) == 1
    assert await roles(hermes) == ["user", "assistant", "tool"]


async def test_a_no_before_the_first_call_costs_nothing(hermes, scripted) -> None:
    provider = kit(hermes, scripted, judging("deny", at=1))
    ended, failed = await play(hermes)
    assert (ended.reason, failed.kind) == ("failed", "user_error")
    assert provider.requests == []


async def test_without_a_person_a_question_ends_the_turn_with_its_reason(hermes, scripted) -> None:
    kit(hermes, scripted, judging("ask"), Call("look"), "next")
    ended, failed = await play(hermes)
    assert (ended.reason, ended.answer, failed) == ("done", "I stopped. it is enough", None)
    said = (await (await hermes.runtime.store()).history.load("s"))[-1]
    assert (said.role, said.parts) == ("assistant", (Text(text=ended.answer),))
    assert (await hermes.run("and now", session="s")).text == "next"


@pytest.mark.parametrize("choice", ["go on", "stop", "say something else"])
async def test_a_person_decides(hermes, scripted, choice) -> None:
    asked = []

    async def ask(question):
        asked.append(question)
        return Verdict(outcome="allow", choice="use the door" if question.kind == "text" else choice)

    hermes._ask = ask
    provider = kit(hermes, scripted, judging("ask"), Call("look"), *(["done"] if choice != "stop" else []))
    ended, _ = await play(hermes)
    assert asked[0].subject == "it is enough\nWhat now?"
    assert asked[0].choices == ("go on", "stop", "say something else")
    assert ended.answer == ("done" if choice == "go on" else "I stopped. it is enough")
    if choice == "say something else":
        assert [event async for event in hermes.follow("s")][-1].answer == "done"
        assert provider.requests[-1].messages[-1] == Message(role="user", parts=(Text(text="use the door"),))


async def test_a_reason_shows_no_secret(hermes, scripted, monkeypatch) -> None:
    monkeypatch.setenv("ACME_API_KEY", "hunter22-hunter22")

    @hookimpl
    async def next_step():
        return Verdict(outcome="deny", reason="the key is hunter22-hunter22")

    kit(hermes, scripted, next_step)
    _, failed = await play(hermes)
    assert "the key is" in failed.text
    assert "hunter22" not in failed.text


async def test_who_changes_a_result_knows_what_kind_of_call_it_was(hermes, scripted) -> None:
    seen = []

    @hookimpl
    async def transform_tool_result(call, looks, touches, twin):
        seen.append((call.name, looks, touches, twin))

    kit(hermes, scripted, transform_tool_result, [Call("look"), Call("push"), Call("look")], Call("none"), "done")
    await play(hermes)
    assert sorted(seen) == [
        ("look", True, frozenset({"file:/a"}), False),
        ("look", True, frozenset({"file:/a"}), True),
        ("none", False, frozenset(), False),
        ("push", False, frozenset(), False),
    ]
