"""What is kept stays as it was, whenever the process dies, and runs only as it was approved."""

import json
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes_core.errors import ToolError, UserError
from hermes_core.testing.forks import Forks
from hermes_core.types import Principal
from hermes_tool_workshop.label import Label, read_label, write_label
from hermes_tool_workshop.permissions import Permissions
from hermes_tool_workshop.store import Damaged, ToolStore

LABEL = Label(name="own_x", owner="o", permissions=Permissions(), seconds=1, sha256="", when=1.0, session="s")


def kept(data: Path, *codes: str) -> ToolStore:
    store = ToolStore(data, Principal())
    for code in codes:
        store.keep("own_x", code, LABEL, 50)
    return store


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    """Processes that die before the n-th step of what they do."""
    with Forks(Path(__file__).with_name("crashing.py")) as made:
        yield made


@pytest.mark.long
@pytest.mark.parametrize("before", [0, 1, 2])
def test_killed_at_any_step_of_keeping_there_is_the_old_version_or_the_new_one(tmp_path, forks, before):
    """Every step, one after the other, until a run comes to its end."""
    seen = set()
    for at in range(1, 200):
        data = tmp_path / str(at)
        store = kept(data, *(f"old {n}\n" for n in range(before)))
        ended = forks.play(what="keep", data=str(data), at=at)
        if store.names():
            ledger = store.ledger("own_x")
            version = store.version("own_x", ledger.version)
            assert version.intact
            assert (ledger.version, version.code) in {(before, f"old {before - 1}\n"), (before + 1, "new\n")}
            seen.add(version.code)
            for number in ledger.digests:
                assert store.version("own_x", number).intact
        else:
            assert not before
            seen.add("")
        after = store.keep("own_x", "after\n", LABEL, 50)  # and whatever was left is in nobody's way
        assert store.approved("own_x")[1].code == "after\n"
        assert not list((store.folder / "own_x").glob(".new-*"))
        shutil.rmtree(data)
        assert after.version in (before + 1, before + 2)
        if ended == 0:
            break
        assert ended == -signal.SIGKILL
    else:
        pytest.fail("it never came to its end")
    assert at > 10
    assert len(seen) == 2


@pytest.mark.parametrize("what", ["switch", "archive"])
def test_killed_at_any_step_of_a_change_it_has_happened_or_not(tmp_path, forks, what):
    for at in range(1, 100):
        data = tmp_path / str(at)
        store = kept(data, "one\n", "two\n")
        ended = forks.play(what=what, data=str(data), at=at)
        if store.names():
            code = store.approved("own_x")[1].code
            assert code in (("one\n", "two\n") if what == "switch" else ("two\n",))
        else:
            assert what == "archive"
            assert len(list((store.folder / ".archive").iterdir())) == 1
        shutil.rmtree(data)
        if ended == 0:
            break
    else:
        pytest.fail("it never came to its end")
    assert at > 2


def test_a_full_disk_changes_nothing(tmp_path, monkeypatch):
    store = kept(tmp_path, "one\n")
    told: list[str] = []
    for number in range(1, 20):
        left, fsync = [number], os.fsync

        def full(handle, left=left, fsync=fsync):
            left[0] -= 1
            if not left[0]:
                raise OSError(28, "No space left on device")
            fsync(handle)

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            try:
                store.keep("own_x", "two\n", LABEL, 50)
            except ToolError as error:
                told.append(str(error))
            else:
                break
        assert store.approved("own_x")[1].code in ("one\n", "two\n")
    else:
        pytest.fail("it never went well")
    assert number > 3
    assert len(told) == number - 1
    assert all("No space left on device" in text for text in told)


CHANGES = {
    "the code": lambda place: (place / "1" / "tool.py").write_text("evil\n"),
    "what it may do": lambda place: (place / "1" / "tool.toml").write_bytes(
        (place / "1" / "tool.toml").read_bytes().replace(b"hosts = []", b'hosts = ["evil.example"]')
    ),
    "a byte more": lambda place: (place / "1" / "tool.py").open("a").write(" ") and None,
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_was_changed_on_the_disk_is_not_run(tmp_path, what):
    store = kept(tmp_path, "one\n")
    CHANGES[what](store.folder / "own_x")
    with pytest.raises(ToolError, match="is not what was approved") as told:
        store.approved("own_x")
    assert "hermes workshop accept own_x" in told.value.hint
    store.accept("own_x", store.version("own_x", 1).digest)
    assert store.approved("own_x")[1].intact


DAMAGE = {
    "no current": lambda place: (place / "current").write_text(""),
    "another format": lambda place: (place / "current").write_text('{"format": 9}'),
    "a version that is none": lambda place: (place / "current").write_text(
        '{"format": 1, "version": 7, "state": "on", "digests": {"1": "x"}}'
    ),
    "a path for a version": lambda place: (place / "current").write_text(
        '{"format": 1, "version": "../../x", "state": "on", "digests": {"../../x": "x"}}'
    ),
    "depth": lambda place: (place / "current").write_text("[" * 100_000),
    "a link for the code": lambda place: (
        (place / "1" / "tool.py").unlink(),
        (place / "1" / "tool.py").symlink_to("/etc/passwd"),
    ),
    "a link for a version": lambda place: ((place / "1").rename(place / "x"), (place / "1").symlink_to(place / "x")),
    "no code": lambda place: (place / "1" / "tool.py").unlink(),
    "a pipe for the code": lambda place: ((place / "1" / "tool.py").unlink(), os.mkfifo(place / "1" / "tool.py")),
    "no label": lambda place: (place / "1" / "tool.toml").write_text("x = 1"),
    "a huge file": lambda place: (place / "1" / "tool.py").write_bytes(bytes(2_000_000)),
    "no text": lambda place: (place / "1" / "tool.py").write_bytes(b"\xff"),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_whatever_is_damaged_is_told_and_nothing_runs(tmp_path, what):
    store = kept(tmp_path, "one\n")
    DAMAGE[what](store.folder / "own_x")
    with pytest.raises(ToolError) as told:
        store.approved("own_x")
    assert "own_x was not run" in str(told.value)
    assert "Traceback" not in str(told.value)


def test_names_lead_nowhere_else(tmp_path):
    store = kept(tmp_path, "one\n")
    for name in ("../own_x", "own_x/../own_x", "own_", "", ".lock", "own_x/1", "x"):
        with pytest.raises((UserError, Damaged)):
            store.ledger(name)
    with pytest.raises(UserError, match="Did you mean own_x"):
        store.ledger("own_xx")


def test_people_do_not_share_a_store(tmp_path):
    kept(tmp_path, "one\n")
    for owner in (Principal(person="hana"), Principal(profile="work"), Principal(person="../default.owner")):
        assert ToolStore(tmp_path, owner).names() == []
    assert (
        ToolStore(tmp_path, Principal(person="a.b")).folder
        != ToolStore(tmp_path, Principal(profile="a", person="b")).folder
    )
    assert ToolStore(tmp_path, Principal(person="../x")).folder.parent == tmp_path


def test_removed_is_archived_and_a_new_one_begins_anew(tmp_path):
    store = kept(tmp_path, "one\n", "two\n")
    place = store.archive("own_x")
    assert store.names() == []
    assert (place / "2" / "tool.py").read_text() == "two\n"
    assert store.keep("own_x", "three\n", LABEL, 50).version == 1


def test_there_is_an_end_to_how_many(tmp_path):
    store = kept(tmp_path, "one\n")
    with pytest.raises(ToolError, match="There are 1 tools already"):
        store.keep("own_y", "one\n", LABEL, 1)
    store.keep("own_x", "two\n", LABEL, 1)


def test_a_label_says_the_same_when_it_is_read():
    odd = Label(
        name="own_x", owner='a"b\\c', permissions=Permissions(hosts=("a.b",), reads=("é\x7f", ".")), seconds=5,
        sha256="0", when=1.5, session="s", why='say "it"\n\x00\x1b\u2028\ud800', examples=({"arguments": {"a": [1, None]}, "result": "é"},),  # noqa: E501
    )  # fmt: skip
    read = read_label(write_label(odd))
    assert read.permissions == odd.permissions
    assert read.why == 'say "it"\n\x00\x1b\u2028?'
    assert (read.examples, read.owner, read.when) == (odd.examples, odd.owner, odd.when)
    assert json.dumps(read.examples)


def test_files_are_for_their_owner_alone(tmp_path):
    store = kept(tmp_path, "one\n")
    for path in (store.folder, store.folder / "own_x", *(store.folder / "own_x").rglob("*")):
        assert path.stat().st_mode & 0o077 == 0, path
