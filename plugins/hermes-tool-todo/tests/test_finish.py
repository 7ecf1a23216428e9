"""A turn that leaves its own plan open is sent on once, where nobody is there to say so."""

from typing import Any

import pytest

from hermes_core.hooks import hookimpl
from hermes_core.testing import Call, FakeDocuments, FakePlatform
from hermes_core.types import Done, Ended, Message, Question, Session, Text, TextDelta, Verdict
from hermes_tool_todo.config import Config
from hermes_tool_todo.finish import unfinished
from hermes_tool_todo.plan import Item
from hermes_tool_todo.store import Plans

PLAN = Call(
    "todo",
    {
        "todos": [
            {"id": "1", "content": "Look", "status": "completed"},
            {"id": "2", "content": "Mend\nthe parser", "status": "in_progress"},
            {"id": "3", "content": "Say so"},
        ]
    },
)
DONE = Call("todo", {"merge": True, "todos": [{"id": i, "status": "completed"} for i in "123"]})
DROPPED = Call("todo", {"merge": True, "todos": [{"id": i, "status": "cancelled"} for i in "23"]})
WORDS = (
    "Do not end yet, says tool/todo: 2 items of your plan are open. Finish what is left, or mark as cancelled what is"
    " not to be done, and say why it is not.\n- 2: Mend the parser\n- 3: Say so"
)


def words_of(message: Message) -> str:
    return "".join(part.text for part in message.parts if isinstance(part, Text))


async def played(hermes: Any, scripted: Any, *steps: Any, finish: str = "", ask: Any = None) -> tuple[str, list[str]]:
    """The answer of a turn, and what the model was told beside what the person said."""
    hermes.tmp_plugin(scripted(*steps))
    hermes.tmp_plugin("hermes_tool_todo")
    if finish:
        hermes.configure({"tools.todo.finish": finish})
    events = [event async for event in hermes.runtime.turns.run("go", session="s", ask=ask)]
    (ended,) = [event for event in events if isinstance(event, Ended)]
    stored = await (await hermes.runtime.store()).history.load("s")
    return ended.answer, [words_of(m) for m in stored if m.role == "user" and words_of(m) != "go"]


async def nobody(_question: Question) -> Verdict | None:
    return None


async def test_it_is_told_what_is_open_and_goes_on(hermes: Any, scripted: Any) -> None:
    assert await played(hermes, scripted, PLAN, "I think that is it.", DONE, "All done.") == ("All done.", [WORDS])


async def test_it_is_told_once_whatever_it_does_then(hermes: Any, scripted: Any) -> None:
    step = Call("todo", {"merge": True, "todos": [{"id": "2", "status": "completed"}]})
    assert await played(hermes, scripted, PLAN, "So far.", step, "Still not.") == ("Still not.", [WORDS])


@pytest.mark.parametrize("last", [DONE, DROPPED, Call("todo", {"todos": []})])
async def test_a_plan_without_open_items_holds_nobody_up(hermes: Any, scripted: Any, last: Call) -> None:
    assert await played(hermes, scripted, PLAN, last, "Done.") == ("Done.", [])


@pytest.mark.parametrize("answer", ["Shall I delete it?", "Which one? **(a or b?)**", "\u5220\u9664\u5417\uff1f"])
async def test_a_question_to_the_person_ends_it(hermes: Any, scripted: Any, answer: str) -> None:
    assert await played(hermes, scripted, PLAN, answer) == (answer, [])


@pytest.mark.parametrize(
    ("finish", "ask", "told"),
    [("", None, 1), ("", nobody, 0), ("always", nobody, 1), ("never", None, 0), ("unattended", nobody, 0)],
)
async def test_who_is_there_and_the_setting_decide(
    hermes: Any, scripted: Any, finish: str, ask: Any, told: int
) -> None:
    steps = [PLAN, "So far.", "That is all."][: 2 + told]
    _, said = await played(hermes, scripted, *steps, finish=finish, ask=ask)
    assert len(said) == told


async def test_a_turn_that_only_reads_or_has_an_older_plan_ends(hermes: Any, scripted: Any) -> None:
    await played(hermes, scripted, PLAN, "So far.", "Enough.", Call("todo"), "It is still open.")
    events = [event async for event in hermes.turn("how is it?", session="s")]
    assert [e.answer for e in events if isinstance(e, Ended)] == ["It is still open."]


async def test_somebody_in_a_chat_says_so_themselves(hermes: Any, scripted: Any) -> None:
    hermes.tmp_plugin(scripted(PLAN, "So far."))
    hermes.tmp_plugin("hermes_tool_todo")
    platform = FakePlatform(features=())
    await platform.service.say("go")
    await platform.service.leave()
    await hermes.serve(platform)
    assert await platform.service.seen() == ["So far."]


async def test_a_process_that_takes_the_turn_up_does_not_say_it_again(tmp_path: Any) -> None:
    documents, session = FakeDocuments(), Session(id="s", origin="cli", turn="t1")
    plan = Plans(documents, tmp_path)
    await plan.change(session, lambda _: (Item(id="1", content="Look"),), anew=True)
    assert await unfinished(plan, Config(), session, "Done.") is not None
    assert await unfinished(Plans(documents, tmp_path), Config(), session, "Done.") is None
    await plan.change(session, lambda before: before, anew=False)
    assert await unfinished(plan, Config(), session, "Done.") is None, "it changed the plan, in the same turn"


async def test_a_long_plan_is_told_in_part(tmp_path: Any) -> None:
    plan, session = Plans(FakeDocuments(), tmp_path), Session(id="s", origin="cli", turn="t1")
    many = tuple(Item(id=str(n), content="x" * 300) for n in range(200))
    await plan.change(session, lambda _: many, anew=True)
    verdict = await unfinished(plan, Config(), session, "Done.")
    assert verdict
    assert verdict.reason.startswith("200 items of your plan are open.")
    assert verdict.reason.endswith("\n- and others, which the plan shows")
    assert len(verdict.reason) < 4_000


async def test_another_plugin_may_send_it_on_too(hermes: Any, scripted: Any) -> None:
    @hookimpl
    async def may_end(answer: str) -> Verdict | None:
        return None if answer == "tested" else Verdict(outcome="deny", reason="test it")

    hermes.tmp_plugin(may_end, name="aims")
    answer, said = await played(hermes, scripted, PLAN, "So far.", "tested", "tested")
    assert answer == "tested"
    assert said == ["Do not end yet, says tool/aims: test it", WORDS]


async def test_an_answer_that_the_model_was_cut_off_in_ends_it(hermes: Any, scripted: Any) -> None:
    cut = [[TextDelta(text=f"and then {n} "), Done(reason="length")] for n in range(4)]
    answer, told = await played(hermes, scripted, PLAN, *cut)
    assert answer.startswith("and then 0 and then 1")
    assert told == []
