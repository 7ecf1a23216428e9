"""Where tasks may go, what they wait for, and who has them: every way that is not allowed is refused."""

import asyncio

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.errors import UnknownName, UserError
from hermes_tool_kanban.claims import Ending, Hands
from hermes_tool_kanban.values import ALIVE, MOVES, STATUSES, Options, Task, check_move

HANDS = Hands(holder="one", workers={"": 100, "coder": 100, "critic": 100}, parallel=100, place="here")


async def board(rows, person="owner"):
    return await rows.boards.take(person)


async def add(rows, title="A task", parents=(), **more):
    there = await board(rows)
    rows.now += 0.01  # of two made in one instant neither is the older
    task = Task(id="", board=there.id, person="owner", title=title, **more)
    return (await rows.tasks.add(task, parents))[0]


async def now(rows, task):
    return await rows.tasks.get(task.id, "owner")


async def claimed(rows, hands=HANDS):
    return {run.task: run for run in await rows.claims.claim(hands)}


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("other", STATUSES)
def test_a_task_goes_only_where_the_table_says(status, other):
    task = Task(id="t_1", board="b", person="owner", title="x", status=status)
    if other in MOVES[status]:
        check_move(task, other)
    else:
        with pytest.raises(UserError, match=f"cannot become {other}"):
            check_move(task, other)


async def test_a_task_waits_for_its_parents(rows):
    first = await add(rows)
    second = await add(rows, parents=[first.id])
    third = await add(rows, parents=[first.id, second.id])
    assert [one.status for one in (first, second, third)] == ["ready", "todo", "todo"]
    runs = await claimed(rows)
    assert set(runs) == {first.id}
    assert not await claimed(rows)
    await rows.claims.end(runs[first.id].id, Ending(outcome="completed", summary="Done."))
    assert [(await now(rows, one)).status for one in (first, second, third)] == ["done", "ready", "todo"]
    await rows.moves.complete(second, "By hand.")
    assert (await now(rows, third)).status == "ready"


async def test_what_waits_cannot_be_completed(rows):
    first = await add(rows)
    second = await add(rows, parents=[first.id])
    with pytest.raises(UserError, match=f"waits for {first.id}"):
        await rows.moves.complete(second)
    run = (await claimed(rows))[first.id]
    late = await add(rows, "Late")
    await rows.tasks.link(late.id, first.id, "owner")  # it is worked on, and waits by now
    with pytest.raises(UserError, match=f"waits for {late.id}"):
        await rows.claims.end(run.id, Ending(outcome="completed", summary="Done."))
    ended = await rows.claims.end(run.id, Ending(outcome="blocked", summary="It waits.", kind="dependency"))
    assert ended.status == "todo"


async def test_a_circle_is_refused(rows):
    first = await add(rows)
    second = await add(rows, parents=[first.id])
    third = await add(rows, parents=[second.id])
    for parent, child in ((third, first), (first, first), (second, first)):
        with pytest.raises(UserError, match="neither would ever begin"):
            await rows.tasks.link(parent.id, child.id, "owner")
    await rows.tasks.unlink(first.id, second.id, "owner")
    assert (await now(rows, second)).status == "ready"


async def test_a_link_takes_what_was_ready_back(rows):
    first, second = await add(rows), await add(rows)
    assert (await rows.tasks.link(first.id, second.id, "owner")).status == "todo"
    await rows.moves.archive(first)
    blocked = await now(rows, second)
    assert (blocked.status, blocked.kind) == ("blocked", "dependency")
    assert first.id in blocked.error
    await rows.tasks.unlink(first.id, second.id, "owner")
    assert (await rows.moves.unblock(blocked)).status == "ready"


async def test_what_was_done_and_archived_counts_as_done(rows):
    first = await add(rows)
    await rows.moves.archive(await rows.moves.complete(first, "Done."))
    assert (await add(rows, parents=[first.id])).status == "ready"
    assert (await rows.moves.reopen(await now(rows, first))).completed == 0


async def test_what_is_opened_again_is_waited_for_again(rows):
    first = await add(rows)
    second = await add(rows, parents=[first.id])
    done = await rows.moves.complete(first)
    await rows.moves.reopen(done)
    assert (await now(rows, second)).status == "todo"


async def test_the_same_mark_makes_one_task(rows):
    made = [await add(rows, mark="mail-17") for _ in range(3)]
    assert len({one.id for one in made}) == 1
    assert len({(await add(rows)).id for _ in range(3)}) == 3


async def test_nobody_sees_the_tasks_of_others(rows):
    task = await add(rows)
    for call in (rows.tasks.get(task.id, "ben"), rows.tasks.link(task.id, task.id, "ben")):
        with pytest.raises(UnknownName):
            await call


async def test_failures_in_a_row_end_with_a_person(rows):
    task = await add(rows, options=Options(deliver=("box:anna",)))
    run = (await claimed(rows))[task.id]
    failed = Ending(outcome="failed", error="No network.", limit=2)
    again = await rows.claims.end(run.id, failed)
    assert (again.status, again.failures) == ("ready", 1)
    await rows.claims.over(run.id)
    assert not await claimed(rows)  # it rests
    rows.now += 61
    second = (await claimed(rows))[task.id]
    assert second.id != run.id
    given_up = await rows.claims.end(second.id, failed)
    assert (given_up.status, given_up.kind) == ("blocked", "failures")
    [notice] = await rows.claims.owed()
    assert notice.text.startswith("gave_up\n")
    assert (await rows.moves.unblock(given_up)).failures == 0


async def test_a_review_says_yes_or_no(rows):
    task = await add(rows, assignee="coder", options=Options(reviewer="critic"))
    work = (await claimed(rows))[task.id]
    await rows.claims.end(work.id, Ending(outcome="completed", summary="Written."))
    assert (await now(rows, task)).status == "review"
    review = (await claimed(rows))[task.id]
    assert (review.role, review.worker) == ("review", "critic")
    again = await rows.claims.end(review.id, Ending(outcome="rejected", summary="A test is missing."))
    assert (again.status, again.rejections) == ("ready", 1)
    work = (await claimed(rows))[task.id]
    assert (work.role, work.worker) == ("work", "coder")
    await rows.claims.end(work.id, Ending(outcome="completed", summary="Tested."))
    review = (await claimed(rows))[task.id]
    done = await rows.claims.end(review.id, Ending(outcome="approved"))
    assert (done.status, done.result) == ("done", "Tested.")


async def test_rejections_end_with_a_person(rows):
    task = await add(rows, options=Options(reviewer="person"))
    for number in range(3):
        run = (await claimed(rows))[task.id]
        await rows.claims.end(run.id, Ending(outcome="completed", summary="Done."))
        assert not await claimed(rows)  # a person reviews it
        task = await rows.moves.reject(await now(rows, task), f"No {number}.")
    assert task.rejections == 3


async def test_a_person_takes_a_task_away(rows):
    task = await add(rows)
    run = (await claimed(rows))[task.id]
    await rows.moves.reclaim(await now(rows, task))
    assert await rows.claims.end(run.id, Ending(outcome="completed", summary="Late.")) is None
    [known] = await rows.claims.tend(HANDS)
    assert (known.state, known.outcome) == ("closing", "reclaimed")
    await rows.claims.over(run.id)
    assert not await rows.claims.tend(HANDS)
    again = (await claimed(rows))[task.id]
    assert again.id != run.id
    await rows.moves.block(await now(rows, task), "Wait.")
    assert (await rows.claims.get(again.id)).outcome == "withdrawn"


async def test_what_is_elsewhere_or_for_others_is_left_alone(rows):
    theirs = await add(rows, assignee="somebody")
    there = await add(rows, options=Options(workspace="folder", folder="/x", place="elsewhere"))
    here = await add(rows, options=Options(workspace="folder", folder="/x", place="here"))
    assert set(await claimed(rows)) == {here.id}
    elsewhere = evolve(HANDS, holder="two", place="elsewhere", workers={"somebody": 1, "": 1})
    assert set(await claimed(rows, elsewhere)) == {theirs.id, there.id}


async def test_no_more_are_claimed_than_there_are_hands(rows):
    for _ in range(5):
        await add(rows, assignee="coder")
    for _ in range(5):
        await add(rows)
    few = Hands(holder="one", workers={"": 9, "coder": 2}, parallel=4)
    runs = await rows.claims.claim(few)
    assert sorted(run.worker for run in runs) == ["", "", "coder", "coder"]
    assert not await rows.claims.claim(few)
    assert len(await rows.claims.claim(few, [runs[0].id])) == 1  # that one waits for a person
    await rows.claims.end(runs[1].id, Ending(outcome="completed", summary="Done."))
    assert not await rows.claims.claim(few, [runs[0].id])  # it has said how it ended, and its turn is not over
    await rows.claims.over(runs[1].id)
    assert len(await rows.claims.claim(few, [runs[0].id])) == 1


async def test_the_most_urgent_comes_first(rows):
    low, usual, high = await add(rows, priority=-1), await add(rows), await add(rows, priority=5)
    order = []
    for _ in range(3):
        [run] = await rows.claims.claim(evolve(HANDS, parallel=len(order) + 1))
        order.append(run.task)
    assert order == [high.id, usual.id, low.id]


async def test_many_that_nobody_here_can_take_hide_none(rows, monkeypatch):
    monkeypatch.setattr("hermes_tool_kanban.claims._CANDIDATES", 3)
    for _ in range(7):
        await add(rows, assignee="stranger", priority=9)
    mine = [(await add(rows)).id for _ in range(7)]
    assert sorted(await claimed(rows)) == sorted(mine)


async def test_claims_of_the_dead_are_taken_over(rows):
    task = await add(rows)
    run = (await claimed(rows))[task.id]
    other = evolve(HANDS, holder="two")
    assert not await rows.claims.tend(other)  # who holds it lives
    await rows.claims.leave("one")
    [taken] = await rows.claims.tend(other)
    assert (taken.id, taken.holder, taken.taken) == (run.id, "two", 1)
    assert (await now(rows, task)).claims == 1


async def test_what_nobody_here_can_go_on_with_goes_back(rows):
    task = await add(rows, assignee="stranger")
    elsewhere = Hands(holder="far", workers={"stranger": 1}, parallel=1, place="far")
    run = (await claimed(rows, elsewhere))[task.id]
    await rows.claims.leave("far")
    assert not await rows.claims.tend(HANDS)
    assert (await now(rows, task)).status == "running"
    rows.now += 901
    await rows.claims.tend(HANDS)
    assert (await now(rows, task)).status == "ready"
    [known] = await rows.claims.tend(HANDS)
    assert (known.id, known.outcome) == (run.id, "reclaimed")


async def test_claims_of_another_profile_are_not_gone_on_with(rows):
    """Its sessions are not those of this one."""
    task = await add(rows)
    other = evolve(HANDS, holder="far", profile="other")
    run = (await claimed(rows, other))[task.id]
    await rows.claims.leave("far")
    assert not await rows.claims.tend(HANDS)
    rows.now += 901
    for _ in range(2):
        assert not await rows.claims.tend(HANDS)
    assert (await rows.claims.get(run.id)).state == "over"
    assert set(await claimed(rows)) == {task.id}


async def test_what_was_scheduled_begins_at_its_time(rows):
    task = await rows.moves.schedule(await add(rows), rows.now + 100)
    await rows.claims.tend(HANDS)
    assert not await claimed(rows)
    rows.now += 101
    await rows.claims.tend(HANDS)
    assert set(await claimed(rows)) == {task.id}


async def raced(one, two, many=40):
    for number in range(many):
        await add(one, f"Task {number}")
    found: list[str] = []

    async def take(rows, holder):
        hands = Hands(holder=holder, workers={"": 1000}, parallel=1000)
        for step in range(1, many + 1):
            found.extend(run.task for run in await rows.claims.claim(evolve(hands, parallel=step)))

    await asyncio.gather(take(one, "one"), take(two, "two"))
    assert len(found) == len(set(found)) == many


async def test_two_dispatchers_claim_each_task_once(opened):
    await raced(opened(), opened())


@pytest.mark.real
async def test_two_dispatchers_on_a_server_claim_each_task_once(served):
    await raced(served(), served())


VERBS = ("add", "child", "link", "claim", "complete", "block", "wait", "fail", "reject", "approve", "archive", "reopen",
         "unblock", "done", "reclaim", "promote", "triage", "schedule", "tend", "take", "release")  # fmt: skip


@given(steps=st.lists(st.tuples(st.sampled_from(VERBS), st.integers(0, 7), st.integers(0, 7)), max_size=30))
def test_whatever_is_done_in_whatever_order_the_board_is_sound(steps, tmp_path_factory):
    asyncio.run(_played(steps, tmp_path_factory.mktemp("board")))


async def _played(steps, folder):
    from hermes_core.store.file_database import FileDatabase
    from hermes_core.store.migrate import to_head

    from .conftest import Rows

    database = FileDatabase(folder / "state.db")
    try:
        to_head(database)
        rows, made = Rows(database), list[str]()
        for verb, first, second in steps:
            before = {one.id: one.status for one in await rows.tasks.list((await board(rows)).id, archived=True)}
            try:
                await _step(rows, made, verb, first, second)
            except UserError:  # refused, and nothing happened
                after = {one.id: one.status for one in await rows.tasks.list((await board(rows)).id, archived=True)}
                assert after == before
            rows.now += 30
            await _judge(rows, before)
    finally:
        database.close()


async def _step(rows, made, verb, first, second):
    if verb == "add" or not made:
        reviewer = "critic" if first % 2 else ""
        made.append((await add(rows, options=Options(reviewer=reviewer))).id)
        return
    task = await rows.tasks.get(made[first % len(made)], "owner")
    other = made[second % len(made)]
    if verb == "child":
        made.append((await add(rows, parents=[task.id])).id)
    elif verb == "link":
        await rows.tasks.link(task.id, other, "owner")
    elif verb == "claim":
        await rows.claims.claim(HANDS)
    elif verb == "tend":
        await rows.claims.tend(HANDS)
    elif verb == "take":
        await rows.claims.take(task, "owner")
    elif verb == "release":
        await rows.claims.release(task)
    elif verb == "schedule":
        await rows.moves.schedule(task, rows.now + 45)
    elif verb in ("complete", "wait", "fail", "reject", "approve"):
        await _ended(rows, task, verb)
    else:
        ways = {"done": rows.moves.complete}
        more = {"block": ("why",), "done": ()}.get(verb, ())
        await (ways.get(verb) or getattr(rows.moves, verb))(task, *more)


async def _ended(rows, task, verb):
    if not task.run:
        raise UserError("nobody has it")
    role = (await rows.claims.get(task.run)).role
    outcome = {"wait": "blocked", "complete": "completed", "fail": "failed", "reject": "rejected"}.get(verb, "approved")
    if (role == "review") != (outcome in ("rejected", "approved")) and outcome != "failed":
        raise UserError("not its role")
    await rows.claims.end(task.run, Ending(outcome=outcome, summary="x", error="y", kind="dependency"))


async def _judge(rows, before):
    there = {one.id: one for one in await rows.tasks.list((await board(rows)).id, archived=True)}
    waits: dict[str, list[str]] = {}
    for parent, child in await rows.tasks.links((await board(rows)).id):
        waits.setdefault(child, []).append(parent)
    for task in there.values():
        was = before.get(task.id)
        assert was in (None, task.status) or task.status in MOVES[was] or was == "scheduled", (was, task.status)
        runs = [one for one in await rows.tasks.runs(task.id) if one.state == "open"]
        assert [one.id for one in runs] == ([task.run] if task.run else [])
        assert (task.status == "running") == (bool(runs) and runs[0].role == "work")
        assert not runs or runs[0].state in ALIVE
        if task.status == "ready":
            assert all(there[parent].completed for parent in waits.get(task.id, ()))
        if task.status == "todo":
            assert any(not there[parent].completed for parent in waits.get(task.id, ()))
        assert bool(task.completed) or task.status != "done"
        if task.status == "done" and was != "done":
            assert all(there[parent].completed for parent in waits.get(task.id, ()))


async def test_what_a_person_claims_no_worker_takes_up_however_long_it_takes(rows):
    task, other = await add(rows), await add(rows, assignee="coder")
    mine = await rows.claims.take(task, "owner")
    assert (mine.status, mine.run) == ("running", f"{task.id}/1")
    for taker in (rows.claims.take(mine, "ben"), rows.moves.assign(mine, "coder")):
        with pytest.raises(UserError, match="works on"):
            await taker
    rows.now += 10 * 86_400
    for holder in ("one", "two"):  # of no process, so nobody takes it over from the dead
        assert task.id not in {run.task for run in await rows.claims.tend(evolve(HANDS, holder=holder))}
    assert set(await claimed(rows)) == {other.id}
    assert (await now(rows, task)).status == "running"
    [run] = await rows.tasks.runs(task.id)
    assert (run.state, run.worker) == ("open", "owner")
    done = await rows.moves.complete(mine, "By hand.")
    assert (done.status, done.result, done.run) == ("done", "By hand.", "")
    [run] = await rows.tasks.runs(task.id)
    assert (run.state, run.outcome) == ("over", "by hand")
    assert run.ended


async def test_what_a_person_gives_back_is_taken_up_by_a_worker(rows):
    task = await add(rows)
    await rows.claims.take(task, "owner")
    assert (await rows.claims.release(task)).status == "ready"
    assert [run.outcome for run in await rows.tasks.runs(task.id)] == ["released"]
    assert set(await claimed(rows)) == {task.id}
    for wrong in (rows.claims.release(task), rows.claims.take(task, "owner")):
        with pytest.raises(UserError, match="works on"):
            await wrong
    assert [run.id for run in await rows.tasks.runs(task.id)] == [f"{task.id}/2", f"{task.id}/1"]


@pytest.mark.parametrize("status", [one for one in STATUSES if one not in ("ready", "running")])
async def test_only_what_is_ready_is_claimed_by_hand(rows, status):
    parent = await add(rows)
    task = await add(rows, parents=[parent.id])
    if status != "todo":
        await rows.database_status(task, status)
        task = await now(rows, task)
    for wrong in (rows.claims.take(task, "owner"), rows.claims.release(task)):
        with pytest.raises(UserError):
            await wrong
    assert (await now(rows, task)).status == status
    assert await rows.tasks.runs(task.id) == []
