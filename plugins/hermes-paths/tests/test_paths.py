"""Every way to write a path: `paths.jsonl` says what becomes of each and why. All of it on a real folder."""

import json
import os
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tree import Tree

from hermes_closed.closed import guarded_by
from hermes_core.errors import OutOfReach
from hermes_paths.places import PathRules, check_path, open_parent, open_path, spell

ROWS = [json.loads(line) for line in (Path(__file__).parent / "paths.jsonl").read_text().splitlines()]
FILES = [row["file"] for row in ROWS if row["expect"] == "open" and not row["file"].startswith("/")]


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    made = Tree(tmp_path_factory.mktemp("tree").resolve())
    made.plant(FILES)
    return made


def content(text: str, rules: PathRules) -> str:
    with os.fdopen(open_path(text, rules)) as file:
        return file.read(10_000)


@pytest.mark.skipif(sys.platform != "linux", reason="the table is of Linux")
def test_a_path_is_read_one_way_or_refused(subtests, tree):
    for row in ROWS:
        with subtests.test(row["reason"], path=ascii(row["path"])[:40]):
            read_one_way_or_refused(row, tree)


def read_one_way_or_refused(row, tree):
    text = tree.text(row["path"])
    for rules, expect in (
        (tree.rules, row["expect"]),
        (tree.rules._replace(roots=[tree.work]), row.get("rooted", row["expect"])),
    ):
        if expect == "open":
            there = row["file"]
            assert content(text, rules) == (Path(there).read_text()[:10_000] if there.startswith("/") else there)
        elif expect == "absent":
            with pytest.raises(OSError):  # noqa: PT011 - which one depends on what is missing
                open_path(text, rules)
        else:
            with pytest.raises(OutOfReach) as refused:
                open_path(text, rules)
            assert all(line.isprintable() for line in str(refused.value).splitlines())
            assert len(str(refused.value)) < 1_000


@pytest.mark.skipif(sys.platform != "linux", reason="the table is of Linux")
def test_nothing_that_may_not_be_read_is_written(subtests, tree):
    for row in (row for row in ROWS if row["expect"] == "refuse"):
        with subtests.test(path=ascii(row["path"])[:40]), pytest.raises(OutOfReach):
            open_parent(tree.text(row["path"]), tree.rules)


def test_the_table_is_large_enough_to_mean_something():
    assert len(ROWS) >= 200


@pytest.mark.parametrize("when", ["file", "folder"])
def test_a_link_that_is_put_there_after_the_check_is_not_followed(tmp_path, monkeypatch, when):
    """The moment between judging a path and opening it: the file, or a folder on the way, becomes a link."""
    work, kept = tmp_path / "work" / "sub", tmp_path / "kept"
    work.mkdir(parents=True)
    kept.mkdir()
    (work / "a").write_text("fine")
    (kept / "a").write_text("secret")

    def swap(*arguments):
        if when == "file":
            (work / "a").unlink()
            (work / "a").symlink_to(kept / "a")
        else:
            work.rename(tmp_path / "work" / "old")
            work.symlink_to(kept)
        return ""

    monkeypatch.setattr("hermes_paths.places.guarded_by", swap)
    with pytest.raises(OSError):  # noqa: PT011
        open_path("sub/a", PathRules(cwd=str(tmp_path / "work")))


def test_a_link_that_is_swapped_without_end_never_leads_to_the_secret(tmp_path):
    work, kept = tmp_path / "work", tmp_path / "kept"
    work.mkdir()
    kept.write_text("secret")
    (tmp_path / "fine").write_text("fine")
    stop = threading.Event()

    def swap():
        while not stop.is_set():
            for target in (kept, tmp_path / "fine"):
                (work / "new").symlink_to(target)
                (work / "new").replace(work / "a")

    (work / "a").write_text("fine")
    thread = threading.Thread(target=swap)
    thread.start()
    read = set()
    try:
        for _ in range(2_000):
            try:
                read.add(content("a", PathRules(cwd=str(work), guarded=[kept])))
            except (OutOfReach, OSError):
                read.add("refused")
    finally:
        stop.set()
        thread.join()
    assert "secret" not in read


def test_a_file_is_written_into_the_folder_that_was_judged(tmp_path):
    rules = PathRules(cwd=str(tmp_path))
    folder, name = open_parent("new/deep/a.txt", rules)
    try:
        with os.fdopen(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, dir_fd=folder), "w") as file:
            file.write("x")
    finally:
        os.close(folder)
    assert (tmp_path / "new/deep/a.txt").read_text() == "x"


def descriptors() -> set[tuple[str, int, int]]:
    """What is open, one by one: what an earlier test left open may be closed meanwhile."""
    found = set()
    for entry in Path("/dev/fd").iterdir():
        with suppress(OSError):  # the one that lists them
            status = os.fstat(int(entry.name))
            found.add((entry.name, status.st_dev, status.st_ino))
    return found


def test_descriptors_do_not_leak(tmp_path):
    (tmp_path / "a").write_text("x")
    rules = PathRules(cwd=str(tmp_path), guarded=[tmp_path / "kept"])
    before = descriptors()
    for text in ("a", "nosuch", "no/such", "/dev/zero", ".", "kept"):
        for opener in (open_path, open_parent):
            try:
                opened = opener(text, rules)
                os.close(opened if isinstance(opened, int) else opened[0])
            except (OutOfReach, OSError):
                pass
    assert descriptors() - before == set()


def test_what_holds_a_guarded_file_is_named_where_it_is_asked_for(tmp_path):
    kept = tmp_path / "home" / ".env"
    assert guarded_by(str(tmp_path / "home"), [kept], below=True) == str(kept)
    assert not guarded_by(str(tmp_path / "home"), [kept])


@given(
    st.text(max_size=60)
    | st.lists(st.sampled_from(["..", ".", "/", "~", "a", " ", "\\", "dev", "proc", "C:"])).map("".join)
)
def test_any_text_is_a_path_or_refused_and_stays_the_same(text):
    try:
        path = spell(text, "/work", "/home/me")
    except OutOfReach:
        return
    assert path.startswith("/")
    assert "/../" not in f"{path}/"
    assert not path.startswith("//")
    assert spell(path, "/elsewhere") == path


NAMES = st.sampled_from(["a", "b", "kept", "KEPT", "work", "out", "c d", ".env"])
STEPS = st.lists(NAMES | st.sampled_from(["..", "."]), min_size=1, max_size=5).map("/".join)
WISHES = st.lists(st.tuples(st.sampled_from(["file", "link", "hard", "folder"]), STEPS, STEPS), max_size=12)


@settings(max_examples=150, deadline=None)
@given(wishes=WISHES, asked=st.lists(STEPS, min_size=1, max_size=6))
@pytest.mark.long
def test_in_no_tree_is_a_file_opened_that_is_guarded_or_outside(wishes, asked, tmp_path_factory):
    base = tmp_path_factory.mktemp("wild").resolve()
    work, kept, out = base / "work", base / "kept", base / "out"
    for folder in (work, kept, out):
        folder.mkdir()
        (folder / ".env").write_text(str(folder))
    for kind, one, other in wishes:
        _grant(kind, work / one, work / other, base)
    guarded = {_identity(p) for p in kept.rglob("*") if p.is_file()}
    outside = {_identity(p) for p in out.rglob("*") if p.is_file()} - {
        _identity(p) for p in work.rglob("*") if p.is_file() and not p.is_symlink()
    }
    rules = PathRules(cwd=str(work), roots=[work], guarded=[kept])
    for text in asked:
        try:
            descriptor = open_path(text, rules)
        except (OutOfReach, OSError):
            continue
        found = os.fstat(descriptor)
        real = (
            str(Path(f"/proc/self/fd/{descriptor}").readlink()) if sys.platform == "linux" else check_path(text, rules)
        )
        os.close(descriptor)
        assert (found.st_dev, found.st_ino) not in guarded
        assert (found.st_dev, found.st_ino) not in outside
        assert real.startswith(f"{work}/")


def _grant(kind: str, place: Path, other: Path, base: Path) -> None:
    try:
        if base not in (place.resolve(), *place.resolve().parents):
            return
        if kind == "folder":
            place.mkdir(parents=True)
        elif kind == "file":
            place.write_text("x")
        elif kind == "link":
            place.symlink_to(os.path.relpath(other, place.parent))
        else:
            os.link(other, place)
    except (OSError, RuntimeError):
        pass


def _identity(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino
