"""What runs by itself is put back, and told."""

import asyncio
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from hermes_backend_local.workspace import Here
from hermes_backend_wall.walled import Walled
from hermes_core.types import ExecRequest

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]


def git(folder, *words):
    settings = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *settings, *words], cwd=folder, check=True, capture_output=True)


async def test_a_command_that_writes_gits_settings_gains_nothing(bash, folder):
    """iconv is in every list of programs that only look; git status would run what it wrote."""
    git(folder, "init")
    before = (folder / ".git/config").read_bytes()
    (folder / "notes.cfg").write_text('[core]\n\trepositoryformatversion = 0\n\tfsmonitor = "touch pwned"\n')
    _, said = await bash("iconv -f utf8 -t utf8 -o .git/config notes.cfg")
    assert (folder / ".git/config").read_bytes() == before
    assert ".git/config" in said
    assert "core.fsmonitor" in said
    git(folder, "status")
    assert not (folder / "pwned").exists()


async def test_settings_of_a_repository_that_is_made_lose_what_runs(bash, folder):
    _, said = await bash("git init -q . && git config core.fsmonitor 'touch pwned' && git config user.name Ben")
    text = (folder / ".git/config").read_text()
    assert "fsmonitor" not in text
    assert "Ben" in text
    assert "core.fsmonitor" in said


@pytest.mark.parametrize(
    "path",
    ["AGENTS.md", ".claude/settings.json", ".vscode/tasks.json", ".github/workflows/x.yml", ".envrc", ".npmrc"],
)
async def test_a_new_file_is_taken_out_and_a_changed_one_is_as_before(bash, folder, path):
    folder.joinpath(path).parent.mkdir(parents=True, exist_ok=True)
    _, said = await bash(f"echo evil >{path}")
    assert not (folder / path).exists()
    assert path in said
    kept = said.split("kept as ")[1].split(")")[0]
    assert Path(kept).read_text() == "evil\n"
    (folder / path).write_text("mine")
    (folder / path).chmod(0o640)
    _, said = await bash(f"rm {path}; ln -s /etc/passwd {path}")
    assert (folder / path).read_text() == "mine"
    assert (folder / path).stat().st_mode & 0o777 == 0o640
    _, said = await bash("true")
    assert said == ""


async def test_hooks_of_git(bash, folder):
    git(folder, "init")
    _, said = await bash("echo 'touch pwned' >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit")
    assert not (folder / ".git/hooks/pre-commit").exists()
    assert "hooks" in said


async def test_git_that_is_led_elsewhere(bash, folder):
    _, said = await bash("git init -q evil && echo 'gitdir: evil/.git' >.git")
    assert not (folder / ".git").exists()
    assert ".git (kept as" in said


async def test_what_git_brings_from_its_history_stays(bash, folder):
    git(folder, "init")
    (folder / "AGENTS.md").write_text("one\n")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "one")
    (folder / "AGENTS.md").write_text("two\n")
    git(folder, "commit", "-am", "two")
    status, said = await bash("git checkout -q HEAD~1 && cat AGENTS.md")
    assert (status, said) == (0, "one\n")
    assert (folder / "AGENTS.md").read_text() == "one\n"


async def test_what_a_background_command_changed_is_put_back_too(here, folder):
    process = await here.start(ExecRequest(argv=("bash", "-c", "echo evil >AGENTS.md; sleep 0.2")))
    while await process.poll() is None:
        pass
    assert not (folder / "AGENTS.md").exists()
    assert b"AGENTS.md" in await process.read()


async def test_what_the_person_and_the_file_tools_write_stays(here, bash, folder):
    (folder / "AGENTS.md").write_text("mine")
    await bash("true")
    (folder / "AGENTS.md").write_text("mine too")
    assert (await bash("cat AGENTS.md")) == (0, "mine too")
    process = await here.start(ExecRequest(argv=("sleep", "30")))
    await here.write("AGENTS.md", b"asked for")
    await bash("true")
    await process.kill()
    assert (folder / "AGENTS.md").read_text() == "asked for"


async def test_two_sessions_in_one_folder_hide_nothing_from_each_other(here, folder, plan):
    """The one began while what the other's command had written stood there, and took it for the person's."""
    (folder / "AGENTS.md").write_text("mine")
    other = Here(str(folder), walled=Walled(str(folder), plan))
    script = "echo evil >AGENTS.md; touch told; while ! [ -e go ]; do sleep 0.02; done"
    writes = asyncio.create_task(here.run(ExecRequest(argv=("bash", "-c", script))))
    while not (folder / "told").exists():
        await asyncio.sleep(0.02)
    looks = asyncio.create_task(other.run(ExecRequest(argv=("bash", "-c", "touch go; sleep 1"))))
    assert b"AGENTS.md" in (await writes).output
    assert (await looks).status == 0
    await other.close()
    assert (folder / "AGENTS.md").read_text() == "mine"


@pytest.mark.parametrize("killed", [False, True])
@pytest.mark.parametrize("inner", ["", "sub"])
async def test_two_processes_of_hermes_hide_nothing_from_each_other(here, folder, plan, kind, inner, killed):
    """Also where the folder of the one lies in the other's, and where one of them is killed."""
    place = folder / inner
    place.mkdir(exist_ok=True)
    (place / "AGENTS.md").write_text("mine")
    script = f"""
        import asyncio
        from pathlib import Path
        from hermes_backend_local.workspace import Here
        from hermes_backend_wall.plan import Plan
        from hermes_backend_wall.walled import Walled
        from hermes_core.types import ExecRequest
        async def main():
            plan = Plan(kind={kind!r}, homes=Path({str(plan.homes)!r}))
            place = Here({str(place)!r}, walled=Walled({str(place)!r}, plan))
            script = "echo evil >AGENTS.md; touch told; while ! [ -e go ]; do sleep 0.02; done"
            await place.run(ExecRequest(argv=("bash", "-c", script)))
            await place.close()
        asyncio.run(main())
    """
    hermes = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)])  # noqa: ASYNC220
    try:
        while not (place / "told").exists():
            await asyncio.sleep(0.02)
        assert (place / "AGENTS.md").read_text() == "evil\n"
        process = await here.start(ExecRequest(argv=("sleep", "60")))
        if killed:
            hermes.kill()
        else:
            (place / "go").touch()
        await asyncio.to_thread(hermes.wait)
        await process.kill()
    finally:
        hermes.kill()
        hermes.wait()
    await here.run(ExecRequest(argv=("true",)))
    await here.close()
    assert (place / "AGENTS.md").read_text() == "mine"


BELOW = ["AGENTS.md", ".envrc", ".npmrc", ".vscode/tasks.json", ".claude/settings.json", "CLAUDE.md", ".mcp.json"]


@pytest.mark.parametrize("path", BELOW)
async def test_the_same_names_below_the_top(bash, folder, path):
    """Who goes there, or opens it, obeys them as well."""
    there = folder / "packages/one" / path
    there.parent.mkdir(parents=True)
    status, said = await bash(f"echo evil >packages/one/{path}; mkdir -p $(dirname new/{path}); echo x >new/{path}")
    assert status == 0
    assert not there.exists()
    assert not (folder / "new" / path).exists()
    assert f"packages/one/{path}" in said
    there.write_text("mine")
    assert (await bash("true"))[1] == ""
    await bash(f"rm packages/one/{path}")
    assert there.read_text() == "mine"
    await bash("mv packages was")
    assert there.read_text() == "mine"


async def test_what_packages_and_repositories_bring_is_theirs(bash, folder):
    git(folder, "init")
    other = folder.parent / "other"
    other.mkdir()
    git(other, "init")
    (other / "AGENTS.md").write_text("of the other\n")
    git(other, "add", ".")
    git(other, "commit", "-m", "one")
    git(folder, "clone", "-q", other, "before")
    make = "mkdir -p node_modules/x/.vscode && echo x >node_modules/x/.npmrc && echo y >node_modules/x/.vscode/z"
    status, said = await bash(f"git clone -q before after && cd after && echo changed >AGENTS.md && cd .. && {make}")
    assert status == 0
    assert not [name for name in ("AGENTS.md", "node_modules") if name in said]
    assert (folder / "after/AGENTS.md").read_text() == "changed\n"
    assert (await bash("cd before && echo changed >AGENTS.md && git -C ../after checkout -q AGENTS.md"))[1] == ""
    assert (folder / "after/AGENTS.md").read_text() == "of the other\n"
    assert (folder / "node_modules/x/.vscode/z").exists()


async def test_a_repository_that_is_made_around_what_was_there_opens_nothing(bash, folder):
    (folder / "sub").mkdir()
    (folder / "sub/AGENTS.md").write_text("mine")
    await bash("git init -q sub")
    await bash("echo evil >sub/AGENTS.md; echo evil >sub/.envrc")
    assert (folder / "sub/AGENTS.md").read_text() == "mine"
    assert not (folder / "sub/.envrc").exists()


async def test_a_folder_that_is_moved_in_brings_none(here, bash, folder):
    """What is in it keeps its own time."""
    await bash("mkdir -p ~/made/a; echo evil >~/made/a/AGENTS.md")
    await asyncio.sleep(0.1)
    await bash("true")
    await bash("mkdir -p sub; mv ~/made sub/")
    assert not (folder / "sub/made/a/AGENTS.md").exists()


async def test_nothing_is_written_after_the_last_look(folder, plan):
    """Who was told to end is not gone yet: several that write without a pause wrote once more."""
    (folder / "AGENTS.md").write_text("mine")
    loop = "while :; do echo evil >AGENTS.md; done"
    busy = f"for n in 1 2 3 4 5 6; do setsid env -i bash -c '{loop}' >/dev/null 2>&1 & done; sleep 0.1"
    for _ in range(5):
        place = Here(str(folder), walled=Walled(str(folder), plan))
        await place.run(ExecRequest(argv=("bash", "-c", busy)))
        await place.close()
        assert (folder / "AGENTS.md").read_text() == "mine"
        await asyncio.sleep(0.2)
        assert (folder / "AGENTS.md").read_text() == "mine"
