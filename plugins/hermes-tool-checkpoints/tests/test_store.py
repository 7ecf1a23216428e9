"""Snapshots and rollbacks of real folders, with real git."""

import hashlib
import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes_core.errors import UserError
from hermes_core.testing.forks import Forks
from hermes_paths.unsaved import is_secret
from hermes_tool_checkpoints.config import Config
from hermes_tool_checkpoints.git import GitFailed, Job, locked
from hermes_tool_checkpoints.prune import due, projects, prune, size, tidy
from hermes_tool_checkpoints.restore import Restored, cut_off, restore
from hermes_tool_checkpoints.store import About, Snapshot, Store, pick
from hermes_tool_checkpoints.views import difference, listing, rows


class Rig:
    """A folder, and a store that knows it."""

    def __init__(self, root: Path, **config: Any) -> None:
        self.folder = root / "project"
        self.folder.mkdir(exist_ok=True)
        self.store = Store(root / "home" / "data", Config(**config), closed=root / "home")

    def write(self, files: dict[str, str | bytes]) -> None:
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def take(self, **about: str) -> Snapshot:
        made = self.store.take(self.folder, About(tool="terminal", **about), Job(60))
        assert made
        return made

    def snapshots(self, backend: str = "") -> list[Snapshot]:
        return self.store.snapshots(self.folder, Job(60), backend)

    def back(self, number: int = 1, only: str = "") -> Restored:
        found = pick(self.snapshots(), number, str(self.folder))
        return restore(self.store, self.folder, found, About(kind="rollback"), Job(60), only=only)

    def seen(self) -> dict[str, object]:
        return seen(self.folder)


def seen(folder: Path) -> dict[str, object]:
    """Everything in a folder that matters: bytes, modes, links; empty folders do not."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        name = os.fsdecode(os.fsencode(path.relative_to(folder)))
        if stat.S_ISLNK(mode):
            found[name] = ("link", str(path.readlink()))
        elif stat.S_ISREG(mode):
            found[name] = (stat.S_IMODE(mode), path.read_bytes())
    return found


def wipe(folder: Path) -> None:
    """Delete all a folder holds but its git."""
    for path in sorted(folder.rglob("*"), reverse=True):
        if ".git" in path.relative_to(folder).parts:
            continue
        if path.is_dir() and not path.is_symlink():
            if not any(path.iterdir()):
                path.rmdir()
        else:
            path.unlink()


def git(folder: Path, *words: str) -> str:
    who = (
        "-c",
        "user.name=x",
        "-c",
        "user.email=x@x",
        "-c",
        "commit.gpgsign=false",
        "-c",
        "protocol.file.allow=always",
    )
    done = subprocess.run(["git", *who, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path)


@pytest.fixture
def of(tmp_path: Path) -> Callable[..., Rig]:
    return lambda **config: Rig(tmp_path, **config)


def test_everything_that_was_deleted_comes_back(rig: Rig) -> None:
    rig.write({"a.txt": "one\n", "src/b.py": "x = 1\n", "src/deep/er/c.bin": bytes(range(256)), "empty": ""})
    before = rig.seen()
    rig.take()
    wipe(rig.folder)
    done = rig.back()
    assert rig.seen() == before
    assert done.restored == ("a.txt", "empty", "src/b.py", "src/deep/er/c.bin")
    assert (done.deleted, done.left) == ((), {})


def test_what_was_made_since_goes_and_what_was_changed_is_as_it_was(rig: Rig) -> None:
    rig.write({"a": "one", "b": "two"})
    rig.take()
    rig.write({"a": "changed", "new/c": "three"})
    done = rig.back()
    assert rig.seen() == {"a": (0o644, b"one"), "b": (0o644, b"two")}
    assert (done.restored, done.deleted) == (("a",), ("new/c",))
    assert not (rig.folder / "new").exists()


def test_a_rollback_can_be_undone(rig: Rig) -> None:
    rig.write({"a": "one"})
    rig.take()
    rig.write({"a": "two", "b": "new"})
    after = rig.seen()
    rig.back()
    assert rig.snapshots()[0].kind == "rollback"
    rig.back(1)
    assert rig.seen() == after


def test_one_file_or_one_folder_comes_back_alone(rig: Rig) -> None:
    rig.write({"a": "1", "d/b": "2", "d/c": "3", "dd": "4"})
    rig.take()
    wipe(rig.folder)
    rig.back(1, only="d/b")
    assert set(rig.seen()) == {"d/b"}
    rig.back(2, only="d")
    assert set(rig.seen()) == {"d/b", "d/c"}
    with pytest.raises(UserError, match="nowhere is not in this snapshot"):
        rig.back(1, only="nowhere")


def test_modes_links_and_odd_names_come_back(rig: Rig, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "precious").write_text("mine")
    rig.write(
        {"run.sh": "#!/bin/sh\n", "private": "p", "ro": "r", "ünï/日本": "u", "new\nline": "n", "-rf": "d", 'q"\\': "q"}
    )
    (rig.folder / "run.sh").chmod(0o755)
    (rig.folder / "private").chmod(0o600)
    (rig.folder / "ro").chmod(0o444)
    Path(os.fsdecode(os.fsencode(rig.folder) + b"/\xff\xfe")).write_text("bytes")
    (rig.folder / "out").symlink_to(tmp_path / "outside")
    (rig.folder / "dangling").symlink_to("nowhere")
    before = rig.seen()
    rig.take()
    wipe(rig.folder)
    rig.write({"out/precious": "not mine", "dangling": "now a file"})
    done = rig.back()
    assert rig.seen() == before
    assert done.left == {}
    assert (tmp_path / "outside" / "precious").read_text() == "mine"


def test_a_link_in_the_place_of_a_folder_is_never_written_through(rig: Rig, tmp_path: Path) -> None:
    rig.write({"d/a": "one", "d/b": "two"})
    before = rig.seen()
    rig.take()
    wipe(rig.folder)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a").write_text("not to be touched")
    (rig.folder / "d").symlink_to(outside)
    rig.back()
    assert rig.seen() == before
    assert [(p.name, p.read_text()) for p in outside.iterdir()] == [("a", "not to be touched")]


def test_a_file_and_a_folder_change_places(rig: Rig) -> None:
    rig.write({"x": "file", "y/z": "folder"})
    before = rig.seen()
    rig.take()
    wipe(rig.folder)
    rig.write({"x/inner/deep": "1", "y": "2"})
    after = rig.seen()
    rig.back()
    assert rig.seen() == before
    rig.back(1)
    assert rig.seen() == after


def test_ignored_files_are_neither_kept_nor_lost(rig: Rig) -> None:
    rig.write({".gitignore": "out/\n*.log\n", "a": "1", "out/x": "built", "b.log": "l", "node_modules/m": "m"})
    rig.take()
    rig.write({".gitignore": "", "a": "2", "out/x": "built again"})
    done = rig.back()
    assert (rig.folder / "a").read_text() == "1"
    assert (rig.folder / "out/x").read_text() == "built again"
    assert (rig.folder / "b.log").read_text() == "l"
    assert (rig.folder / "node_modules/m").read_text() == "m"
    assert done.deleted == ()
    assert set(done.left) == {"b.log", "out/x"}


def test_what_the_projects_git_knows_is_kept_though_ignored(rig: Rig) -> None:
    rig.write({".gitignore": "out/\n", "out/kept": "1", "out/not": "2"})
    git(rig.folder, "init", "-q")
    git(rig.folder, "add", "-f", "out/kept")
    rig.take()
    wipe(rig.folder)
    rig.back()
    assert set(rig.seen()) - {n for n in rig.seen() if n.startswith(".git/")} == {".gitignore", "out/kept"}


def test_no_attribute_of_the_project_changes_a_byte(rig: Rig) -> None:
    rig.write(
        {".gitattributes": "* text=auto eol=lf\n*.dat filter=lfs diff=lfs -text\n*.u16 working-tree-encoding=UTF-16\n"}
    )
    rig.write({"crlf.txt": b"a\r\nb\r\n", "x.dat": b"\0\1data", "u.u16": "héllo".encode("utf-16"), "i": "$Id$ \n"})
    before = rig.seen()
    rig.take()
    wipe(rig.folder)
    rig.back()
    assert rig.seen() == before


def test_large_files_are_left_out_told_and_never_lost(of: Callable[..., Rig]) -> None:
    rig = of(max_file_size_mb=1)
    rig.write({"big": b"x" * 1_000_001, "small": "s", "grows": "g", "shrinks": b"y" * 1_000_001})
    made = rig.take()
    assert (made.files, made.skipped) == (2, 2)
    with rig.store.at(rig.folder, Job(60)) as g:
        assert rig.store.facts(g, made).skipped == {"big": "larger than 1 MB", "shrinks": "larger than 1 MB"}
    rig.write({"small": "changed", "grows": b"z" * 1_000_001, "shrinks": "tiny", "big": b"w" * 1_000_002})
    done = rig.back()
    assert (rig.folder / "small").read_text() == "s"
    assert (rig.folder / "grows").stat().st_size == 1_000_001
    assert (rig.folder / "shrinks").read_text() == "tiny"
    assert set(done.left) == {"grows", "shrinks"}
    assert done.restored == ("small",)


def test_secrets_stay_out_of_the_store(rig: Rig) -> None:
    rig.write(
        {".env": "KEY=sk-canary-1", "sub/.env.local": "sk-canary-2", "id_rsa": "sk-canary-3", ".env.example": "KEY="}
    )
    rig.write({".gitignore": "!.env\n"})
    made = rig.take()
    assert (made.files, made.skipped) == (2, 3)
    git_dir = rig.store.repository
    names = subprocess.run(
        ["git", "--git-dir", git_dir, "cat-file", "--batch-check", "--batch-all-objects"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for line in names.splitlines():
        data = subprocess.run(
            ["git", "--git-dir", git_dir, "cat-file", "-p", line.split()[0]], capture_output=True, check=True
        )
        assert b"canary" not in data.stdout
    rig.write({".env": "KEY=sk-canary-9"})
    assert rig.back().deleted == ()
    assert (rig.folder / ".env").read_text() == "KEY=sk-canary-9"


def test_secrets_are_kept_where_the_person_wants_it(of: Callable[..., Rig]) -> None:
    rig = of(keep_secrets=True)
    rig.write({".env": "KEY=1"})
    rig.take()
    wipe(rig.folder)
    rig.back()
    assert (rig.folder / ".env").read_text() == "KEY=1"


@pytest.mark.parametrize(
    "name", [".env", ".ENV", ".env.production", "server.key", "id_ed25519", "credentials.json", ".npmrc"]
)
def test_names_of_secrets(name: str) -> None:
    assert is_secret(name)


@pytest.mark.parametrize(
    "name", [".env.example", ".env.sample", "environment.py", "keys.py", "monkey.txt", "credentials.py"]
)
def test_names_that_only_look_like_secrets(name: str) -> None:
    assert not is_secret(name)


def digest(folder: Path) -> str:
    """A hash over every name, mode, time and byte."""
    sum_ = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        sum_.update(f"{path.relative_to(folder)} {status.st_mode} {status.st_mtime_ns} {status.st_size}".encode())
        if path.is_file() and not path.is_symlink():
            sum_.update(path.read_bytes())
    return sum_.hexdigest()


def test_the_projects_own_git_is_not_touched(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.write({"a": "1", "b": "2", "sub/c": "3"})
    git(rig.folder, "init", "-q")
    git(rig.folder, "add", ".")
    git(rig.folder, "commit", "-qm", "first")
    rig.write({"a": "not staged", "b": "staged"})
    git(rig.folder, "add", "b")
    hook = rig.folder / ".git" / "hooks" / "post-index-change"
    hook.write_text(f"#!/bin/sh\ntouch {rig.folder}/hook-ran\n")
    hook.chmod(0o755)
    monkeypatch.setenv("GIT_DIR", str(rig.folder / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(rig.folder / ".git" / "index"))
    before = digest(rig.folder / ".git")
    rig.take()
    wipe(rig.folder)
    rig.back()
    rig.write({"d": "4"})
    rig.take()
    difference(rig.store, rig.folder, rig.snapshots()[0], Job(60))
    prune(rig.store, Job(60))
    assert digest(rig.folder / ".git") == before
    assert not (rig.folder / "hook-ran").exists()


def test_repositories_worktrees_and_submodules_inside_are_kept_as_files(rig: Rig, tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    (library / "l.txt").write_text("library")
    git(library, "init", "-q")
    git(library, "add", ".")
    git(library, "commit", "-qm", "first")
    rig.write({"a": "1", "nested/.gitignore": "skip\n", "nested/n": "2", "nested/skip": "s", "nested/in/m": "3"})
    git(rig.folder / "nested", "init", "-q")
    git(rig.folder / "nested" / "in", "init", "-q")
    git(rig.folder, "init", "-q")
    git(rig.folder, "submodule", "add", "-q", str(library), "sub")
    git(rig.folder, "commit", "-qm", "first")
    git(rig.folder, "worktree", "add", "-q", str(rig.folder / "tree"))
    gits = [p for p in rig.folder.rglob(".git") if p.is_dir()]
    before, own = rig.seen(), [digest(g) for g in gits]
    rig.take()
    for name in ("a", "nested/n", "nested/in/m", "sub/l.txt", "tree/.gitmodules"):
        (rig.folder / name).unlink()
    rig.back()
    assert rig.seen() == before
    assert [digest(g) for g in gits] == own


def test_a_folder_inside_a_repository_is_a_folder_like_any_other(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    rig = Rig(tmp_path)
    rig.write({"a": "1"})
    (tmp_path / "beside").write_text("b")
    rig.take()
    wipe(rig.folder)
    (tmp_path / "beside").write_text("changed")
    rig.back()
    assert rig.seen() == {"a": (0o644, b"1")}
    assert (tmp_path / "beside").read_text() == "changed"


def test_a_folder_that_was_deleted_as_a_whole_comes_back(rig: Rig) -> None:
    rig.write({"a": "1", "d/b": "2"})
    before = rig.seen()
    rig.take()
    wipe(rig.folder)
    rig.folder.rmdir()
    assert rows(rig.store, rig.folder, rig.snapshots(), Job(60))[0].changes == "the folder is gone"
    rig.back()
    assert rig.seen() == before


def test_an_empty_folder_has_a_snapshot_too(rig: Rig) -> None:
    rig.take()
    rig.write({"made": "1"})
    assert rig.back().deleted == ("made",)


def test_the_same_state_is_one_snapshot_and_an_old_one_is_taken_again(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig.write({"a": "1"})
    first = rig.take()
    assert rig.take() == first
    (rig.folder / "a").chmod(0o600)
    assert rig.take().ref != first.ref
    later = time.time() + 7200
    monkeypatch.setattr(time, "time", lambda: later)
    assert rig.take().when == later
    assert len(rig.snapshots()) == 3


def test_limits_are_told(of: Callable[..., Rig], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rig = of(max_files=3, max_total_size_mb=1)
    rig.write({str(n): "x" for n in range(4)})
    with pytest.raises(GitFailed, match="has 4 files, 3 is the most"):
        rig.take()
    wipe(rig.folder)
    rig.write({"1": b"x" * 600_000, "2": b"y" * 600_000})
    with pytest.raises(GitFailed, match="max_total_size_mb is 1"):
        rig.take()
    monkeypatch.setenv("HOME", str(rig.folder))
    for wide in (rig.folder, tmp_path, "/"):
        with pytest.raises(UserError, match="too wide"):
            rig.store.checked(str(wide))
    monkeypatch.setenv("HOME", "/nonexistent")
    for wide in ("/usr", "/etc", tempfile.gettempdir(), "/proc/self", "/sys/class"):
        with pytest.raises(UserError, match="too wide"):
            rig.store.checked(wide)
    for own in ("", "data", "people", "workspaces", "data/workspace"):
        with pytest.raises(UserError, match="belongs to Hermes"):
            rig.store.checked(str(tmp_path / "home" / own))


@pytest.mark.parametrize("lent", ["workspace", "workspace/site", "people/ann"])
def test_a_folder_of_hermes_that_somebody_works_in_is_brought_back(tmp_path: Path, lent: str) -> None:
    folder = tmp_path / "home" / lent
    folder.mkdir(parents=True)
    (folder / "notes.txt").write_text("mine")
    store = Store(tmp_path / "home" / "data", Config(), closed=tmp_path / "home")
    assert store.take(store.checked(str(folder)), About(), Job(60))
    (folder / "notes.txt").unlink()
    newest = pick(store.snapshots(folder, Job(60)), 1, str(folder))
    restore(store, folder, newest, About(kind="rollback"), Job(60))
    assert (folder / "notes.txt").read_text() == "mine"


def test_what_was_read_before_a_stop_is_not_read_again(rig: Rig, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("hermes_tool_checkpoints.store._STEP", 3)
    rig.write({f"{n}.txt": f"{n}\n" for n in range(9)})
    rig.take()
    rig.write({f"more{n}.txt": f"{n}\n" for n in range(9)})
    steps: list[int] = []
    whole = Job.run

    def run(job: Job, argv: list[str], **about: Any) -> tuple[int, bytes, bytes]:
        if argv[1] == "update-index":
            steps.append(about["feed"].count(b"\0"))
            if len(steps) == 3:
                job.stop()
        return whole(job, argv, **about)

    monkeypatch.setattr(Job, "run", run)
    with pytest.raises(GitFailed):
        rig.take()
    assert steps == [9, 3, 3]
    rig.take()
    assert steps[3:] == [12, 3, 3]  # what the first try read is known, and only looked at
    assert rig.snapshots()[0].files == 18


def test_a_refusal_holds_for_every_process_until_the_limits_change(
    of: Callable[..., Rig], monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = of(max_files=3)
    rig.store.refuse(rig.folder, "too much")
    assert of(max_files=3).store.refused(rig.folder) == "too much"
    assert rig.store.refused(rig.folder.parent) == ""
    assert of(max_files=4).store.refused(rig.folder) == ""
    now = time.time()
    with monkeypatch.context() as clock:
        for moment in (now + 700, now - 700):  # later, and after the clock was set back
            clock.setattr(time, "time", lambda moment=moment: moment)
            assert rig.store.refused(rig.folder) == ""
    rig.store.forgive(rig.folder)
    assert rig.store.refused(rig.folder) == ""


def test_the_home_of_hermes_is_never_part_of_a_snapshot(tmp_path: Path) -> None:
    store = Store(tmp_path / ".hermes" / "data", Config(), closed=tmp_path / ".hermes")
    (tmp_path / "a").write_text("1")
    (tmp_path / ".hermes").mkdir()
    (tmp_path / ".hermes" / "state.db").write_text("private")
    made = store.take(tmp_path, About(), Job(60))
    assert made
    assert made.files == 1


def test_snapshots_of_another_place_are_not_shown(rig: Rig) -> None:
    rig.write({"a": "1"})
    rig.take(backend="local")
    assert len(rig.snapshots("local")) == 1
    assert rig.snapshots("ssh") == []
    other = Rig(rig.folder / "..")
    assert other.store.snapshots(rig.folder / "elsewhere", Job(60)) == []


# --- death, damage, company -------------------------------------------------------------------------------------------

DYING = Path(__file__).with_name("dying.py")


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    """Processes that take snapshots, or bring them back."""
    with Forks(DYING) as made:
        yield made


def killed(rig: Rig, forks: Forks, what: str, slow: str, reached: Path) -> None:
    """Kill a process, and the git that it runs, once git has reached where it is slow."""
    process = forks.start(env={"PATH": slow}, folder=str(rig.folder), data=str(rig.store.root), what=what)
    while not reached.exists():
        assert Path(f"/proc/{process}").exists()
        time.sleep(0.01)
    if what == "take":
        (rig.store.root / "projects").mkdir(parents=True, exist_ok=True)
        key = rig.store.project(rig.folder)
        (rig.store.root / "projects" / f"{key}.index.lock").write_bytes(b"half")
    os.kill(process, signal.SIGKILL)
    assert forks.wait() == -signal.SIGKILL
    os.kill(int(reached.read_text()), signal.SIGKILL)


def slow_git(folder: Path, verb: str) -> str:
    """A PATH on which git stops for good at one verb, after having begun."""
    real = subprocess.run(["which", "git"], capture_output=True, text=True, check=True).stdout.strip()
    folder.mkdir(exist_ok=True)
    script = folder / "git"
    begun = f'echo $$ >"{folder}/pid"; mv "{folder}/pid" "{folder}/reached"; exec sleep 60'
    script.write_text(f'#!/bin/sh\nif [ "$1" = {verb} ]; then {begun}; fi\nexec {real} "$@"\n')
    script.chmod(0o755)
    (folder / "reached").unlink(missing_ok=True)
    return f"{folder}:{os.environ['PATH']}"


@pytest.mark.parametrize(
    "verb", ["init", "ls-files", "update-index", "write-tree", "mktree", "commit-tree", "update-ref"]
)
def test_a_kill_in_the_middle_of_a_snapshot_leaves_none_and_the_next_works(
    rig: Rig, forks: Forks, tmp_path: Path, verb: str
) -> None:
    rig.write({"a": "1", "b": "2"})
    if verb != "init":
        rig.take()
        rig.write({"a": "changed"})
    known = rig.snapshots()
    killed(rig, forks, "take", slow_git(tmp_path / "bin", verb), tmp_path / "bin" / "reached")
    assert rig.snapshots() == known
    before = rig.seen()
    rig.take()
    wipe(rig.folder)
    rig.back()
    assert rig.seen() == before


@pytest.mark.parametrize("verb", ["read-tree", "checkout-index", "diff-files"])
def test_a_kill_in_the_middle_of_a_rollback_is_told_and_the_same_again_completes_it(
    rig: Rig, forks: Forks, tmp_path: Path, verb: str
) -> None:
    rig.write({"a": "1", "b": "2", "c": "3"})
    before = rig.seen()
    rig.take()
    rig.write({"a": "x", "new": "n"})
    after = rig.seen()
    killed(rig, forks, "restore", slow_git(tmp_path / "bin", verb), tmp_path / "bin" / "reached")
    assert cut_off(rig.store, rig.folder) == rig.snapshots()[-1].when
    assert "cut off half-way" in listing(str(rig.folder), [], cut_off(rig.store, rig.folder))
    kept = rig.snapshots()[0]
    assert kept.kind == "rollback"
    rig.back(len(rig.snapshots()))
    assert rig.seen() == before
    assert cut_off(rig.store, rig.folder) == 0
    rig.back(next(n for n, s in enumerate(rig.snapshots(), 1) if s.ref == kept.ref))
    assert rig.seen() == after


@pytest.mark.parametrize("damage", [b"", b"DIRC", b"\0" * 500])
def test_a_damaged_index_is_made_anew(rig: Rig, damage: bytes) -> None:
    rig.write({"a": "1"})
    rig.take()
    index = rig.store.root / "projects" / f"{rig.store.project(rig.folder)}.index"
    index.write_bytes(damage)
    rig.write({"a": "2"})
    rig.take()
    rig.write({"a": "3"})
    rig.back(1)
    assert (rig.folder / "a").read_text() == "2"


def test_two_processes_take_snapshots_of_one_folder(rig: Rig) -> None:
    rig.write({str(n): str(n) for n in range(50)})
    words = [sys.executable, str(DYING), str(rig.folder), str(rig.store.root), "take"]
    processes = [subprocess.Popen(words) for _ in range(4)]
    assert [p.wait() for p in processes] == [0] * 4
    assert len(rig.snapshots()) == 1


def test_who_waits_too_long_for_another_is_told(rig: Rig) -> None:
    key = rig.store.project(rig.folder)
    rig.take()
    with locked(rig.store.root / "locks" / f"{key}.lock", Job(60)), pytest.raises(GitFailed, match="another Hermes"):
        rig.store.take(rig.folder, About(), Job(0.1))


def test_a_job_that_is_stopped_ends_its_git(rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = Job(60)
    job.stop()
    with pytest.raises(GitFailed, match="too long"):
        rig.store.take(rig.folder, About(), job)


def test_without_git_it_is_said(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(UserError, match="no git on this machine"):
        rig.take()


# --- tidying ----------------------------------------------------------------------------------------------------------


def test_only_so_many_are_kept(of: Callable[..., Rig]) -> None:
    rig = of(max_snapshots=3)
    for n in range(5):
        rig.write({"a": str(n)})
        rig.take()
    assert len(rig.snapshots()) == 3
    rig.back(3)
    assert (rig.folder / "a").read_text() == "2"


def test_what_is_old_goes_and_what_is_gone_stays_for_a_day(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.write({"a": "1"})
    rig.take()
    wipe(rig.folder)
    rig.folder.rmdir()
    assert prune(rig.store, Job(60)).dropped == 0
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 86_500)
    assert prune(rig.store, Job(60)).dropped == 1
    assert projects(rig.store, Job(60)) == []
    rig.folder.mkdir()
    rig.write({"a": "1"})
    rig.take()
    assert prune(rig.store, Job(60)).dropped == 0
    monkeypatch.setattr(time, "time", lambda: now + 8 * 86_500)
    assert prune(rig.store, Job(60)).dropped == 1


def test_the_store_stays_within_its_size(of: Callable[..., Rig]) -> None:
    rig = of(max_total_size_mb=2)
    for n in range(6):
        rig.write({"a": os.urandom(800_000), "n": str(n)})
        rig.take()
    done = prune(rig.store, Job(60))
    assert done.before > 4_000_000
    assert done.after == size(rig.store) <= 2_000_000
    assert 1 <= len(rig.snapshots()) < 6
    last = rig.seen()
    wipe(rig.folder)
    rig.back(1)
    assert rig.seen() == last


def test_tidying_comes_once_a_day_and_clears_what_the_dead_left(rig: Rig) -> None:
    rig.write({"a": "1"})
    rig.take()
    stale = rig.store.repository / "packed-refs.lock"
    stale.write_text("")
    assert due(rig.store)
    tidy(rig.store, Job(60))
    assert not stale.exists()
    assert not due(rig.store)
    rig.write({"a": "2"})
    rig.take()
    wipe(rig.folder)
    rig.back(2)
    assert (rig.folder / "a").read_text() == "1"


# --- any folder at all ------------------------------------------------------------------------------------------------

_NAME = st.text(st.characters(exclude_characters="/\0", exclude_categories=("Cs",)), min_size=1, max_size=12).filter(
    lambda n: n not in (".", "..") and n.lower() not in (".git", ".gitignore", ".gitattributes") and not is_secret(n)
)
_FOLDER = st.dictionaries(
    st.lists(_NAME, min_size=1, max_size=3).map("/".join), st.tuples(st.binary(max_size=40), st.booleans()), max_size=6
)


def lay(folder: Path, files: dict[str, tuple[bytes, bool]]) -> None:
    wipe(folder)
    for name, (data, runs) in files.items():
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            path.chmod(0o755 if runs else 0o640)
        except (OSError, ValueError):  # a file where a folder is wanted, or a name too long
            continue


@pytest.mark.long
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_FOLDER, _FOLDER)
def test_whatever_a_folder_was_it_is_again(
    one: dict[str, tuple[bytes, bool]], two: dict[str, tuple[bytes, bool]]
) -> None:
    with tempfile.TemporaryDirectory() as root:
        rig = Rig(Path(root))
        lay(rig.folder, one)
        first = rig.seen()
        rig.take()
        lay(rig.folder, two)
        second = rig.seen()
        done = rig.back(1)
        assert rig.seen() == first
        assert done.left == {}
        if first != second:
            rig.back(1)
            assert rig.seen() == second


def test_facts_are_json_of_any_name(rig: Rig) -> None:
    path = os.fsdecode(os.fsencode(rig.folder) + b"/\xff")
    Path(path).write_text("x")
    Path(path).chmod(0o600)
    made = rig.take()
    with rig.store.at(rig.folder, Job(60)) as g:
        assert rig.store.facts(g, made).modes == {"\udcff": 0o600}
    assert json.dumps(list(rig.store.facts(g, made).modes))
