"""The board that a full screen shows: what it says of tasks, and what keys and moves do to them."""

import pytest

from hermes_core.errors import HermesError, UserError
from hermes_tool_kanban import actions
from hermes_tool_kanban.actions import Door
from hermes_tool_kanban.keys import goes
from hermes_tool_kanban.values import STATUSES, Options, Task
from hermes_tool_kit.screens import screens, screens_of
from hermes_tool_kit.screens_contract import ScreensContract


@pytest.fixture
def desk(hermes):
    hermes.tmp_plugin("hermes_tool_kanban")
    hermes.runtime.loader.load_contributing("services")
    ctx = hermes.context("hermes_tool_kanban")
    return Door(ctx, ctx.owner, written=True)


@pytest.fixture
def board(desk):
    (screen,) = screens_of(desk.ctx, "kanban")
    return screen


class TestBoard(ScreensContract):
    @pytest.fixture
    async def service(self, desk, hermes):
        first, _ = await actions.create(desk, "First")
        await actions.create(desk, "Second", parents=[first.id])
        found, _ = desk.ctx.host.contributed("services", ["kanban"])
        return found["kanban"]


def cards(picture):
    return {column.id: [card.title for card in column.cards] for column in picture.columns if column.cards}


async def test_it_is_found_by_the_name_of_its_service(desk):
    assert [one.name for one in screens(desk.ctx)["kanban"]] == ["board"]
    assert screens_of(desk.ctx, "nothing") == ()


async def test_it_goes_with_what_others_do(desk, board):
    assert cards(await board.picture()) == {}
    task, _ = await actions.create(desk, "First", assignee="coder")
    picture = await board.picture()
    assert cards(picture) == {"ready": ["First"]}
    assert "Nobody works on tasks now" in picture.note
    await desk.rows.moves.block(task, "why")
    assert cards(await board.picture()) == {"blocked": ["First"]}
    assert "why" in next(card.note for column in (await board.picture()).columns for card in column.cards)


async def test_what_nobody_changed_is_not_read_again(desk, board):
    await desk.rows.moves.block((await actions.create(desk, "First"))[0], "why")
    first = await board.picture()
    assert await board.picture() is first
    await actions.comment(desk, *[(await desk.rows.tasks.list((await desk.board()).id))[0]], "A remark.")
    await actions.create(desk, "Second", status="triage")
    assert await board.picture() is not first


async def test_a_card_is_moved_where_it_may_go(desk, board):
    task, _ = await actions.create(desk, "First")
    for column, status in (("triage", "triage"), ("ready", "ready"), ("blocked", "blocked"), ("ready", "ready"),
                           ("running", "running"), ("ready", "ready"), ("done", "done"),
                           ("ready", "ready"), ("running", "running"), ("done", "done")):  # fmt: skip
        assert await board.move(task.id, column) == f"{task.id} is {status} now."
        assert (await desk.task(task.id)).status == status
    with pytest.raises(UserError, match="not moved to review by hand"):
        await board.move(task.id, "review")


async def test_what_waits_for_another_is_not_called_done(desk, board):
    first, _ = await actions.create(desk, "First")
    child, _ = await actions.create(desk, "Child", parents=[first.id])
    with pytest.raises(UserError, match="waits for"):
        await board.move(child.id, "done")
    assert (await desk.task(child.id)).status == "todo"


async def test_an_answer_to_what_is_not_blocked_leaves_no_remark(desk, board):
    task, _ = await actions.create(desk, "First")
    with pytest.raises(UserError, match="not blocked"):
        await board.press("u", task.id, "Yes.")
    assert await desk.rows.tasks.comments(task.id) == []
    await board.press("b", task.id, "Which one?")
    assert await board.press("u", task.id, "The second.") == f"{task.id} is ready now."
    assert "The second." in await board.about(task.id)


async def test_what_is_another_persons_is_not_touched(desk, board, hermes):
    from attrs import evolve

    other = Door(desk.ctx, evolve(desk.owner, person="ben"), written=True)
    theirs, _ = await desk.rows.tasks.add(
        Task(id="", board=(await other.board()).id, person="ben", title="Theirs", maker="ben", options=Options())
    )
    assert cards(await board.picture()) == {}
    for doing in (board.press("c", theirs.id), board.move(theirs.id, "done"), board.about(theirs.id)):
        with pytest.raises(HermesError):
            await doing


@pytest.mark.parametrize("status", STATUSES)
def test_nothing_is_moved_by_hand_against_the_rules(status):
    from hermes_tool_kanban.values import MOVES

    ways = goes(Task(id="t", board="b", person="p", title="T", status=status))
    assert set(ways) <= MOVES[status] - {"review", "archived", "scheduled"}
