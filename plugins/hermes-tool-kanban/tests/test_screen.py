"""A board is worked with by keys: what is chosen, what is asked, what a key does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_tool_kanban import actions
from hermes_tool_kanban.actions import Door
from hermes_tool_kanban.commands.watching import drawn
from hermes_tool_kanban.picture import columns_of, picture
from hermes_tool_kanban.playing import store_of
from hermes_tool_kanban.screen import HELP, Screen, keys_of
from hermes_tool_kanban.values import STATUSES, Task


@pytest.fixture
def desk(hermes):
    hermes.tmp_plugin("hermes_tool_kanban")
    hermes.runtime.loader.load_contributing("services")
    ctx = hermes.context("hermes_tool_kanban")
    return Door(ctx, ctx.owner, written=True)


async def typed(desk, screen, keys):
    for key in keys:
        screen.show(await desk.rows.tasks.list((await desk.board()).id))
        await screen.key(key)
    screen.show(await desk.rows.tasks.list((await desk.board()).id))


def test_what_a_terminal_sends_is_taken_apart():
    assert keys_of("a\x1b[A\x1bOB\r\x7f\x1bé") == ["a", "up", "down", "enter", "delete", "escape", "é"]


@given(st.text(max_size=20))
def test_whatever_a_terminal_sends_is_taken(data):
    assert all(keys_of(data))


async def test_tasks_are_chosen_and_moved(desk):
    first, _ = await actions.create(desk, "First", priority=2)
    second, _ = await actions.create(desk, "Second")
    screen = Screen(desk)
    await typed(desk, screen, [])
    assert (screen.chosen, screen.line) == (first.id, HELP)
    await typed(desk, screen, ["down", "down", "b", *"Not yet", "delete", "t", "enter"])
    blocked = await desk.task(second.id)
    assert (blocked.status, blocked.error) == ("blocked", "Not yet")
    assert screen.said == f"{second.id} is blocked now."
    await typed(desk, screen, ["left"])
    assert screen.chosen == first.id
    await typed(desk, screen, ["right", "u", *"Go.", "enter", "c"])
    assert (await desk.task(second.id)).status == "done"
    assert [one.text for one in await store_of(desk.ctx).tasks.comments(second.id)] == ["Go."]
    await typed(desk, screen, ["a"])
    assert "not in review" in screen.said
    await typed(desk, screen, ["o", "x", "n"])
    assert (await desk.task(second.id)).status == "ready"
    await typed(desk, screen, ["x", "y"])
    assert (await desk.task(second.id)).status == "archived"
    assert screen.chosen == first.id
    await typed(desk, screen, ["b", "escape", "q"])
    assert screen.over
    assert (await desk.task(first.id)).status == "ready"


async def test_a_task_is_shown_and_the_board_again(desk, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("LINES", "20")
    await actions.create(desk, "First", body="All of it.")
    screen = Screen(desk)
    assert "ready 1" in (await drawn(desk, "", everything=False, screen=screen))[1]
    await typed(desk, screen, ["enter"])
    lines = await drawn(desk, "", everything=False, screen=screen)
    assert len(lines) == 20
    assert any("All of it." in line for line in lines)
    await typed(desk, screen, ["escape"])
    assert "ready 1" in (await drawn(desk, "", everything=False, screen=screen))[1]


async def test_an_empty_board_bears_every_key(desk):
    screen = Screen(desk)
    await typed(desk, screen, ["up", "enter", "b", "x", "p", "escape", "?", "j"])
    assert not screen.over


@given(
    many=st.lists(st.sampled_from(STATUSES), max_size=60), at=st.integers(0, 60), width=st.integers(20, 200),
    height=st.integers(10, 60),
)  # fmt: skip
def test_what_is_chosen_is_in_sight(many, at, width, height):
    tasks = [Task(id=f"t_{n:03}", board="b", person="p", title=f"Task {n}", status=s) for n, s in enumerate(many)]
    columns = columns_of(tasks)
    shown = [one for column in columns.values() for one in column]
    chosen = shown[at % len(shown)].id if shown else ""
    lines = picture(columns, width, height, chosen)
    assert not chosen or any(cell.task == chosen for line in lines for cell in line)
    assert all(sum(len(cell.text) + 1 for cell in line) <= max(width, 15) for line in lines)
