"""Clarify: what the person is asked, and what the model reads of it."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hermes_core.agent.arguments import parse_arguments, tool_spec
from hermes_core.errors import ToolError
from hermes_core.testing import Call, FakePlatform, FakeToolContext, FakeWorkspace
from hermes_core.types import Effect, Ended, Feature, Question, Returned, Text, Verdict
from hermes_tool_clarify.tool import OTHER, clarify_tool


class Person(FakeToolContext):
    """Somebody who answers one question after another; what is no text is a Verdict of its own."""

    def __init__(self, folder: Path, *answers: str | Verdict) -> None:
        super().__init__(FakeWorkspace(folder=folder))
        self._answers = list(answers)

    async def ask(self, question: Question) -> Verdict:
        self.questions.append(question)
        answer = self._answers.pop(0)
        return answer if isinstance(answer, Verdict) else Verdict(outcome="allow", by="ann", choice=answer)


async def clarify(context: FakeToolContext, **arguments: Any) -> str:
    tool = clarify_tool()
    return str(await tool.run(context, parse_arguments(tool, arguments)))


async def test_a_question_without_choices_takes_a_text(tmp_path: Path) -> None:
    person = Person(tmp_path, " dark blue ")
    assert await clarify(person, question=" Which color? ") == "The person answered: dark blue"
    [asked] = person.questions
    assert (asked.kind, asked.subject, list(asked.choices)) == ("text", "Which color?", [])


async def test_a_choice_can_be_picked(tmp_path: Path) -> None:
    person = Person(tmp_path, "blue")
    assert await clarify(person, question="Which?", choices=["red", "blue"]) == "The person chose: blue"
    [asked] = person.questions
    assert (asked.kind, list(asked.choices)) == ("choice", ["red", "blue", OTHER])


async def test_whoever_wants_something_else_says_it_in_their_own_words(tmp_path: Path) -> None:
    person = Person(tmp_path, OTHER, "none of them")
    said = await clarify(person, question="Which?", choices=["red", "blue"])
    assert said == "The person answered: none of them"
    assert [(q.kind, q.subject) for q in person.questions] == [
        ("choice", "Which?"),
        ("text", "In your own words: Which?"),
    ]
    assert len({q.id for q in person.questions}) == 2


async def test_a_surface_that_takes_words_for_a_choice_is_believed(tmp_path: Path) -> None:
    said = await clarify(Person(tmp_path, "green, please"), question="Which?", choices=["red", "blue"])
    assert said == "The person answered: green, please"


@pytest.mark.parametrize(
    ("choices", "offered"),
    [
        (["red", "red", " red "], ["red", OTHER]),
        (["two\nlines", "b"], ["two lines", "b", OTHER]),
        (["red", "Other...", "Something else"], ["red", OTHER]),
    ],
)
async def test_choices_are_told_apart_and_a_free_answer_is_offered_once(
    choices: list[str], offered: list[str], tmp_path: Path
) -> None:
    person = Person(tmp_path, "red")
    await clarify(person, question="Which?", choices=choices)
    assert list(person.questions[0].choices) == offered


async def test_only_a_free_answer_is_no_choice(tmp_path: Path) -> None:
    person = Person(tmp_path, "so be it")
    await clarify(person, question="Which?", choices=["other"])
    assert [q.kind for q in person.questions] == ["text"]


@pytest.mark.parametrize("choices", [[], ["a", "b"]])
async def test_with_nobody_there_the_model_is_told_to_decide(choices: Sequence[str], tmp_path: Path) -> None:
    context = FakeToolContext(FakeWorkspace(folder=tmp_path))
    said = await clarify(context, question="Which?", choices=list(choices))
    assert said.startswith("Nobody is here to answer. Decide yourself")
    assert len(context.questions) == 1


async def test_a_yes_without_an_answer_is_none(tmp_path: Path) -> None:
    said = await clarify(Person(tmp_path, Verdict(outcome="allow", by="rule")), question="Which?")
    assert said.startswith("Nobody is here to answer.")


@pytest.mark.parametrize("answers", [["no"], [OTHER, "no"]])
async def test_who_does_not_want_to_answer_is_left_alone(answers: list[str], tmp_path: Path) -> None:
    refused = Verdict(outcome="deny", by="ann", choice="deny")
    person = Person(tmp_path, *[refused if a == "no" else a for a in answers])
    said = await clarify(person, question="Which?", choices=["a", "b"])
    assert said.startswith("The person did not want to answer. Do not ask this again. Decide yourself")


async def test_what_the_person_wants_instead_is_told(tmp_path: Path) -> None:
    said = await clarify(Person(tmp_path, Verdict.refused("ann", "ask me tomorrow")), question="Which?")
    assert said.startswith("The person did not want to answer, who wants this instead: ask me tomorrow. Do not")


async def test_nobody_who_answered_in_time_is_no_person_who_did_not_want_to(tmp_path: Path) -> None:
    late = Verdict(outcome="deny", reason="nobody answered within 60 minutes", by="gateway")
    said = await clarify(Person(tmp_path, late), question="Which?", choices=["a", "b"])
    assert said.startswith("There is no answer: nobody answered within 60 minutes. Decide yourself")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"question": "  \n"}, "question needs 1 to 4,000 characters, got 0"),
        ({"question": "x" * 4_001}, "question needs 1 to 4,000 characters, got 4,001"),
        ({"question": "?", "choices": list("abcde")}, "there can be at most 4 choices, got 5"),
        ({"question": "?", "choices": ["a", " "]}, r"choices\[1\] needs 1 to 200 characters"),
        ({"choices": ["a"]}, "question: required"),
    ],
)
async def test_a_wrong_question_is_never_put(arguments: dict[str, Any], problem: str, tmp_path: Path) -> None:
    person = Person(tmp_path)
    with pytest.raises(ToolError, match=problem):
        await clarify(person, **arguments)
    assert person.questions == []


async def test_a_person_who_takes_too_long_is_not_waited_for(tmp_path: Path) -> None:
    class Away(FakeToolContext):
        async def ask(self, question: Question) -> Verdict:
            await asyncio.Event().wait()
            raise AssertionError

    tool = clarify_tool(wait=0)
    said = await tool.run(Away(FakeWorkspace(folder=tmp_path)), parse_arguments(tool, {"question": "Which?"}))
    assert str(said).startswith("Nobody answered within 0 minutes. Decide yourself")


async def test_a_time_out_of_the_surface_is_not_the_persons(tmp_path: Path) -> None:
    class Broken(FakeToolContext):
        async def ask(self, question: Question) -> Verdict:
            raise TimeoutError("the service is slow")

    tool = clarify_tool()
    with pytest.raises(TimeoutError, match="the service is slow"):
        await tool.run(Broken(FakeWorkspace(folder=tmp_path)), parse_arguments(tool, {"question": "Which?"}))


def test_the_tool_costs_little_and_runs_alone() -> None:
    tool = clarify_tool()
    spec = tool_spec(tool)
    text = json.dumps(
        {"name": spec.name, "description": spec.description, "parameters": spec.schema}, separators=(",", ":")
    )
    assert len(text) <= 450
    assert tool.effects == {Effect.ASK}
    assert tool.touches is None
    assert not tool.idempotent
    assert tool.seconds > 3600


@pytest.mark.parametrize("live", [True, False])
async def test_the_question_reaches_whichever_platform_the_person_is_on(hermes: Any, scripted: Any, live: bool) -> None:
    calls = [Call("clarify", {"question": "Which?", "choices": ["a", "b"]}), Call("clarify", {"question": "Why?"})]
    provider = scripted(calls, "Thanks.")
    hermes.tmp_plugin(provider)
    hermes.tmp_plugin("hermes_tool_clarify")
    answers = [Verdict(outcome="allow", by="ann", choice=choice) for choice in ("b", "because")]
    platform = FakePlatform(features={Feature.LIVE} if live else (), verdicts=answers)
    await platform.service.say("go")
    await platform.service.leave()
    await hermes.serve(platform)
    assert [(q.kind, q.subject) for q in platform.questions] == [("choice", "Which?"), ("text", "Why?")]
    read = [p.text for m in provider.requests[1].messages if m.role == "tool" for p in m.parts[0].parts]
    assert read == ["The person chose: b", "The person answered: because"]


async def test_a_turn_without_a_surface_goes_on_at_once(hermes: Any, scripted: Any) -> None:
    hermes.tmp_plugin(scripted(Call("clarify", {"question": "Which?"}), "I took the first."))
    hermes.tmp_plugin("hermes_tool_clarify")
    events = [event async for event in hermes.turn("go")]
    [returned] = [e for e in events if isinstance(e, Returned)]
    assert not returned.result.failed
    assert isinstance(returned.result.parts[0], Text)
    assert returned.result.parts[0].text.startswith("Nobody is here to answer.")
    assert isinstance(events[-1], Ended)
    assert events[-1].answer == "I took the first."
