"""A model that goes round in circles is warned, then a person is asked; one that waits is left alone."""

import pytest
from attrs import evolve, frozen

from hermes_core import hookimpl
from hermes_core.errors import ToolError
from hermes_core.kinds import tool
from hermes_core.testing import Call
from hermes_core.types import Ended, Returned, Text, Verdict


@frozen
class Words:
    text: str = ""


@tool(touches=lambda _words: ())
async def fails(words: Words) -> str:
    """Fail."""
    raise ToolError("no such door")


@pytest.fixture(autouse=True)
def loops(hermes):
    hermes.tmp_plugin("hermes_tool_loops")


async def play(hermes, **options):
    return [event async for event in hermes.turn("go", session="s", **options)]


def results(events) -> list[str]:
    return ["".join(p.text for p in e.result.parts if isinstance(p, Text)) for e in events if isinstance(e, Returned)]


async def test_five_identical_failures_stop_the_turn_with_an_answer(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted(*[Call("fails", {"text": "x"})] * 5, "next"))
    hermes.tmp_plugin(fails)
    events = await play(hermes)
    said = results(events)
    assert "[This same call has now failed" not in said[0]
    assert "failed 2 times in the same way" in said[1]
    ended = events[-1]
    assert isinstance(ended, Ended)
    assert ended.reason == "done"
    assert "fails(text=x)" in ended.answer
    assert "no such door" in ended.answer
    store = await hermes.runtime.store()
    assert (await store.history.load("s"))[-1].parts == (Text(text=ended.answer),)
    assert (await hermes.run("and now", session="s")).text == "next"


async def test_calls_of_one_reply_count_too(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted([Call("fails"), Call("fails"), Call("fails")], [Call("fails"), Call("fails")]))
    hermes.tmp_plugin(fails)
    assert "round in circles" in (await play(hermes))[-1].answer


async def test_a_person_can_let_it_go_on(hermes, scripted) -> None:
    asked = []

    async def ask(question):
        asked.append(question)
        return Verdict(outcome="allow", choice="go on")

    hermes._ask = ask
    hermes.tmp_plugin(scripted(*[Call("fails")] * 6, "done"))
    hermes.tmp_plugin(fails)
    assert (await play(hermes))[-1].answer == "done"
    assert [q.choices for q in asked] == [("go on", "stop", "say something else")]


async def test_a_person_can_say_something_else(hermes, scripted) -> None:
    async def ask(question):
        return Verdict(outcome="allow", choice="use the window" if question.kind == "text" else "say something else")

    hermes._ask = ask
    provider = scripted(*[Call("fails")] * 5, "done")
    hermes.tmp_plugin(provider)
    hermes.tmp_plugin(fails)
    assert "round in circles" in (await play(hermes))[-1].answer
    assert [event async for event in hermes.follow("s")][-1].answer == "done"
    assert provider.requests[-1].messages[-1].parts == (Text(text="use the window"),)


@pytest.mark.parametrize("number", range(3))
@pytest.mark.few(1)
async def test_who_waits_is_never_stopped(hermes, scripted, number) -> None:
    times = []

    @tool(idempotent=True, touches=lambda _: ())
    async def changing(words: Words) -> str:
        """Look how far it is."""
        times.append(1)
        if len(times) % 2:
            raise ToolError(f"not ready: {len(times)} %")
        return f"{len(times)} %"

    @tool(idempotent=True, touches=lambda _: ("process",))
    async def process(words: Words) -> str:
        """Look after a process."""
        return "running"

    @tool(touches=lambda _: ())
    async def wait(words: Words) -> str:
        """Wait."""
        return "waited"

    names = ("changing", "process", "wait")
    hermes.configure({"agent.max_calls": 1000})
    hermes.tmp_plugin(scripted(*[Call(names[number])] * 200, "done"))
    hermes.tmp_plugin(changing, process, wait)
    events = await play(hermes)
    assert events[-1].answer == "done"
    if number:
        assert not [text for text in results(events) if "[" in text]


async def test_looking_again_and_again_is_hinted_at_then_stopped(hermes, scripted) -> None:
    @tool(idempotent=True, touches=lambda _: ())
    async def look() -> str:
        """Look."""
        return "a wall"

    hermes.tmp_plugin(scripted(*[Call("look")] * 10))
    hermes.tmp_plugin(look)
    events = await play(hermes)
    assert "2 times in a row" in results(events)[1]
    assert "gave the same result 10 times" in events[-1].answer


async def test_looking_again_after_doing_something_is_fine(hermes, scripted) -> None:
    @tool(idempotent=True, touches=lambda _: ())
    async def look() -> str:
        """Look."""
        return "a wall"

    @tool(touches=lambda _: ())
    async def push() -> str:
        """Push."""
        return "pushed"

    hermes.tmp_plugin(scripted(*[Call("look"), Call("push")] * 15, "done"))
    hermes.tmp_plugin(look, push)
    assert (await play(hermes))[-1].answer == "done"


async def test_what_was_taken_over_from_the_same_call_of_one_reply_is_not_counted(hermes, scripted) -> None:
    ran = []

    @tool(idempotent=True, touches=lambda _: ())
    async def look(words: Words) -> str:
        """Look."""
        ran.append(words.text)
        return f"saw {words.text}"

    same = [Call("look", {"text": "a"}), Call("look", {"text": "b"}), Call("look", {"text": "a"})]
    hermes.tmp_plugin(scripted(same, "done"))
    hermes.tmp_plugin(look)
    events = await play(hermes)
    assert sorted(ran) == ["a", "b"]
    assert results(events) == ["saw a", "saw b", "saw a"]


async def test_a_turn_that_is_over_is_forgotten(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted(Call("fails"), "done", *[Call("fails")] * 4, "done"))
    hermes.tmp_plugin(fails)
    for _ in range(2):
        events = await play(hermes)
        assert events[-1].answer == "done"
        assert "[" not in results(events)[0]


async def test_equal_results_are_equal_whatever_others_say_below_them(hermes, scripted) -> None:
    told = []

    @hookimpl
    async def transform_tool_result(result):
        told.append(1)
        return evolve(result, parts=(*result.parts, Text(text=f"\n(note {len(told)})")))

    hermes.tmp_plugin(transform_tool_result, name="a-note")
    hermes.tmp_plugin(scripted(*[Call("fails")] * 5))
    hermes.tmp_plugin(fails)
    events = await play(hermes)
    assert "failed 5 times in a row" in events[-1].answer
    assert "(note" not in events[-1].answer
    assert results(events)[1].endswith("(note 2)")
