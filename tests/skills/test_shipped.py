"""Every skill that ships is worth opening: its task is done well by who follows it, and not by who does not."""

import contextlib
from pathlib import Path

import pytest

from .tasks import TASKS
from .worker import SHIPPED, Task, opened, place, without, work

pytestmark = [pytest.mark.real, pytest.mark.timeout(180)]
NAMES = [task.skill for task in TASKS]
PARTS = [(task, number) for task in TASKS for number in range(len(task.steps))]


async def done(task: Task, tmp_path: Path, text: str) -> tuple[Path, list[str]]:
    """The folder after the worker's work, and what it did."""
    folder = tmp_path / "work"
    folder.mkdir()
    task.files(folder)
    workspace = await place(tmp_path / "home", folder)
    assert workspace.wall.name != "none", "there is no wall here: this machine does not claim one"
    try:
        return folder, await work(workspace, text, task.steps)
    finally:
        await workspace.close()


@pytest.mark.parametrize("task", TASKS, ids=NAMES)
async def test_who_follows_the_skill_does_the_task(task: Task, tmp_path: Path) -> None:
    folder, told = await done(task, tmp_path, opened(tmp_path / "home", task.skill))
    try:
        task.check(folder)
    except (AssertionError, OSError, KeyError) as error:
        pytest.fail(f"{error!r}\n" + "\n".join(told))


@pytest.mark.long
@pytest.mark.parametrize(("task", "left"), PARTS, ids=[f"{task.skill}-{number + 1}" for task, number in PARTS])
async def test_who_leaves_a_step_out_does_not(task: Task, left: int, tmp_path: Path) -> None:
    """Each step that the text gives matters: without its lines the usual thing is done, and the check sees it."""
    folder, told = await done(task, tmp_path, without(opened(tmp_path / "home", task.skill), task.steps[left]))
    with contextlib.suppress(Exception):
        task.check(folder)
        pytest.fail("the task is done without the step\n" + "\n".join(told), pytrace=False)


def test_each_that_ships_has_a_task_and_there_are_at_least_25() -> None:
    shipped = {path.name for path in SHIPPED.iterdir()}
    assert set(NAMES) == shipped
    assert len(set(NAMES)) == len(NAMES) >= 25
