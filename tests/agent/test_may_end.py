"""Plugins may send a model on instead of ending its turn: so often, with their words, and for all to see."""

import pytest

from hermes_core.hooks import hookimpl
from hermes_core.testing import Call
from hermes_core.types import Ended, Message, Noticed, Text, Verdict


def text_of(message: Message) -> str:
    return "".join(part.text for part in message.parts if isinstance(part, Text))


def kit(hermes, scripted, *steps, judge, **settings):
    """A kernel whose turns end when ``judge`` lets them; what it was asked is kept."""
    asked = []

    @hookimpl
    async def may_end(session, answer, times, usage):
        asked.append((answer, times, usage.calls))
        return judge(answer, times)

    provider = scripted(*steps)
    hermes.tmp_plugin(provider)
    hermes.tmp_plugin(may_end, name="goals")
    hermes.configure({"policy.mode": "off", **settings})
    hermes._options["strict"] = False
    return provider, asked


def until(word: str, reason: str = "the test was not run"):
    return lambda answer, times: None if word in answer else Verdict(outcome="deny", reason=reason)


async def play(hermes, text: str = "go"):
    return [event async for event in hermes.turn(text, session="s")]


async def test_a_model_goes_on_with_the_reason_and_everyone_sees_it(hermes, scripted) -> None:
    provider, asked = kit(hermes, scripted, "I think so", "tested", judge=until("tested"))
    events = await play(hermes)
    assert asked == [("I think so", 0, 1), ("tested", 1, 2)]
    words = "Do not end yet, says tool/goals: the test was not run"
    assert [text_of(m) for m in provider.requests[1].messages[1:]] == ["go", "I think so", words]
    assert [e.text for e in events if isinstance(e, Noticed)] == [words]
    ended = events[-1]
    assert isinstance(ended, Ended)
    assert (ended.answer, ended.reason) == ("tested", "done")
    assert ended.note == f"The turn went on after an answer: {words}"
    stored = await (await hermes.runtime.store()).history.load("s")
    assert [text_of(m) for m in stored] == ["go", "I think so", words, "tested"]


async def test_the_same_reason_twice_ends_it(hermes, scripted) -> None:
    _, asked = kit(hermes, scripted, "no", "still no", judge=until("yes"))
    ended = (await play(hermes))[-1]
    assert (ended.answer, ended.reason, len(asked)) == ("still no", "done", 2)
    assert "as tool/goals said so again" in ended.note


async def test_it_is_sent_on_eight_times_at_most(hermes, scripted) -> None:
    always = lambda _, times: Verdict(outcome="deny", reason=f"reason {times}")  # noqa: E731
    _, asked = kit(hermes, scripted, *[f"answer {n}" for n in range(9)], judge=always)
    ended = (await play(hermes))[-1]
    assert (ended.answer, [times for _, times, _ in asked]) == ("answer 8", [*range(9)])
    assert "it was sent on 8 times" in ended.note


@pytest.mark.parametrize("judge", [lambda *_: 1 / 0, lambda *_: "no", lambda *_: Verdict(outcome="ask")])
async def test_a_gate_that_cannot_decide_lets_the_turn_end(hermes, scripted, judge) -> None:
    kit(hermes, scripted, "done", judge=judge)
    assert (await play(hermes))[-1].answer == "done"


async def test_nobody_is_asked_about_a_turn_that_a_limit_ends(hermes, scripted) -> None:
    steps = (Call("nothing"), "all I have")
    _, asked = kit(hermes, scripted, *steps, judge=until("never"), **{"agent.max_calls": 1})
    assert (await play(hermes))[-1].answer == "all I have"
    assert asked == []


async def test_what_was_said_by_plugins_is_no_word_of_the_person(hermes, scripted) -> None:
    kit(hermes, scripted, "I think so", "tested", judge=until("tested"))
    await play(hermes)
    runtime = hermes.runtime
    store = await runtime.store()
    taken = await store.history.undo(runtime.owner, "s", 1, "test")
    assert [text_of(message) for message in taken] == ["go"]
    assert await store.history.load("s") == []
