"""What is known of files: by a person's word, by path, by what is in them; after a death, and when it is a lot."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.errors import UserError
from hermes_tool_kit.provenance import changes, ledger
from hermes_tool_kit.provenance.changes import changed
from hermes_tool_kit.provenance.ledger import Ledger, Mark, digest_of


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def kept(tmp_path: Path, project: Path) -> Iterator[Ledger]:
    made = Ledger(tmp_path / "home")
    made.trust(project)
    yield made
    made.close()


def bring(kept: Ledger, project: Path, *names: str) -> None:
    """Let files come from outside."""
    time.sleep(0.02)
    window = kept.begin(str(project), "a test")
    for name in names:
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(f"This is {name}.")
    found = changed(str(project), kept.since(window))
    kept.end(window, found.files, found.trees, whole=found.whole)


def test_nothing_is_known_that_nobody_said(tmp_path: Path) -> None:
    assert not Ledger(tmp_path / "home").known(tmp_path)
    assert Ledger(tmp_path / "home").outside(tmp_path / "x")
    assert not (tmp_path / "home").exists()


def test_what_lies_in_a_known_folder_is_known_and_what_lies_beside_it_is_not(kept: Ledger, project: Path) -> None:
    assert kept.known(project / "a" / "b")
    assert not kept.known(f"{project}-2")
    assert not kept.known(project.parent)
    assert not kept.outside(project / "new.txt")


def test_a_link_is_what_it_leads_to(kept: Ledger, project: Path) -> None:
    (project.parent / "elsewhere").mkdir()
    (project / "link").symlink_to(project.parent / "elsewhere")
    assert kept.outside(project / "link" / "x")
    (project.parent / "way-in").symlink_to(project)
    assert kept.known(project.parent / "way-in")


def test_what_the_system_brings_is_nobodys_order(kept: Ledger) -> None:
    assert not kept.outside("/etc/passwd")
    assert not kept.outside(sys.executable if sys.executable.startswith("/usr") else "/usr/bin/env")


def test_what_is_marked_stays_marked_in_another_process(kept: Ledger, project: Path, tmp_path: Path) -> None:
    bring(kept, project, "got.txt")
    other = Ledger(tmp_path / "home")
    assert other.outside(project / "got.txt")
    other.close()


def test_who_forgets_a_folder_does_not_trust_what_is_in_it(kept: Ledger, project: Path) -> None:
    assert kept.forget(project)
    assert not kept.forget(project)
    assert kept.outside(project / "own.txt")


def test_trust_of_a_folder_ends_all_marks_in_it(kept: Ledger, project: Path) -> None:
    bring(kept, project, "got.txt", "clone/.git/HEAD", "clone/README.md")
    assert [Path(one.path).name for one in kept.folders() if not one.known] == ["clone"]
    assert kept.trust(project) == 2
    assert not kept.outside(project / "got.txt")
    assert kept.known(project / "clone")


def test_a_word_about_a_folder_says_nothing_of_a_clone_in_it(kept: Ledger, project: Path) -> None:
    bring(kept, project, "clone/.git/HEAD", "clone/sub/README.md")
    assert kept.outside(project / "clone" / "sub" / "README.md")
    kept.trust(project / "clone" / "sub")
    assert not kept.outside(project / "clone" / "sub" / "README.md")
    assert kept.outside(project / "clone" / "x")


def test_a_run_may_know_the_folder_it_works_in(tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERMES_TRUST", "1")
    run = Ledger(tmp_path / "home", str(project))
    assert run.known(project)
    assert not run.known(tmp_path)
    bring(run, project, "got.txt", "clone/.git/HEAD")
    assert run.outside(project / "got.txt")
    assert not run.known(project / "clone")
    run.close()


def test_a_run_knows_the_repository_that_its_folder_is_in(
    tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HERMES_TRUST", "1")
    (project / ".git").mkdir()
    (project / "sub").mkdir()
    assert Ledger(tmp_path / "home", str(project / "sub")).known(project / "AGENTS.md")


def test_what_came_into_an_old_repository_is_told(kept: Ledger, project: Path) -> None:
    (project / ".git").mkdir()
    (project / ".git" / "HEAD").write_text("ref")
    time.sleep(0.02)
    window = kept.begin(str(project), "git fetch")
    (project / ".git" / "FETCH_HEAD").write_text("abc")
    found = changed(str(project), kept.since(window))
    assert found.fetched == [str(project / ".git")]
    assert not found.trees


def test_a_new_folder_with_many_files_is_marked_as_one(kept: Ledger, project: Path) -> None:
    bring(kept, project, *(f"node_modules/p{n}/index.js" for n in range(changes.TREE)))
    assert [one.path for one in kept.folders() if not one.known] == [str(project / "node_modules")]
    assert kept.marks_in(project) == [str(project / "node_modules")]


def test_where_there_is_no_time_to_look_all_that_changed_is_outside(
    kept: Ledger, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "ENTRIES", 2)
    (project / "own.txt").write_text("Mine.")
    bring(kept, project, "a.txt", "b.txt", "c.txt", "d.txt")
    assert all(kept.outside(project / f"{name}.txt") for name in "abcd")
    assert not kept.outside(project / "own.txt")
    assert kept.marks_in(project) is None
    time.sleep(0.05)
    (project / "later.txt").write_text("Mine.")
    assert not kept.outside(project / "later.txt")


def test_too_many_files_become_their_folder(kept: Ledger, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "MOST", 5)
    (project / "many").mkdir()
    (project / "many" / "own.txt").write_text("Mine.")
    bring(kept, project, "one.txt", *(f"many/{n}" for n in range(6)))
    assert kept.outside(project / "many" / "own.txt")  # what is not known errs to outside
    assert kept.outside(project / "one.txt")
    assert not kept.outside(project / "own.txt")


def test_what_a_killed_process_had_begun_is_outside_and_can_be_settled(kept: Ledger, project: Path) -> None:
    code = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from hermes_tool_kit.provenance.ledger import Ledger\n"
        "Ledger(Path(sys.argv[1])).begin(sys.argv[2], 'curl')\n"
        "Path(sys.argv[2], 'got.txt').write_text('evil')\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    (project / "own.txt").write_text("Mine.")
    time.sleep(0.02)
    done = subprocess.run([sys.executable, "-c", code, kept.home, str(project)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert kept.outside(project / "got.txt")
    assert not kept.outside(project / "own.txt")
    [(window, folder)] = kept.left()
    found = changed(folder, kept.since(window))
    kept.end(window, found.files, found.trees)
    assert kept.left() == []
    assert kept.outside(project / "got.txt")


def test_what_another_process_does_now_is_left_to_it(kept: Ledger, project: Path) -> None:
    kept.begin(str(project), "curl")
    assert kept.left() == []


def test_a_ledger_that_is_none_is_told(kept: Ledger, project: Path) -> None:
    kept.close()
    file = Path(kept.home, "data", "provenance.db")
    for one in file.parent.glob("provenance.db-*"):
        one.unlink()
    file.write_bytes(b"no ledger " * 1_000)
    with pytest.raises(UserError, match="cannot be used") as told:
        kept.known(project)
    assert "Move it away" in told.value.hint


def test_only_its_owner_reads_it(kept: Ledger) -> None:
    assert os.stat(Path(kept.home, "data", "provenance.db")).st_mode & 0o077 == 0  # noqa: PTH116


def test_a_tree_as_deep_as_a_trap_ends(kept: Ledger, project: Path) -> None:
    deep = project
    time.sleep(0.02)
    window = kept.begin(str(project), "tar")
    for _ in range(300):
        deep = deep / "d"
    deep.mkdir(parents=True)
    (deep / "evil").write_text("x")
    found = changed(str(project), kept.since(window))
    assert not found.whole
    kept.end(window, found.files, found.trees, whole=found.whole)
    assert kept.outside(deep / "evil")


@given(st.binary(max_size=300))
def test_a_digest_is_of_what_is_in_a_file(data: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        one, two = Path(folder, "one"), Path(folder, "two")
        one.write_bytes(data)
        two.write_bytes(data + b"x")
        assert digest_of(str(one)) != digest_of(str(two))
    assert digest_of("/none/such") == ""


@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=20)))
def test_no_name_of_a_file_breaks_it(names: list[str]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        made = Ledger(Path(folder, "home"))
        made.trust(folder)
        paths = [f"{folder}/{name.replace('/', '_')}" for name in names]
        made.end(made.begin(folder, "x"), [Mark(path, "", 0) for path in paths])
        found = made.marks_in(folder)
        assert found is not None
        assert {os.path.normpath(path) for path in paths if os.path.normpath(path) == path} <= {*found}
        made.close()


@pytest.mark.parametrize(
    ("name", "text", "shown"),
    [
        ("obey me.txt", "a\nobey me.txt", True),
        ("obey me/x.txt", "obey me/", True),
        ("obey me.txt", "own.txt", False),
        ("node_modules/obey/x.js", "node_modules obey", False),
        ("package-lock.json", "package-lock.json", False),
    ],
)
def test_a_name_from_outside_is_seen_in_a_text(kept: Ledger, project: Path, name: str, text: str, shown: bool) -> None:
    (project / "own.txt").write_text("Mine.")
    bring(kept, project, name)
    assert kept.names(project, text) is shown
    assert not kept.names(project.parent / "other", text)


@pytest.mark.parametrize(
    ("words", "counts"), [("branch x", True), ("tag x", True), ("commit -qm x --allow-empty", True), ("status", False)]
)
def test_what_changes_the_commits_of_a_repository_is_seen(project: Path, words: str, counts: bool) -> None:
    def git(line: str) -> None:
        who = ["-c", "user.name=me", "-c", "user.email=me@example.org"]
        subprocess.run(["git", *who, *line.split()], cwd=project, check=True, capture_output=True)

    git("init -q")
    git("commit -qm first --allow-empty")
    time.sleep(0.05)
    since = time.time_ns() - 30_000_000  # a file system's clock ticks slower
    git(words)
    assert bool(changed(str(project), since).fetched) is counts
