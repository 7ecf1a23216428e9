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


class Desk:
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
        found = pick(self.snapshots(), number, self.folder)
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
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.fixture
def of(tmp_path: Path) -> Callable[..., Desk]:
    return lambda **config: Desk(tmp_path, **config)


def test_everything_that_was_deleted_comes_back(desk: Desk) -> None:
    desk.write({"a.txt": "one\n", "src/b.py": "x = 1\n", "src/deep/er/c.bin": bytes(range(256)), "empty": ""})
    before = desk.seen()
    desk.take()
    wipe(desk.folder)
    done = desk.back()
    assert desk.seen() == before
    assert done.restored == ("a.txt", "empty", "src/b.py", "src/deep/er/c.bin")
    assert (done.deleted, done.left) == ((), {})


def test_what_was_made_since_goes_and_what_was_changed_is_as_it_was(desk: Desk) -> None:
    desk.write({"a": "one", "b": "two"})
    desk.take()
    desk.write({"a": "changed", "new/c": "three"})
    done = desk.back()
    assert desk.seen() == {"a": (0o644, b"one"), "b": (0o644, b"two")}
    assert (done.restored, done.deleted) == (("a",), ("new/c",))
    assert not (desk.folder / "new").exists()


def test_a_rollback_can_be_undone(desk: Desk) -> None:
    desk.write({"a": "one"})
    desk.take()
    desk.write({"a": "two", "b": "new"})
    after = desk.seen()
    desk.back()
    assert desk.snapshots()[0].kind == "rollback"
    desk.back(1)
    assert desk.seen() == after


def test_one_file_or_one_folder_comes_back_alone(desk: Desk) -> None:
    desk.write({"a": "1", "d/b": "2", "d/c": "3", "dd": "4"})
    desk.take()
    wipe(desk.folder)
    desk.back(1, only="d/b")
    assert set(desk.seen()) == {"d/b"}
    desk.back(2, only="d")
    assert set(desk.seen()) == {"d/b", "d/c"}
    with pytest.raises(UserError, match="nowhere is not in this snapshot"):
        desk.back(1, only="nowhere")


def test_modes_links_and_odd_names_come_back(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "precious").write_text("mine")
    desk.write(
        {"run.sh": "#!/bin/sh\n", "private": "p", "ro": "r", "ünï/日本": "u", "new\nline": "n", "-rf": "d", 'q"\\': "q"}
    )
    (desk.folder / "run.sh").chmod(0o755)
    (desk.folder / "private").chmod(0o600)
    (desk.folder / "ro").chmod(0o444)
    Path(os.fsdecode(os.fsencode(desk.folder) + b"/\xff\xfe")).write_text("bytes")
    (desk.folder / "out").symlink_to(tmp_path / "outside")
    (desk.folder / "dangling").symlink_to("nowhere")
    before = desk.seen()
    desk.take()
    wipe(desk.folder)
    desk.write({"out/precious": "not mine", "dangling": "now a file"})
    done = desk.back()
    assert desk.seen() == before
    assert done.left == {}
    assert (tmp_path / "outside" / "precious").read_text() == "mine"


def test_a_link_in_the_place_of_a_folder_is_never_written_through(desk: Desk, tmp_path: Path) -> None:
    desk.write({"d/a": "one", "d/b": "two"})
    before = desk.seen()
    desk.take()
    wipe(desk.folder)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a").write_text("not to be touched")
    (desk.folder / "d").symlink_to(outside)
    desk.back()
    assert desk.seen() == before
    assert [(p.name, p.read_text()) for p in outside.iterdir()] == [("a", "not to be touched")]


def test_a_file_and_a_folder_change_places(desk: Desk) -> None:
    desk.write({"x": "file", "y/z": "folder"})
    before = desk.seen()
    desk.take()
    wipe(desk.folder)
    desk.write({"x/inner/deep": "1", "y": "2"})
    after = desk.seen()
    desk.back()
    assert desk.seen() == before
    desk.back(1)
    assert desk.seen() == after


def test_ignored_files_are_neither_kept_nor_lost(desk: Desk) -> None:
    desk.write({".gitignore": "out/\n*.log\n", "a": "1", "out/x": "built", "b.log": "l", "node_modules/m": "m"})
    desk.take()
    desk.write({".gitignore": "", "a": "2", "out/x": "built again"})
    done = desk.back()
    assert (desk.folder / "a").read_text() == "1"
    assert (desk.folder / "out/x").read_text() == "built again"
    assert (desk.folder / "b.log").read_text() == "l"
    assert (desk.folder / "node_modules/m").read_text() == "m"
    assert done.deleted == ()
    assert set(done.left) == {"b.log", "out/x"}


def test_what_the_projects_git_knows_is_kept_though_ignored(desk: Desk) -> None:
    desk.write({".gitignore": "out/\n", "out/kept": "1", "out/not": "2"})
    git(desk.folder, "init", "-q")
    git(desk.folder, "add", "-f", "out/kept")
    desk.take()
    wipe(desk.folder)
    desk.back()
    assert set(desk.seen()) - {n for n in desk.seen() if n.startswith(".git/")} == {".gitignore", "out/kept"}


def test_no_attribute_of_the_project_changes_a_byte(desk: Desk) -> None:
    desk.write(
        {".gitattributes": "* text=auto eol=lf\n*.dat filter=lfs diff=lfs -text\n*.u16 working-tree-encoding=UTF-16\n"}
    )
    desk.write({"crlf.txt": b"a\r\nb\r\n", "x.dat": b"\0\1data", "u.u16": "héllo".encode("utf-16"), "i": "$Id$ \n"})
    before = desk.seen()
    desk.take()
    wipe(desk.folder)
    desk.back()
    assert desk.seen() == before


def test_large_files_are_left_out_told_and_never_lost(of: Callable[..., Desk]) -> None:
    desk = of(max_file_size_mb=1)
    desk.write({"big": b"x" * 1_000_001, "small": "s", "grows": "g", "shrinks": b"y" * 1_000_001})
    made = desk.take()
    assert (made.files, made.skipped) == (2, 2)
    with desk.store.at(desk.folder, Job(60)) as g:
        assert desk.store.facts(g, made).skipped == {"big": "larger than 1 MB", "shrinks": "larger than 1 MB"}
    desk.write({"small": "changed", "grows": b"z" * 1_000_001, "shrinks": "tiny", "big": b"w" * 1_000_002})
    done = desk.back()
    assert (desk.folder / "small").read_text() == "s"
    assert (desk.folder / "grows").stat().st_size == 1_000_001
    assert (desk.folder / "shrinks").read_text() == "tiny"
    assert set(done.left) == {"grows", "shrinks"}
    assert done.restored == ("small",)


def test_secrets_stay_out_of_the_store(desk: Desk) -> None:
    desk.write(
        {".env": "KEY=sk-canary-1", "sub/.env.local": "sk-canary-2", "id_rsa": "sk-canary-3", ".env.example": "KEY="}
    )
    desk.write({".gitignore": "!.env\n"})
    made = desk.take()
    assert (made.files, made.skipped) == (2, 3)
    git_dir = desk.store.repository
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
    desk.write({".env": "KEY=sk-canary-9"})
    assert desk.back().deleted == ()
    assert (desk.folder / ".env").read_text() == "KEY=sk-canary-9"


def test_secrets_are_kept_where_the_person_wants_it(of: Callable[..., Desk]) -> None:
    desk = of(keep_secrets=True)
    desk.write({".env": "KEY=1"})
    desk.take()
    wipe(desk.folder)
    desk.back()
    assert (desk.folder / ".env").read_text() == "KEY=1"


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


def test_the_projects_own_git_is_not_touched(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.write({"a": "1", "b": "2", "sub/c": "3"})
    git(desk.folder, "init", "-q")
    git(desk.folder, "add", ".")
    git(desk.folder, "commit", "-qm", "first")
    desk.write({"a": "not staged", "b": "staged"})
    git(desk.folder, "add", "b")
    hook = desk.folder / ".git" / "hooks" / "post-index-change"
    hook.write_text(f"#!/bin/sh\ntouch {desk.folder}/hook-ran\n")
    hook.chmod(0o755)
    monkeypatch.setenv("GIT_DIR", str(desk.folder / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(desk.folder / ".git" / "index"))
    before = digest(desk.folder / ".git")
    desk.take()
    wipe(desk.folder)
    desk.back()
    desk.write({"d": "4"})
    desk.take()
    difference(desk.store, desk.folder, desk.snapshots()[0], Job(60))
    prune(desk.store, Job(60))
    assert digest(desk.folder / ".git") == before
    assert not (desk.folder / "hook-ran").exists()


def test_repositories_worktrees_and_submodules_inside_are_kept_as_files(desk: Desk, tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    (library / "l.txt").write_text("library")
    git(library, "init", "-q")
    git(library, "add", ".")
    git(library, "commit", "-qm", "first")
    desk.write({"a": "1", "nested/.gitignore": "skip\n", "nested/n": "2", "nested/skip": "s", "nested/in/m": "3"})
    git(desk.folder / "nested", "init", "-q")
    git(desk.folder / "nested" / "in", "init", "-q")
    git(desk.folder, "init", "-q")
    git(desk.folder, "submodule", "add", "-q", str(library), "sub")
    git(desk.folder, "commit", "-qm", "first")
    git(desk.folder, "worktree", "add", "-q", str(desk.folder / "tree"))
    gits = [p for p in desk.folder.rglob(".git") if p.is_dir()]
    before, own = desk.seen(), [digest(g) for g in gits]
    desk.take()
    for name in ("a", "nested/n", "nested/in/m", "sub/l.txt", "tree/.gitmodules"):
        (desk.folder / name).unlink()
    desk.back()
    assert desk.seen() == before
    assert [digest(g) for g in gits] == own


def test_a_folder_inside_a_repository_is_a_folder_like_any_other(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    desk = Desk(tmp_path)
    desk.write({"a": "1"})
    (tmp_path / "beside").write_text("b")
    desk.take()
    wipe(desk.folder)
    (tmp_path / "beside").write_text("changed")
    desk.back()
    assert desk.seen() == {"a": (0o644, b"1")}
    assert (tmp_path / "beside").read_text() == "changed"


def test_a_folder_that_was_deleted_as_a_whole_comes_back(desk: Desk) -> None:
    desk.write({"a": "1", "d/b": "2"})
    before = desk.seen()
    desk.take()
    wipe(desk.folder)
    desk.folder.rmdir()
    assert rows(desk.store, desk.folder, desk.snapshots(), Job(60))[0].changes == "the folder is gone"
    desk.back()
    assert desk.seen() == before


def test_an_empty_folder_has_a_snapshot_too(desk: Desk) -> None:
    desk.take()
    desk.write({"made": "1"})
    assert desk.back().deleted == ("made",)


def test_the_same_state_is_one_snapshot_and_an_old_one_is_taken_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.write({"a": "1"})
    first = desk.take()
    assert desk.take() == first
    (desk.folder / "a").chmod(0o600)
    assert desk.take().ref != first.ref
    later = time.time() + 7200
    monkeypatch.setattr(time, "time", lambda: later)
    assert desk.take().when == later
    assert len(desk.snapshots()) == 3


def test_limits_are_told(of: Callable[..., Desk], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = of(max_files=3, max_total_size_mb=1)
    desk.write({str(n): "x" for n in range(4)})
    with pytest.raises(GitFailed, match="has 4 files, 3 is the most"):
        desk.take()
    wipe(desk.folder)
    desk.write({"1": b"x" * 600_000, "2": b"y" * 600_000})
    with pytest.raises(GitFailed, match="max_total_size_mb is 1"):
        desk.take()
    monkeypatch.setenv("HOME", str(desk.folder))
    for wide in (desk.folder, tmp_path, "/"):
        with pytest.raises(UserError, match="too wide"):
            desk.store.checked(str(wide))
    monkeypatch.setenv("HOME", "/nonexistent")
    for wide in ("/usr", "/etc", tempfile.gettempdir(), "/proc/self", "/sys/class"):
        with pytest.raises(UserError, match="too wide"):
            desk.store.checked(wide)
    for own in ("", "data", "people", "workspaces", "data/workspace"):
        with pytest.raises(UserError, match="belongs to Hermes"):
            desk.store.checked(str(tmp_path / "home" / own))


@pytest.mark.parametrize("lent", ["workspace", "workspace/site", "people/ann"])
def test_a_folder_of_hermes_that_somebody_works_in_is_brought_back(tmp_path: Path, lent: str) -> None:
    folder = tmp_path / "home" / lent
    folder.mkdir(parents=True)
    (folder / "notes.txt").write_text("mine")
    store = Store(tmp_path / "home" / "data", Config(), closed=tmp_path / "home")
    assert store.take(store.checked(str(folder)), About(), Job(60))
    (folder / "notes.txt").unlink()
    newest = pick(store.snapshots(folder, Job(60)), 1, folder)
    restore(store, folder, newest, About(kind="rollback"), Job(60))
    assert (folder / "notes.txt").read_text() == "mine"


def test_what_was_read_before_a_stop_is_not_read_again(desk: Desk, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("hermes_tool_checkpoints.store._STEP", 3)
    desk.write({f"{n}.txt": f"{n}\n" for n in range(9)})
    desk.take()
    desk.write({f"more{n}.txt": f"{n}\n" for n in range(9)})
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
        desk.take()
    assert steps == [9, 3, 3]
    desk.take()
    assert steps[3:] == [12, 3, 3]  # what the first try read is known, and only looked at
    assert desk.snapshots()[0].files == 18


def test_a_refusal_holds_for_every_process_until_the_limits_change(
    of: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = of(max_files=3)
    desk.store.refuse(desk.folder, "too much")
    assert of(max_files=3).store.refused(desk.folder) == "too much"
    assert desk.store.refused(desk.folder.parent) == ""
    assert of(max_files=4).store.refused(desk.folder) == ""
    now = time.time()
    with monkeypatch.context() as clock:
        for moment in (now + 700, now - 700):  # later, and after the clock was set back
            clock.setattr(time, "time", lambda moment=moment: moment)
            assert desk.store.refused(desk.folder) == ""
    desk.store.forgive(desk.folder)
    assert desk.store.refused(desk.folder) == ""


def test_the_home_of_hermes_is_never_part_of_a_snapshot(tmp_path: Path) -> None:
    store = Store(tmp_path / ".hermes" / "data", Config(), closed=tmp_path / ".hermes")
    (tmp_path / "a").write_text("1")
    (tmp_path / ".hermes").mkdir()
    (tmp_path / ".hermes" / "state.db").write_text("private")
    made = store.take(tmp_path, About(), Job(60))
    assert made
    assert made.files == 1


def test_snapshots_of_another_place_are_not_shown(desk: Desk) -> None:
    desk.write({"a": "1"})
    desk.take(backend="local")
    assert len(desk.snapshots("local")) == 1
    assert desk.snapshots("ssh") == []
    other = Desk(desk.folder / "..")
    assert other.store.snapshots(desk.folder / "elsewhere", Job(60)) == []


# --- death, damage, company -------------------------------------------------------------------------------------------

DYING = Path(__file__).with_name("dying.py")


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    """Processes that take snapshots, or bring them back."""
    with Forks(DYING) as made:
        yield made


def killed(desk: Desk, forks: Forks, what: str, slow: str, reached: Path) -> None:
    """Kill a process, and the git that it runs, once git has reached where it is slow."""
    process = forks.start(env={"PATH": slow}, folder=str(desk.folder), data=str(desk.store.root), what=what)
    while not reached.exists():
        assert Path(f"/proc/{process}").exists()
        time.sleep(0.01)
    if what == "take":
        (desk.store.root / "projects").mkdir(parents=True, exist_ok=True)
        key = desk.store.project(desk.folder)
        (desk.store.root / "projects" / f"{key}.index.lock").write_bytes(b"half")
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
    desk: Desk, forks: Forks, tmp_path: Path, verb: str
) -> None:
    desk.write({"a": "1", "b": "2"})
    if verb != "init":
        desk.take()
        desk.write({"a": "changed"})
    known = desk.snapshots()
    killed(desk, forks, "take", slow_git(tmp_path / "bin", verb), tmp_path / "bin" / "reached")
    assert desk.snapshots() == known
    before = desk.seen()
    desk.take()
    wipe(desk.folder)
    desk.back()
    assert desk.seen() == before


@pytest.mark.parametrize("verb", ["read-tree", "checkout-index", "diff-files"])
def test_a_kill_in_the_middle_of_a_rollback_is_told_and_the_same_again_completes_it(
    desk: Desk, forks: Forks, tmp_path: Path, verb: str
) -> None:
    desk.write({"a": "1", "b": "2", "c": "3"})
    before = desk.seen()
    desk.take()
    desk.write({"a": "x", "new": "n"})
    after = desk.seen()
    killed(desk, forks, "restore", slow_git(tmp_path / "bin", verb), tmp_path / "bin" / "reached")
    assert cut_off(desk.store, desk.folder) == desk.snapshots()[-1].when
    assert "cut off half-way" in listing(desk.folder, [], cut_off(desk.store, desk.folder))
    kept = desk.snapshots()[0]
    assert kept.kind == "rollback"
    desk.back(len(desk.snapshots()))
    assert desk.seen() == before
    assert cut_off(desk.store, desk.folder) == 0
    desk.back(next(n for n, s in enumerate(desk.snapshots(), 1) if s.ref == kept.ref))
    assert desk.seen() == after


@pytest.mark.parametrize("damage", [b"", b"DIRC", b"\0" * 500])
def test_a_damaged_index_is_made_anew(desk: Desk, damage: bytes) -> None:
    desk.write({"a": "1"})
    desk.take()
    index = desk.store.root / "projects" / f"{desk.store.project(desk.folder)}.index"
    index.write_bytes(damage)
    desk.write({"a": "2"})
    desk.take()
    desk.write({"a": "3"})
    desk.back(1)
    assert (desk.folder / "a").read_text() == "2"


def test_two_processes_take_snapshots_of_one_folder(desk: Desk) -> None:
    desk.write({str(n): str(n) for n in range(50)})
    words = [sys.executable, str(DYING), str(desk.folder), str(desk.store.root), "take"]
    processes = [subprocess.Popen(words) for _ in range(4)]
    assert [p.wait() for p in processes] == [0] * 4
    assert len(desk.snapshots()) == 1


def test_who_waits_too_long_for_another_is_told(desk: Desk) -> None:
    key = desk.store.project(desk.folder)
    desk.take()
    with locked(desk.store.root / "locks" / f"{key}.lock", Job(60)), pytest.raises(GitFailed, match="another Hermes"):
        desk.store.take(desk.folder, About(), Job(0.1))


def test_a_job_that_is_stopped_ends_its_git(desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = Job(60)
    job.stop()
    with pytest.raises(GitFailed, match="too long"):
        desk.store.take(desk.folder, About(), job)


def test_without_git_it_is_said(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(UserError, match="no git on this machine"):
        desk.take()


# --- tidying ----------------------------------------------------------------------------------------------------------


def test_only_so_many_are_kept(of: Callable[..., Desk]) -> None:
    desk = of(max_snapshots=3)
    for n in range(5):
        desk.write({"a": str(n)})
        desk.take()
    assert len(desk.snapshots()) == 3
    desk.back(3)
    assert (desk.folder / "a").read_text() == "2"


def test_what_is_old_goes_and_what_is_gone_stays_for_a_day(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.write({"a": "1"})
    desk.take()
    wipe(desk.folder)
    desk.folder.rmdir()
    assert prune(desk.store, Job(60)).dropped == 0
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 86_500)
    assert prune(desk.store, Job(60)).dropped == 1
    assert projects(desk.store, Job(60)) == []
    desk.folder.mkdir()
    desk.write({"a": "1"})
    desk.take()
    assert prune(desk.store, Job(60)).dropped == 0
    monkeypatch.setattr(time, "time", lambda: now + 8 * 86_500)
    assert prune(desk.store, Job(60)).dropped == 1


def test_the_store_stays_within_its_size(of: Callable[..., Desk]) -> None:
    desk = of(max_total_size_mb=2)
    for n in range(6):
        desk.write({"a": os.urandom(800_000), "n": str(n)})
        desk.take()
    done = prune(desk.store, Job(60))
    assert done.before > 4_000_000
    assert done.after == size(desk.store) <= 2_000_000
    assert 1 <= len(desk.snapshots()) < 6
    last = desk.seen()
    wipe(desk.folder)
    desk.back(1)
    assert desk.seen() == last


def test_tidying_comes_once_a_day_and_clears_what_the_dead_left(desk: Desk) -> None:
    desk.write({"a": "1"})
    desk.take()
    stale = desk.store.repository / "packed-refs.lock"
    stale.write_text("")
    assert due(desk.store)
    tidy(desk.store, Job(60))
    assert not stale.exists()
    assert not due(desk.store)
    desk.write({"a": "2"})
    desk.take()
    wipe(desk.folder)
    desk.back(2)
    assert (desk.folder / "a").read_text() == "1"


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
        desk = Desk(Path(root))
        lay(desk.folder, one)
        first = desk.seen()
        desk.take()
        lay(desk.folder, two)
        second = desk.seen()
        done = desk.back(1)
        assert desk.seen() == first
        assert done.left == {}
        if first != second:
            desk.back(1)
            assert desk.seen() == second


def test_facts_are_json_of_any_name(desk: Desk) -> None:
    path = os.fsdecode(os.fsencode(desk.folder) + b"/\xff")
    Path(path).write_text("x")
    Path(path).chmod(0o600)
    made = desk.take()
    with desk.store.at(desk.folder, Job(60)) as g:
        assert desk.store.facts(g, made).modes == {"\udcff": 0o600}
    assert json.dumps(list(desk.store.facts(g, made).modes))
