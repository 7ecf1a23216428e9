"""Honest work, nobody there: it is done behind each wall, in a folder that is known, and nothing asks.

A scripted model runs the commands of a task through the tool ``terminal``; a command that is refused, asks, or does not
end well fails the task.
"""

import os
import pwd
import shutil
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from tasks import TASKS, Task, reached

from hermes_backend_wall import landlock
from hermes_core.testing import Call
from hermes_core.testing.bench import Bench
from hermes_core.types import Asked, Ended, Returned, Text
from hermes_tool_kit.provenance.ledger import Ledger

PLUGINS = ("tool_guard", "tool_terminal", "tool_provenance", "backend_local")
FEW = 10  # every how many-th task is in the default suite, of those that need no net
TOOLCHAINS = (".cargo/bin", ".rustup")
SECONDS = 120

known = cache(reached)


def given() -> list[Any]:
    """Every task behind every wall; all but few want a machine that has what they need."""
    quick = {task.name for task in [task for task in TASKS if not task.net][::FEW]}
    return [
        pytest.param(wall, task, marks=[] if task.name in quick else [pytest.mark.real], id=f"{wall}: {task.name}")
        for wall in ("bubblewrap", "landlock")
        for task in TASKS
    ]


@pytest.fixture
def person(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A person's home with a project in it, and their tools."""
    there = Path(pwd.getpwuid(os.getuid()).pw_dir)  # the suite has a home of its own
    with TemporaryDirectory(prefix="hermes-honest-", dir="/var/tmp") as folder:
        home = Path(folder)
        for name in TOOLCHAINS:
            if (there / name).is_dir():
                (home / name).parent.mkdir(exist_ok=True)
                (home / name).symlink_to(there / name)
        (home / ".gitconfig").write_text("[user]\n\tname = Ann\n\temail = ann@example.org\n")
        monkeypatch.setenv("HOME", folder)
        own = (
            f"{sys.base_prefix}/bin",
            f"{folder}/.cargo/bin",
            "/usr/local/bin",
            "/usr/bin",
            "/bin",
            f"{sys.prefix}/bin",
        )
        monkeypatch.setenv("PATH", ":".join(own))
        for name in [name for name in os.environ if name.startswith(("GIT_", "PIP_", "npm_", "CARGO", "RUSTUP"))]:
            monkeypatch.delenv(name)
        monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # those of this suite are no part of the project
        yield home


async def played(task: Task, wall: str, home: Path, scripted: Callable[..., Any]) -> list[str]:
    """What stood in the way, a line each."""
    project, stopped = home / "project", []
    project.mkdir()
    task.lay(project)
    hermes = Bench(home / ".hermes")
    for plugin in PLUGINS:
        hermes.tmp_plugin(f"hermes_{plugin}")
    steps = [Call("terminal", {"command": step, "timeout": SECONDS}) for step in task.steps]
    hermes.tmp_plugin(scripted(*steps, "Done."))
    hermes.configure({"terminal.backend": "local", "terminal.cwd": str(project), "backends.local.wall": wall})
    ledger = Ledger(home / ".hermes")
    ledger.trust(project)
    said = ""
    try:
        async for event in hermes.turn(f"Please: {task.name}."):
            if isinstance(event, Asked):
                stopped.append(f"asked: {event.question.subject}")
            if isinstance(event, Returned):
                said = "".join(part.text for part in event.result.parts if isinstance(part, Text))
                if event.result.failed or any(line.startswith(("exit ", "[wall ")) for line in said.splitlines()):
                    stopped.append(f"{event.call.arguments['command']}\n{said}")
            if isinstance(event, Ended) and event.reason != "done":
                stopped.append(f"the turn ended: {event.reason}")
    finally:
        await hermes.close()
        ledger.close()
    if task.shows not in said:
        stopped.append(f"the last said: {said}")
    return stopped


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("wall", "task"), given())
async def test_it_is_done_and_nothing_asks(wall: str, task: Task, person: Path, scripted: Callable[..., Any]) -> None:
    if not (landlock.version() if wall == "landlock" else shutil.which("bwrap")):
        pytest.skip(f"no {wall} here")
    if lacking := task.missing(os.environ["PATH"]):
        pytest.skip(f"this machine does not claim {', '.join(lacking)}")
    if task.net and not known(task.net):
        pytest.skip(f"this machine does not claim {task.net}")
    stopped = await played(task, wall, person, scripted)
    assert not stopped, "\n".join(stopped)


async def test_a_question_would_be_seen(person: Path, scripted: Callable[..., Any]) -> None:
    """Else that nothing asks proves nothing."""
    wall = "landlock" if landlock.version() else "bubblewrap"
    stopped = await played(Task("leave", {}, ["touch ~/x", "rm -rf *"]), wall, person, scripted)
    assert len(stopped) == 1
    assert "Nobody is here to ask" in stopped[0]


def test_there_are_sixty_and_each_is_work_of_its_own() -> None:
    assert len(TASKS) >= 60
    assert len({task.name for task in TASKS}) == len({tuple(task.steps) for task in TASKS}) == len(TASKS)
