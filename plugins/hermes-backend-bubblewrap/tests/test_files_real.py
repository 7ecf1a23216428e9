"""Reading and writing through the sandbox, with somebody inside who wants them to go elsewhere."""

import asyncio
import contextlib
import os

import pytest

from hermes_core.errors import ToolError

pytestmark = pytest.mark.real


async def test_a_link_out_of_the_folder_is_not_followed_outside(box):
    secret = box.home / ".ssh" / "id_ed25519"
    await box.bash(f"ln -s {secret} key; ln -s {box.home} person; ln -s /etc/shadow shadow; ln -s ../.aws aws")
    for path in (
        "key",
        "person/.ssh/id_ed25519",
        "shadow",
        "../.ssh/id_ed25519",
        str(secret),
        "aws/credentials",
        "~/.hermes/.env",
    ):
        with pytest.raises(ToolError, match="no such file"):
            await box.workspace.read(path)
    for path in ("key", "person/.ssh/id_ed25519", "aws/credentials"):
        with contextlib.suppress(ToolError):
            await box.workspace.write(path, b"changed")
    assert secret.read_text() == "PRIVATE-4c1f9"
    assert (box.home / ".aws" / "credentials").read_text() == "PRIVATE-4c1f9"


async def test_hard_links_to_what_is_outside_cannot_be_made(box):
    result = await box.bash(f"ln {box.home}/.ssh/id_ed25519 mine; ln /usr/bin/env mine; ln /etc/passwd mine; ls")
    assert b"mine\n" not in result.output.split(b"\n")


async def test_a_link_that_changes_while_it_is_read_never_leads_out(box):
    (box.home / "outside").write_text("OUTSIDE")
    flip = f"while :; do ln -sfn inside flip; ln -sfn {box.home}/outside flip; done"
    await box.bash("echo INSIDE >inside")
    from hermes_core.types import ExecRequest

    process = await box.workspace.start(ExecRequest(argv=("bash", "-c", flip)))
    for _ in range(100):
        with contextlib.suppress(ToolError):
            assert await box.workspace.read("flip") == b"INSIDE\n"
        with contextlib.suppress(ToolError):
            await box.workspace.write("flip", b"INSIDE\n")
    await process.kill()
    assert (box.home / "outside").read_text() == "OUTSIDE"


async def test_what_is_no_file_is_refused_and_never_waited_for(box):
    os.mkfifo(box.folder / "pipe")
    for path, words in ((".", "folder"), ("/dev/zero", "device"), ("pipe", "pipe"), ("gone", "no such file")):
        with pytest.raises(ToolError, match=words):
            await box.workspace.read(path)
    with pytest.raises(ToolError, match="pipe"):
        await box.workspace.write("pipe", b"x")


async def test_a_written_file_keeps_mode_and_link(box):
    (box.folder / "real").write_bytes(b"old")
    (box.folder / "real").chmod(0o751)
    (box.folder / "link").symlink_to("real")
    await box.workspace.write("link", b"new")
    assert (box.folder / "link").is_symlink()
    assert (box.folder / "real").read_bytes() == b"new"
    assert (box.folder / "real").stat().st_mode & 0o777 == 0o751
    assert sorted(path.name for path in box.folder.iterdir()) == ["link", "real"]


async def test_a_file_too_large_to_hold_is_refused(box):
    with (box.folder / "large").open("wb") as file:
        file.truncate(200_000_000)
    with pytest.raises(ToolError, match="more than"):
        await box.workspace.read("large")


async def test_scratch_files_last_from_command_to_command(box):
    await box.bash("echo one >/tmp/kept; echo two >~/kept")
    assert (await box.bash("cat /tmp/kept ~/kept")).output == b"one\ntwo\n"
    assert await box.workspace.read("/tmp/kept") == b"one\n"


async def git(box, script):
    return await box.bash(
        f"export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; {script}"
    )


@pytest.fixture
def repository(tmp_path):
    import subprocess

    folder = tmp_path / "person" / "work"
    folder.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", folder], check=True)
    return folder


async def test_git_works_and_its_hooks_and_settings_cannot_be_changed(repository, box):
    settings = (repository / ".git" / "config").read_text()
    result = await git(
        box, "echo x >file && git add file && git commit -qm one && git switch -qc other && git log --oneline"
    )
    assert result.status == 0, result.output
    for script in (
        "git config core.fsmonitor 'touch /tmp/x'",
        "echo '#!/bin/sh' >.git/hooks/post-commit",
        "mv .git/hooks .git/old",
        "mv .git old && cp -r old .git",
        "rm -rf .git",
        "rm -f .git/config",
        "mv .git/config .git/c2",
        "ln -sfn /tmp .git/hooks/x",
    ):
        assert (await box.bash(script)).status != 0, script
    assert (repository / ".git" / "config").read_text() == settings
    assert not list((repository / ".git" / "hooks").glob("post-commit"))
    with pytest.raises(ToolError) as raised:
        await box.workspace.write(".git/config", b"[core]\n")
    assert "backends.bubblewrap.git" in str(raised.value)


async def test_git_is_not_sent_to_other_settings(repository, box):
    result = await box.bash("mkdir evil; echo ../evil >.git/commondir")
    assert b"commondir was removed" in result.output
    assert not (repository / ".git" / "commondir").exists()


async def test_git_may_be_given_whole_or_kept_whole(repository, make):
    box = await make(git="writable")
    assert (await box.bash("git config user.name me; echo x >.git/hooks/x")).status == 0
    kept = await make(git="read-only")
    assert (await git(kept, "echo y >file; git add file")).status != 0


async def test_a_git_that_is_a_link_shows_nothing_of_what_it_leads_to(make, tmp_path):
    folder = tmp_path / "person" / "work"
    folder.mkdir(parents=True)
    (folder / ".git").symlink_to(tmp_path / "person" / ".ssh")
    box = await make()
    assert b"id_ed25519" not in (await box.bash("ls -A .git/")).output


async def test_files_go_on_while_a_command_works(box):
    running = asyncio.create_task(box.bash("while [ ! -e stop ]; do sleep 0.01; done"))
    await box.workspace.write("stop", b"")
    assert (await running).status == 0
