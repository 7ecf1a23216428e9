"""What a determined command tried with repositories, so that the next git outside of the wall runs its code."""

import os
import subprocess

import pytest

from hermes_core.types import ExecRequest

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]


def git(folder, *words):
    settings = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
    return subprocess.run(["git", *settings, *words], cwd=folder, check=True, capture_output=True, text=True).stdout


def attempted(folder, word, **env):
    """As a person does it later, outside of any wall."""
    subprocess.run(["git", word], cwd=folder, env={**os.environ, **env}, check=False, capture_output=True)


MONITOR = "core.fsmonitor 'touch {pwned}; false'"
NESTED = """
git init -q {sub} && cd {sub} && git config user.name a && git config user.email a@b
git commit -q --allow-empty -m x && git config core.fsmonitor "touch {pwned}; false"
cd "$OLDPWD" && git add {sub} 2>/dev/null
"""


@pytest.mark.parametrize("sub", ["sub", "node_modules/x", "a/b/c/d/e"])
async def test_git_status_runs_nothing_of_a_repository_in_the_repository(bash, folder, tmp_path, sub):
    """Git looks into those that its index names, and does what their settings say."""
    git(folder, "init")
    git(folder, "commit", "--allow-empty", "-m", "one")
    pwned = tmp_path / "pwned"
    await bash(NESTED.format(sub=sub, pwned=pwned))
    git(folder, "status")
    git(folder, "diff")
    assert not pwned.exists()


async def test_the_file_that_leads_to_a_submodules_repository(bash, folder, tmp_path):
    git(tmp_path, "init", "-q", "lib")
    git(tmp_path / "lib", "commit", "--allow-empty", "-m", "one")
    git(folder, "init")
    git(folder, "-c", "protocol.file.allow=always", "submodule", "add", str(tmp_path / "lib"), "lib")
    git(folder, "commit", "-m", "one")
    pwned = tmp_path / "pwned"
    await bash(
        "git init -q evil && cd evil && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x "
        f"&& git config {MONITOR.format(pwned=pwned)}; cd ..; echo 'gitdir: ../evil/.git' >lib/.git"
    )
    git(folder, "status")
    assert not pwned.exists()


async def test_the_file_that_leads_to_a_worktrees_repository(person, plan, tmp_path):
    from hermes_backend_local.workspace import Here
    from hermes_backend_wall.walled import Walled

    main, tree = person / "code/main", person / "code/tree"
    main.mkdir(parents=True)
    git(main, "init")
    git(main, "commit", "--allow-empty", "-m", "one")
    git(main, "worktree", "add", str(tree))
    pwned = tmp_path / "pwned"
    place = Here(str(tree), walled=Walled(str(tree), plan))
    script = f"git init -q evil; git -C evil config {MONITOR.format(pwned=pwned)}; echo 'gitdir: evil/.git' >.git"
    await place.run(ExecRequest(argv=("bash", "-c", script)))
    attempted(tree, "status")
    await place.close()
    assert not pwned.exists()


@pytest.mark.parametrize("path", ["commondir", "config.worktree"])
async def test_what_leads_a_worktree_of_the_repository_elsewhere(bash, folder, tmp_path, path):
    git(folder, "init")
    git(folder, "commit", "--allow-empty", "-m", "one")
    git(folder, "config", "extensions.worktreeConfig", "true")
    git(folder, "worktree", "add", "tree")
    pwned = tmp_path / "pwned"
    evil = (
        f"git init -q evil; cp -r .git/objects .git/refs evil/.git/; git -C evil config {MONITOR.format(pwned=pwned)}"
    )
    if path == "commondir":
        await bash(f"{evil}; echo $PWD/evil/.git >.git/worktrees/tree/commondir")
    else:
        await bash(f"git config --file .git/worktrees/tree/config.worktree {MONITOR.format(pwned=pwned)}")
    attempted(folder / "tree", "status")
    assert not pwned.exists()


async def test_a_folder_is_not_made_a_bare_repository(bash, folder, tmp_path):
    pwned = tmp_path / "pwned"
    await bash(
        "git init -q --bare . && git config core.bare false && git config core.worktree . "
        f"&& git config {MONITOR.format(pwned=pwned)}"
    )
    attempted(folder, "status")
    assert not pwned.exists()


@pytest.mark.parametrize("forged", ["replace", "graft", "object", "graph"])
async def test_a_history_that_was_forged_brings_nothing(bash, folder, forged):
    """What stood in the history before may come back; commands can write that history."""
    git(folder, "init")
    (folder / "AGENTS.md").write_text("mine\n")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "one")
    commit = "git -c user.name=a -c user.email=a@b commit -q"
    evil = (
        f"set -e; H=$(git rev-parse HEAD); echo evil >AGENTS.md; {commit} -am evil; E=$(git rev-parse HEAD); "
        "git update-ref refs/heads/main $H; "
    )
    how = {
        "replace": "git replace $H $E",
        "graft": "mkdir -p .git/info; echo $H $E >.git/info/grafts",
        "object": "T=$(git rev-parse $E^{tree}); O=$(git rev-parse $H^{tree}); cp -f .git/objects/${T:0:2}/${T:2} t; "
        "rm -f .git/objects/${O:0:2}/${O:2}; mv t .git/objects/${O:0:2}/${O:2}",
        "graph": "true",
    }[forged]
    _, said = await bash(evil + how)
    assert (folder / "AGENTS.md").read_text() == "mine\n", said


@pytest.mark.parametrize(
    "script",
    [
        "git remote set-url origin ./evil.git",
        "git config branch.main.remote evil.git",
        "git config branch.main.pushRemote ./evil.git",
        "git remote add o evil.git; git config branch.main.remote o; git config push.default current",
    ],
)
async def test_a_push_runs_no_hook_of_the_workspace(bash, folder, tmp_path, script):
    git(tmp_path, "init", "-q", "--bare", "real.git")
    git(folder, "init")
    git(folder, "commit", "--allow-empty", "-m", "one")
    git(folder, "remote", "add", "origin", str(tmp_path / "real.git"))
    git(folder, "push", "-u", "origin", "main")
    git(folder, "commit", "--allow-empty", "-m", "two")
    pwned = tmp_path / "pwned"
    await bash(
        f"git init -q --bare evil.git; cd evil.git/hooks; printf '#!/bin/sh\\ntouch {pwned}\\n' >pre-receive; "
        f"chmod +x pre-receive; cd ../..; {script}"
    )
    attempted(folder, "push", HOME=str(tmp_path))  # the person of these tests has no hooks
    assert not pwned.exists()


async def test_hooks_in_a_folder_of_the_persons_choice(bash, folder):
    git(folder, "init")
    git(folder, "config", "core.hooksPath", "tools/hooks")
    (folder / "tools/hooks").mkdir(parents=True)
    (folder / "tools/hooks/pre-commit").write_text("mine")
    await bash("echo evil >tools/hooks/pre-commit; echo evil >tools/hooks/pre-push")
    assert (folder / "tools/hooks/pre-commit").read_text() == "mine"
    assert not (folder / "tools/hooks/pre-push").exists()


async def test_a_repository_that_is_cloned_below_keeps_what_is_harmless(bash, folder, tmp_path):
    git(tmp_path, "init", "-q", "lib")
    (tmp_path / "lib/AGENTS.md").write_text("theirs")
    git(tmp_path / "lib", "add", ".")
    git(tmp_path / "lib", "commit", "-m", "one")
    git(tmp_path / "lib", "clone", "-q", "--bare", str(tmp_path / "lib"), str(folder / "lib.git"))
    script = "git clone -q lib.git lib && git -C lib checkout -q -b x && git -C lib worktree add -q ../tree"
    status, said = await bash(script)
    assert status == 0, said
    assert (folder / "lib/AGENTS.md").read_text() == "theirs"
    status, said = await bash("git -C lib status -s && git -C tree status -s && git -C lib sparse-checkout set x 2>&1")
    assert status == 0, said
