"""What runs by itself is put back, and told."""

import subprocess
from pathlib import Path

import pytest

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
