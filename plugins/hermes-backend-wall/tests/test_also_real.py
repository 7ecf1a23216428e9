"""Folders of others beside a workspace: reached as they were given, and nothing around them."""

import asyncio
import shutil

import pytest

from hermes_backend_local.workspace import Here
from hermes_backend_wall.walled import Walled
from hermes_core.errors import HermesError
from hermes_core.types import ExecRequest, Folder

pytestmark = pytest.mark.real
SECRET = "PRIVATE-4c1f9"


@pytest.fixture
def theirs(person):
    """A folder of Ben's, below the home of Hermes, with his other things around it."""
    folder = person / ".hermes" / "people" / "ben" / "work" / "notes"
    folder.mkdir(parents=True)
    (folder / "a.txt").write_text("Ben's words.")
    (folder.parent / "diary.txt").write_text(SECRET)
    return folder


@pytest.fixture
async def opened(folder, plan):
    """Opens the workspace with further folders; each is closed in the end."""
    places = []

    def made(*also):
        places.append(Here(str(folder), walled=Walled(str(folder), plan, also)))
        return places[-1]

    yield made
    for place in places:
        await place.close()


async def bash(place, script):
    result = await place.run(ExecRequest(argv=("bash", "-c", script), seconds=50.0))
    return result.status, result.output.decode(errors="replace")


async def test_what_lies_around_it_stays_closed(opened, theirs, person):
    place = opened(Folder(str(theirs), writes=True))
    assert await bash(place, f"cat {theirs}/a.txt") == (0, "Ben's words.")
    (theirs / "link").symlink_to(theirs.parent)
    (theirs / "key").symlink_to(person / ".hermes" / ".env")
    tries = ("../diary.txt", "link/diary.txt", "key", "../../../../.env", "../../../..")
    for path in tries:
        _, said = await bash(place, f"cd {theirs}; cat {path} 2>&1; ls -a {path}; ln {path} hard; cat hard")
        assert SECRET not in said, path
    _, said = await bash(place, f"mv {theirs} {theirs}2; mkdir {theirs.parent}/new; echo x >{theirs.parent}/x; true")
    assert sorted(one.name for one in theirs.parent.iterdir()) == ["diary.txt", "notes"]


@pytest.mark.parametrize("writes", [False, True])
async def test_one_that_is_a_link_by_now_is_not_shown(opened, theirs, writes):
    place = opened(Folder(str(theirs), writes=writes))
    shutil.move(theirs, theirs.parent / "away")
    theirs.symlink_to(theirs.parent)  # between the look at who has what and the making of the wall
    try:
        _, said = await bash(place, f"cat {theirs}/diary.txt {theirs}/away/a.txt; echo x >{theirs}/x")
    except HermesError as error:  # nothing ran
        said = error.text
    assert SECRET not in said
    assert "Ben's words" not in said
    assert not (theirs.parent / "x").exists()


async def test_what_runs_by_itself_is_put_back_also_behind_a_command_that_lives_on(opened, theirs):
    (theirs / ".git" / "hooks").mkdir(parents=True)
    (theirs / ".git" / "config").write_text("[core]\n\tbare = false\n")
    place = opened(Folder(str(theirs), writes=True))
    script = "echo x >.envrc; mkdir -p .vscode; echo x >.vscode/tasks.json; echo x >.git/hooks/pre-commit"
    _, said = await bash(place, f"cd {theirs}; {script}; git config core.fsmonitor 'touch /tmp/x'; echo kept >b.txt")
    assert "put back" in said
    process = await place.start(ExecRequest(argv=("bash", "-c", f"cd {theirs}; sleep 1; echo x >CLAUDE.md; sleep 60")))
    async with asyncio.timeout(30):
        while not (theirs / "CLAUDE.md").exists():
            await asyncio.sleep(0.05)
    await process.kill()
    await place.close()
    left = {str(one.relative_to(theirs)) for one in theirs.rglob("*") if one.is_file()}
    assert left == {"a.txt", "b.txt", ".git/config"}
    assert "fsmonitor" not in (theirs / ".git" / "config").read_text()


async def test_two_at_once_go_by_what_stood_before_both(opened, theirs):
    first, second = (opened(Folder(str(theirs), writes=True)) for _ in range(2))
    first._walled.protected.begin()  # a command of the one runs on
    (theirs / ".envrc").write_text("x")
    assert (await bash(second, f"cat {theirs}/a.txt"))[0] == 0
    assert not (theirs / ".envrc").exists()
    first._walled.protected.end()
