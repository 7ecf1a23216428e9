"""What was learned is taken back to the byte, rests where a person wants it, and goes where it must."""

import json
import sqlite3
from contextlib import closing

import pytest

from hermes_core.errors import UnknownName, UserError
from hermes_core.types import Principal
from hermes_tool_lessons.tables import content_of
from hermes_tool_lessons.values import Draft

BEN = Principal(person="ben")


async def proposed(house, text="Use `--iso`.", trigger="stratus deploy", owner=None, mode="auto", **more):
    draft = Draft(trigger=trigger, text=text, sources=["e"], **more)
    lesson, why = await house.rows.propose(owner or house.me, draft, mode=mode, most=2000, author="review")
    assert lesson, why
    return lesson


async def test_any_earlier_version_comes_back_to_the_byte(house) -> None:
    here = house()
    first = await proposed(here, text="Use  `--iso` für 날짜.", mode="ask")
    await here.rows.settle(here.me, first.id, "active", "yes")
    await here.rows.pin(here.me, first.id, pinned=True)
    await here.rows.settle(here.me, first.id, "retired", "no")
    before = await here.rows.versions(first.id)
    assert [json.loads(one.content)["state"] for one in before] == ["candidate", "active", "active", "retired"]
    for number in (1, 2, 3):
        back = await here.rows.revert(here.me, first.id, number)
        assert content_of(back) == before[number - 1].content
    assert [one.content for one in (await here.rows.versions(first.id))[:4]] == [one.content for one in before]
    with pytest.raises(UserError, match="has no version 99"):
        await here.rows.revert(here.me, first.id, 99)


async def test_all_lessons_come_back_as_they_were_at_a_change(house) -> None:
    here = house()
    kept = await proposed(here)
    at = await here.rows.rev()
    was = {one.id: content_of(one) for one in await here.rows.list(here.me)}
    await here.rows.settle(here.me, kept.id, "retired", "no")
    later = await proposed(here, text="Use `--other`.")
    his = await proposed(here, owner=BEN)
    await here.rows.restore(here.me, at)
    now = {one.id: one for one in await here.rows.list(here.me)}
    assert content_of(now[kept.id]) == was[kept.id]
    assert now[later.id].state == "retired"
    assert (await here.rows.list(BEN))[0].rev == his.rev, "nobody else's changed"


async def test_what_is_frozen_changes_by_nothing_that_happens(house) -> None:
    here = house(mode="auto")
    pinned, free = await proposed(here), await proposed(here, text="Use `--b`.", trigger="kesto sync")
    await here.rows.pin(here.me, pinned.id, pinned=True)
    for number in range(6):
        await here.ledger.tell(here.me, "s", f"t{number}", [pinned.id])
        await here.ledger.settle(here.me, "s", f"t{number}", good=False, why="x", mode="auto")
    await here.rows.freeze(here.me, on=True)
    for number in range(6):
        await here.ledger.tell(here.me, "s", f"u{number}", [free.id])
        await here.ledger.settle(here.me, "s", f"u{number}", good=True, why="x", mode="auto")
    assert {one.state for one in await here.lessons()} == {"trial"}
    assert (await proposed(here, text="Use `--c`.")).state == "candidate"


async def test_an_outcome_counts_once_however_often_it_is_told(house) -> None:
    here = house()
    lesson = await proposed(here)
    for _ in range(3):
        await here.ledger.tell(here.me, "s", "t", [lesson.id])
        await here.ledger.settle(here.me, "s", "t", good=True, why="x", mode="auto")
    one = await here.only()
    assert (one.offered, one.uses, one.wins) == (1, 1, 1)


async def test_the_proven_is_not_blamed_for_what_is_tried_beside_it(house) -> None:
    here = house()
    proven, tried = await proposed(here), await proposed(here, text="Use `--b`.", trigger="kesto sync")
    for number in range(5):
        await here.ledger.tell(here.me, "s", f"t{number}", [proven.id])
        await here.ledger.settle(here.me, "s", f"t{number}", good=True, why="x", mode="auto")
    await here.rows.replayed(proven.id, mode="auto", most=9, broke="", kept=1)
    await here.ledger.tell(here.me, "s", "last", [proven.id, tried.id])
    await here.ledger.settle(here.me, "s", "last", good=False, why="x", mode="auto")
    now = {one.id: (one.uses, one.wins) for one in await here.lessons()}
    assert now == {proven.id: (5, 5), tried.id: (1, 0)}


async def test_what_was_let_go_of_comes_back_by_a_person_only(house) -> None:
    here = house()
    lesson = await proposed(here)
    await here.rows.settle(here.me, lesson.id, "retired", "no")
    again, why = await here.rows.propose(
        here.me, Draft(trigger=lesson.trigger, text=lesson.text, sources=["f"]), mode="auto", most=9, author="review"
    )
    assert again is None
    assert "retired" in why
    assert (await here.rows.settle(here.me, lesson.id, "active", "yes")).state == "active"


async def test_there_are_never_more_than_may_be(house) -> None:
    here = house()
    for number in range(12):
        draft = Draft(trigger=f"service{number} deploy", text=f"Use `--x={number}`.", sources=["e"])
        await here.rows.propose(here.me, draft, mode="auto", most=5, author="review")
    states = [one.state for one in await here.lessons()]
    assert (states.count("trial"), states.count("candidate")) == (5, 5)


async def test_people_do_not_see_each_others_lessons_but_what_is_for_everybody(house) -> None:
    here = house("a", "b")
    await here.rows.propose(BEN, Draft(trigger="stratus", text="His."), mode="ask", most=9, author="person")
    with pytest.raises(UnknownName):
        await here.rows.find(here.me, (await here.rows.list(BEN))[0].id)
    from hermes_tool_kit.used import mark_used

    mark_used(here.ctx)
    assert await here.say("Deploy on stratus.") == "Deploy on stratus."
    draft = Draft(trigger="stratus", text="For all.", scope="everybody")
    await here.rows.propose(BEN, draft, mode="ask", most=9, author="person")
    assert "For all." in await here.say("Deploy on stratus.", "t")


async def test_a_lesson_of_a_project_is_told_in_it_and_below_only(house, tmp_path) -> None:
    from hermes_tool_lessons.shared import selector_of

    here = house()
    await here.rows.propose(
        here.me, Draft(trigger="stratus", text="Here.", scope="project", place="/work/a"), mode="ask", most=9,
        author="person",
    )  # fmt: skip
    for cwd, many in (("/work/a", 1), ("/work/a/b", 1), ("/work/ab", 0), ("/work", 0)):
        found = await selector_of(here.ctx).select(here.me, "stratus", {("project", cwd)}, 1600)
        assert len(found) == many, cwd


async def test_all_of_a_person_is_given_out_and_erased(house) -> None:
    here = house("Deployed.", "Again.")
    await proposed(here, text="Use `--mine`.")
    await proposed(here, owner=BEN, text="Use `--bens`.")
    await here.say("Deploy on stratus.")
    await here.say("No, wrong.")
    lines = [json.loads(line) for line in (await here.hermes.command("learned export")).splitlines()]
    assert {one["kept"] for one in lines} == {"lesson", "version", "event", "review"}
    await here.hermes.command("learned erase", "--yes")
    assert await here.hermes.command("learned export") == ""
    with closing(sqlite3.connect(here.hermes.runtime.home.root / "state.db")) as db:
        for table in ("lessons", "versions", "events", "reviews"):
            rows = db.execute(f"SELECT * FROM tool_lessons__{table} WHERE person <> 'ben'").fetchall()
            assert rows == [], table
    assert len(await here.rows.list(BEN)) == 1


async def test_what_was_learned_in_a_session_goes_with_it_where_no_byte_is_to_stay(house) -> None:
    here = house("a", "b")
    await here.say("Deploy.")
    await proposed(here, session="s")
    await here.ctx.sessions.delete(here.me, "s", erased=True)
    assert await here.lessons() == []


async def test_what_is_written_after_all_was_erased_is_told_where_one_looked_before(house) -> None:
    here = house("a", "b")
    for number in range(4):
        await here.hermes.command("learned add", f"Use `--v{number}`.", "--when", f"stratus deploy {number}")
    assert "--v1" in await here.say("stratus deploy 1")
    await here.hermes.command("learned erase", "--yes")
    await here.hermes.command("learned add", "Use `--new`.", "--when", "stratus deploy 1")
    assert "--new" in await here.say("stratus deploy 1", "t")


async def test_a_number_that_is_none_or_beyond_all_is_said_to_be(house) -> None:
    here = house("a")
    await here.say("Hello.")
    lesson = await proposed(here)
    for number in ("²", "x", "-1", "9" * 30):
        with pytest.raises(UserError, match="version"):
            await here.slash(f"/learned revert {lesson.id} {number}")
    with pytest.raises(UserError, match="has no version"):
        await here.hermes.command("learned revert", lesson.id, "9" * 30)
    assert "0 lessons changed" in await here.hermes.command("learned restore", "9" * 30, "--yes")


async def test_duplicates_add_their_sources_the_newer_settles_and_what_nothing_calls_for_fades(house) -> None:
    here = house("a")
    await here.say("Hello.")
    first = await proposed(here, mode="ask")
    again, why = await here.rows.propose(
        here.me, Draft(trigger="stratus  deploy", text="Use  `--iso`.", sources=["f"]), mode="ask", most=9,
        author="review",
    )  # fmt: skip
    assert (again, "there already" in why) == (None, True)
    assert list((await here.only()).sources) == ["e", "f"]
    await here.rows.settle(here.me, first.id, "active", "yes")
    newer = await proposed(here, text="Use `--zone`, `--iso` is gone.", replaces=first.id, mode="ask")
    assert (await here.rows.find(here.me, first.id)).state == "active", "both stand until a person says yes"
    await here.rows.settle(here.me, newer.id, "active", "yes")
    old = await here.rows.find(here.me, first.id)
    assert (old.state, old.why) == ("retired", f"{newer.id} took its place")
    assert "Use `--iso`." in await here.slash(f"/learned why {first.id}"), "the older can be asked for"
    assert await here.rows.tidy(here.me, (await here.queue.now()) - 60) == 0
    assert await here.rows.tidy(here.me, (await here.queue.now()) + 60) == 1
    assert (await here.rows.find(here.me, newer.id)).why == "nothing called for it for a long time"
