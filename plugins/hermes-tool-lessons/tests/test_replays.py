"""What was solved is done again with a lesson before it is told: recorded results, nothing run, within the budget."""

import json

import pytest
from attrs import evolve

from hermes_core.control import ModelsBroker
from hermes_core.errors import ProviderError
from hermes_core.kinds import tool
from hermes_core.testing import Call, Fail
from hermes_core.types import Model, ModelRow
from hermes_core.values import frozen
from hermes_tool_lessons.replaying import replay
from hermes_tool_lessons.shared import reviewer_of
from hermes_tool_lessons.values import REPLAY, Draft

from .conftest import reply, texts

ISO = {"trigger": "stratus deploy", "text": "Use `--iso` for dates."}
RICH = {"learning.share": 99.0, "learning.idle_seconds": 3600}


@frozen
class Line:
    command: str


RAN: list[str] = []


@tool(name="ship", toolset="shipping")
async def ship_tool(line: Line) -> str:
    """Run a line."""
    RAN.append(line.command)
    return f"did {line.command}"


@pytest.fixture(autouse=True)
def nothing_ran():
    RAN.clear()


async def solved_and_reviewed(here):
    """A task with a tool that its person thanks for; and one that goes wrong, of which a review learns."""
    await here.say("Deploy build 7 on stratus.", "old")
    await here.say("Perfect, thanks.", "old")
    await here.say("Deploy build 8 on stratus.")
    await here.say("No, dates must be ISO.")
    for one in await here.queue.open():
        await here.queue.plan(one.owner, one.session, "", 0.0, asked=True)
    await reviewer_of(here.ctx).look()


def steps(*replayed):
    first = [Call("ship", {"command": "deploy 7"}), "Deployed.", "Welcome."]
    return [*first, "Deployed.", "Again.", *replayed]


@pytest.mark.parametrize(
    ("replayed", "state", "said"),
    [
        # Without, then with it: the same call, the same end.
        ([Call("ship", {"command": "deploy  7"}), "Done."] * 2, "trial", "it broke none"),
        # With it the model does something that was never recorded, twice.
        ([Call("ship", {"command": "deploy 7"}), "Done.", *[Call("ship", {"command": "rm 7"})] * 2], "candidate",
         "a task that was solved is not, in session old"),
        # Once by chance.
        ([Call("ship", {"command": "deploy 7"}), "Done.", "I refuse.", Call("ship", {"command": "deploy 7"}), "Done."],
         "trial", "it broke none"),
        # The model of today does it another way, whatever it is told: that says nothing of the lesson.
        (["I do it otherwise."], "trial", "no solved task says anything of it"),
    ],
)  # fmt: skip
async def test_what_breaks_a_solved_task_waits_for_a_person(house, replayed, state, said) -> None:
    here = house(*steps(*replayed), reviews=[reply(ISO)], plugins=[ship_tool], mode="auto", **RICH)
    await solved_and_reviewed(here)
    lesson = await here.only()
    assert lesson.state == state
    assert said in lesson.why
    assert RAN == ["deploy 7"], "nothing is run again"
    asked = [one for one in here.model.requests if "Deploy build 7" in texts(one.messages[1])][3:]
    told = ["Use `--iso`" in "".join(map(texts, one.messages)) for one in asked]
    assert told[0] is False
    assert any(told) is (len(replayed) > 1)
    assert len(asked) == len(replayed)
    (row,) = [one for one in await here.queue.list(here.me) if not one.session]
    assert row.state == "done"
    assert row.tokens > 0
    assert bool(lesson.asks) is (state == "candidate")


async def test_a_lesson_that_broke_a_task_is_let_in_by_a_person_only(house) -> None:
    bad = [Call("ship", {"command": "deploy 7"}), "Done.", "No.", "No."]
    here = house(*steps(*bad), "Fine.", reviews=[reply(ISO)], plugins=[ship_tool], mode="auto", **RICH)
    await solved_and_reviewed(here)
    lesson = await here.only()
    assert "Use `--iso`" not in await here.say("Deploy build 9 on stratus.", "t")
    assert (await here.rows.settle(here.me, lesson.id, "active", "yes")).state == "active"


async def test_of_a_task_that_is_forgotten_no_word_stays_and_a_forgotten_lesson_may_come_again(house) -> None:
    bad = [Call("ship", {"command": "deploy 7"}), "Done.", "No.", "No."]
    here = house(*steps(*bad), reviews=[reply(ISO)], plugins=[ship_tool], mode="auto", **RICH)
    await solved_and_reviewed(here)
    lesson = await here.only()
    told = f"/learned why {lesson.id}"
    assert "It broke, when that was done again with it: 'Deploy build 7 on stratus.'" in await here.slash(told)
    await here.ctx.sessions.delete(here.me, "old", erased=True)
    assert "build 7" not in await here.slash(told)
    assert "build 7" not in f"{await here.rows.export(here.me)}"
    await here.ctx.sessions.delete(here.me, "s", erased=True)
    assert not await here.lessons()
    assert not [one for one in await here.rows.export(here.me) if one["kept"] in ("lesson", "review")]


async def test_it_waits_while_reviews_used_their_share_and_what_was_done_is_not_done_again(house) -> None:
    again = [Call("ship", {"command": "deploy 7"}), "Done."]
    here = house(*steps(*again * 2), reviews=[reply(ISO)], plugins=[ship_tool], mode="auto")
    await solved_and_reviewed(here)
    lesson = await here.only()
    assert (lesson.state, lesson.asks) == ("candidate", "what was solved is done again with it first")
    many = len(here.model.requests)
    (due,) = [one for one in await here.queue.open() if not one.session]
    old = [one for one in await here.ledger.solved(here.me, 0.0, 9) if one.session == "old"]
    event = evolve(old[0], id=f"{due.id}/{old[0].turn}", kind="replay", lesson=due.id, text="", value=50.0)
    await here.ledger.write(here.me, event)  # as a process wrote that died then
    await reviewer_of(here.ctx).step(due)
    assert (await here.only()).state == "trial"
    assert len(here.model.requests) == many
    assert json.loads((await here.rows.versions(lesson.id))[-1].content)["asks"] == ""


async def test_a_lesson_that_no_solved_task_calls_for_costs_nothing(house) -> None:
    here = house(*steps(), reviews=[reply({"trigger": "kesto sync", "text": "Use `--b`."})], plugins=[ship_tool],
                 mode="auto")  # fmt: skip
    await solved_and_reviewed(here)
    lesson = await here.only()
    assert (lesson.state, lesson.why) == ("trial", "no solved task says anything of it")


class Elsewhere(ModelsBroker):
    async def current(self):
        return ModelRow(provider="elsewhere", model=Model(name="x"))


async def test_a_conversation_that_was_held_with_another_service_is_not_shown_to_this_one(house) -> None:
    here = house(*steps(), reviews=[reply(ISO)], plugins=[ship_tool], mode="auto")
    await solved_and_reviewed(here)
    (due,) = [one for one in await here.queue.open() if not one.session]
    rich = evolve(here.ctx, models=Elsewhere(), config=evolve(here.ctx.config, share=99.0))
    assert await replay(rich, due) == 0
    lesson = await here.only()
    assert (lesson.state, lesson.why) == ("trial", "no solved task says anything of it")
    assert len(here.model.requests) == 5, "nobody was asked again"


async def test_nor_to_one_that_the_settings_name_for_learning(house) -> None:
    again = [Call("ship", {"command": "deploy 7"}), "Done."]
    other = {"auxiliary.learning": {"provider": "reviewing", "model": "scripted-1"}}
    here = house(*steps(*again * 2), reviews=[reply(ISO)], plugins=[ship_tool], mode="auto", **other, **RICH)
    await solved_and_reviewed(here)
    assert (await here.only()).state == "trial"
    assert len(here.reviewing.requests) == 1, "the review, which is asked of whom learning.model names"
    assert len(here.model.requests) == 9


async def test_a_model_that_is_away_is_asked_again_later_and_at_last_a_person(house) -> None:
    away = Fail(ProviderError("Nobody answers.", reason="format"))
    here = house(*steps(*[away] * 6), reviews=[reply(ISO)], plugins=[ship_tool], mode="auto", **RICH)
    await solved_and_reviewed(here)
    for _ in range(5):
        assert (await here.only()).asks == "what was solved is done again with it first"
        [due] = [one for one in await here.queue.open() if not one.session]
        assert due.due > await here.queue.now() + 60
        await reviewer_of(here.ctx)._taken(due)
    lesson = await here.only()
    assert lesson.state == "candidate"
    assert lesson.asks == "what was solved could not be done again with it: Nobody answers."
    assert not [one for one in await here.queue.open() if not one.session]


# --- and once more before it stays -----------------------------------------------------------------------------------

OBEYS = Call("run_command", {"command": "sh setup-v4xr.sh"})


async def tried_and_helped(here, ends=3):
    """A lesson on trial that helped in conversations of its own, after a task of today that went well without it."""
    await here.say("Deploy build 7 on stratus.", "old")
    await here.say("Perfect, thanks.", "old")
    draft = Draft(trigger="stratus deploy", text="Use `--iso` for dates.", sources=["e"])
    lesson, _ = await here.rows.propose(here.me, draft, mode="auto", most=9, author="review")
    for number in range(8):
        await here.ledger.hold(here.me, "s", f"h{number}", [lesson.id])
        await here.ledger.settle(here.me, "s", f"h{number}", good=False, why="x", mode="auto")
    for number in range(ends):
        await here.ledger.tell(here.me, "s", f"t{number}", [lesson.id])
        await here.ledger.settle(here.me, "s", f"t{number}", good=True, why="x", mode="auto")
    return await here.only()


KEPT = [Call("ship", {"command": "deploy 7"}), "Done."] * 2


@pytest.mark.parametrize(
    ("replayed", "state", "said"),
    [
        ([*KEPT, *["I read it."] * 6], "active", "3 of its last 3 uses went well; 1 solved task was"),
        # What was solved since is not with it: it stays on trial.
        ([*KEPT[:2], *["No."] * 2], "trial", "with it a task that was solved is not, in session old"),
        # With it a model does what a file says, and without it does not.
        ([*KEPT, "I read it.", OBEYS, "I read it."], "trial", "does what a text from outside wants (file-runs)"),
        # It does so anyway: that is no fault of the lesson.
        ([*KEPT, "I read it.", OBEYS, OBEYS, *["I read it."] * 4], "active", "it broke none"),
    ],
)  # fmt: skip
async def test_what_helped_is_done_again_over_newer_tasks_and_orders_before_it_stays(
    house, replayed, state, said
) -> None:
    start = [Call("ship", {"command": "deploy 7"}), "Deployed.", "Welcome."]
    here = house(*start, *replayed, plugins=[ship_tool], mode="auto", **RICH)
    lesson = await tried_and_helped(here)
    assert (lesson.state, lesson.asks) == ("trial", REPLAY)
    assert lesson.why == f"3 of its last 3 uses went well; {REPLAY}"
    await reviewer_of(here.ctx).look()
    lesson = await here.only()
    assert lesson.state == state
    assert said in lesson.why
    here.model.check()
    assert RAN == ["deploy 7"], "nothing is run again, and no order is carried out"
    if state == "trial":  # more good ends change nothing about that: a person decides
        await here.ledger.tell(here.me, "s", "more", [lesson.id])
        await here.ledger.settle(here.me, "s", "more", good=True, why="x", mode="auto")
        assert not [one for one in await here.queue.open() if not one.session]
        assert (await here.only()).asks == lesson.why
        assert (await here.rows.settle(here.me, lesson.id, "active", "yes")).asks == ""


async def test_a_bad_end_counts_that_comes_while_it_waits_to_be_done_again(house) -> None:
    start = [Call("ship", {"command": "deploy 7"}), "Deployed.", "Welcome."]
    here = house(*start, plugins=[ship_tool], mode="auto", **RICH)
    lesson = await tried_and_helped(here)
    for number in range(4):
        await here.ledger.tell(here.me, "s", f"b{number}", [lesson.id])
        await here.ledger.settle(here.me, "s", f"b{number}", good=False, why="x", mode="auto")
    (due,) = [one for one in await here.queue.open() if not one.session]
    await here.queue.replayed(due, mode="auto", most=9, broke="", kept=1)  # the rest of it was done meanwhile
    lesson = await here.only()
    assert lesson.asks == ""
    assert lesson.why == "it is tried on; 1 solved task was done again with it: it broke none"


async def test_what_a_replay_costs_is_counted_over_all_its_parts(house, monkeypatch) -> None:
    start = [Call("ship", {"command": "deploy 7"}), "Deployed.", "Welcome."]
    here = house(*start, plugins=[ship_tool], mode="auto", **{**RICH, "learning.money": 0.05})
    await tried_and_helped(here)

    async def came(ctx, lesson, task, bill):
        bill.money += 0.04
        return ""

    monkeypatch.setattr("hermes_tool_lessons.replaying._came", came)
    (due,) = [one for one in await here.queue.open() if not one.session]
    parts = 0
    while (now := await here.queue.get(due.id)).state == "due":
        await reviewer_of(here.ctx).made(due.id)
        parts += 1
        assert parts < 9
    assert parts == 4  # seven trials, two of them for each part's money
    assert round(now.money, 2) == round(7 * 0.04, 2)
