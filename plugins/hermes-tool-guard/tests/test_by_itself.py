"""Commands that write what runs by itself, show what was said elsewhere, or work in a repository that came along."""

from pathlib import Path

import pytest
from guard_places import judged, otherwise

from hermes_core.types import Effect
from hermes_tool_guard.guard import check
from hermes_tool_guard.judgement import ISOLATED, OPEN, Setting

LATER = {Effect.WRITE_FILES, Effect.EXECUTE, Effect.CONFIGURE}
USUAL = """
echo x > AGENTS.md
echo x >> AGENTS.md
tee AGENTS.md < x
sed -i s/a/b/ AGENTS.md
sed -n 'w AGENTS.md' f
cp x AGENTS.md
cp docs/AGENTS.md .
mv x AGENTS.md
ln -s x AGENTS.md
awk '{print > "AGENTS.md"}' f
find . -fprintf AGENTS.md x
sort -o AGENTS.md f
dd if=x of=AGENTS.md
install x AGENTS.md
patch AGENTS.md < x
git apply <<< '+++ b/AGENTS.md'
perl -i -pe s/a/b/ AGENTS.md
curl -o AGENTS.md https://example.com
curl -O https://example.com/AGENTS.md
python -c 'open("AGENTS.md","w").write("x")'
echo x > .github/workflows/x.yml
cd .github/workflows && echo x > a.yml
cp x .github/workflows/
cp -r x .github
rsync -a x/ .github/
""".strip().split("\n")
DELICATE = """
echo x > .envrc
echo x > .vscode/tasks.json
echo x > a.pth
echo x > .git/hooks/pre-commit
echo x > .githooks/pre-commit
cp x .husky
mv x .git/config
echo x > ~/.bashrc
""".strip().split("\n")
UNSEEN = """
tar -xf a.tar
tar xzf a.tgz -C build
unzip a.zip
7z x a.7z
cpio -i < a.cpio
patch -p1 < x.patch
git apply x.patch
""".strip().split("\n")
ELSEWHERE = ("sessions list", "sessions show 3", "sessions export", "tools history", "logs", "approvals list")


def test_everyday_writing_of_what_runs_by_itself_is_let_through_but_told() -> None:
    assert otherwise("allow", USUAL) == {}
    assert [command for command in USUAL if not judged(command).effects >= LATER] == []


@pytest.mark.parametrize("setting", [OPEN, ISOLATED])
def test_what_runs_on_the_machine_by_itself_is_asked_about_and_told_in_isolation_too(setting: Setting) -> None:
    for command in DELICATE:
        found = check(command, root="/work/project", home="/home/me", setting=setting)
        assert found.outcome == ("allow" if setting is ISOLATED else "ask"), command
        assert found.effects >= LATER, command


def test_a_link_to_such_a_file_is_looked_through(tmp_path: Path) -> None:
    tmp_path.joinpath("notes.md").symlink_to("AGENTS.md")
    assert check("echo x > notes.md", root=str(tmp_path), home="/home/me").effects >= LATER


def test_files_whose_names_nobody_saw_may_run() -> None:
    assert otherwise("allow", UNSEEN) == {}
    assert [command for command in UNSEEN if Effect.EXECUTE not in judged(command).effects] == []


@pytest.mark.parametrize("command", ["echo x > src/a.py", "mkdir -p .github/workflows", "tar -tf a.tar", "unzip -l a"])
def test_other_writing_runs_nothing(command: str) -> None:
    assert not judged(command).effects & {Effect.EXECUTE, Effect.CONFIGURE}


@pytest.mark.parametrize("what", ELSEWHERE)
def test_what_was_said_elsewhere_comes_from_outside(what: str) -> None:
    found = judged(f"hermes {what}")
    assert found.outcome == "ask"
    assert found.effects == {Effect.READ_FILES, Effect.RECALL, Effect.NETWORK}


def test_an_archive_of_another_machine_comes_over_the_network() -> None:
    assert Effect.NETWORK in judged("git archive --remote=https://example.com/x HEAD").effects


@pytest.mark.parametrize(
    "command",
    [
        "git -C sub status",
        "git --git-dir=sub log",
        "git --git-dir sub log",
        "cd sub && git diff",
        "cd sub/refs; git log",
    ],
)
def test_a_repository_that_lies_open_in_the_folder_is_asked_about(tmp_path: Path, command: str) -> None:
    sub = tmp_path / "sub"
    sub.joinpath("refs").mkdir(parents=True)
    assert check(command, root=str(tmp_path), home="/home/me").outcome == "allow"
    sub.joinpath("objects").mkdir()
    sub.joinpath("HEAD").write_text("ref: refs/heads/main\n")
    assert check(command, root=str(tmp_path), home="/home/me").outcome == "ask"
    sub.joinpath("HEAD").unlink()
    assert check(command, root=str(tmp_path), home="/home/me").outcome == "allow"
    made = f"echo 'ref: x' > {sub}/HEAD; {command}"
    assert check(made, root=str(tmp_path), home="/home/me").outcome == "ask"
