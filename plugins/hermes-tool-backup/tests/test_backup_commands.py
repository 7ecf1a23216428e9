"""``hermes backup`` as a person and as a program use it."""

import gzip
import io
import json
import sqlite3
import subprocess
import sys
import tarfile
import threading

import pytest

from hermes_core.errors import UserError
from hermes_tool_backup import restore
from hermes_tool_backup.archive import copies

from .conftest import KEY, tree, words, write

OPEN = {"HERMES_BACKUP_PASSPHRASE": "four words nobody says"}


def made(result):
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def content(path):
    return gzip.decompress(path.read_bytes())


def test_a_copy_brings_everything_back_but_what_it_left_out(run, home, tmp_path):
    told = made(run("create", "--json"))
    assert set(told["left_out"]) == {
        ".env", "data/tool-vault/key", "data/tool-x/login.json", "profiles/work/.env", "skills/away",
    }  # fmt: skip
    there = tmp_path / "there"
    assert run("restore", "--to", there).exit_code == 0
    outside = ("cache", "logs", "backups", "gateway.lock", "profiles/work/cache", "profiles/work/logs")
    wanted = {
        name: text for name, text in tree(home).items() if name not in told["left_out"] and not name.startswith(outside)
    }
    assert tree(there) == wanted
    assert words(there) == words(there / "profiles" / "work") == ["one"]
    assert (there / "memories").stat().st_mode & 0o777 == 0o700


def test_a_copy_into_a_folder_around_the_home_is_whole(run, home, tmp_path):
    assert made(run("create", "--to", tmp_path, "--json"))["files"] > 5
    assert run("restore", copies(tmp_path)[0].path, "--to", tmp_path / "there").exit_code == 0
    assert (tmp_path / "there" / "SOUL.md").read_text() == "Be kind.\n"


def test_no_secret_is_in_a_copy_unless_asked_for_and_then_it_is_sealed(run, home, tmp_path):
    (home / "config.yaml").write_text(f"model: {{provider: custom, api_key: {KEY}}}\n")
    run("create")
    (plain,) = copies(home / "backups")
    assert KEY.encode() not in content(plain.path)
    assert b"provider: custom" in content(plain.path)
    assert made(run("create", "--with-secrets", "--json", env=OPEN))["left_out"].keys() == {"skills/away"}
    sealed = copies(home / "backups")[0]
    assert sealed.sealed
    assert KEY.encode() not in sealed.path.read_bytes()
    with pytest.raises(UserError, match="does not open"):
        run("verify", env={"HERMES_BACKUP_PASSPHRASE": "other words than these"})
    assert "is whole" in run("verify", env=OPEN).stdout
    assert run("restore", "--to", tmp_path / "there", env=OPEN).exit_code == 0
    assert KEY in (tmp_path / "there" / ".env").read_text()


def test_a_restore_in_place_can_be_undone_and_leaves_what_no_copy_holds(run, home):
    before = tree(home)
    run("create", "--label", "good")
    write(home, "two")
    (home / "SOUL.md").write_text("Be cruel.\n")
    (home / "memories" / "MEMORY.md").unlink()
    (home / "later.md").write_text("new")
    (home / ".env").write_text("KEY=later")
    (home / "profiles" / "work" / "logs" / "new.log").write_text("n")
    result = run("restore", "--yes")
    assert "before-restore" in result.stdout
    now = tree(home)
    assert {name for name in now if not name.startswith("backups/")} == {*before, "profiles/work/logs/new.log"} - {
        "profiles/work/cache/c"
    }
    assert now["SOUL.md"] == "Be kind.\n"
    assert now[".env"] == "KEY=later"
    assert words(home) == ["one"]
    run("restore", copies(home / "backups")[0].path.name, "--yes")
    assert words(home) == ["one", "two"]
    assert (home / "later.md").read_text() == "new"


def test_what_is_written_while_it_is_copied_is_whole_or_not_there(run, home, tmp_path, pytestconfig):
    """Four writers put pairs into the database; a copy never holds half of one."""
    stop = threading.Event()
    for place in (home,):
        write(place)

    def keep_writing(name):
        connection = sqlite3.connect(home / "state.db", timeout=30)
        while not stop.is_set():
            with connection:
                connection.executemany("INSERT INTO said VALUES (?)", [(name,), (name,)])
        connection.close()

    writers = [threading.Thread(target=keep_writing, args=(f"w{number}",)) for number in range(4)]
    for writer in writers:
        writer.start()
    try:
        for number in range(pytestconfig.getoption("--restores")):
            assert run("create", "--label", f"n{number}").exit_code == 0
    finally:
        stop.set()
        for writer in writers:
            writer.join()
    for copy in copies(home / "backups"):
        there = tmp_path / copy.label
        run("restore", copy.path, "--to", there)
        assert all(words(there).count(f"w{number}") % 2 == 0 for number in range(4))


def flipped(data, at):
    return data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]


@pytest.mark.parametrize("sealed", [False, True])
def test_damage_is_found_wherever_it_is_and_nothing_is_brought_back(run, home, tmp_path, sealed):
    run("create", *(["--with-secrets"] if sealed else []), env=OPEN)
    (copy,) = copies(home / "backups")
    data = copy.path.read_bytes()
    step = len(data) // (3 if sealed else 12)  # to open a sealed one takes its time
    for at in [*range(12, len(data), step), len(data) - 9, -1]:
        copy.path.write_bytes(data[:at] if at == -1 else flipped(data, at))
        with pytest.raises(UserError):
            raise UserError("wrong") if run("verify", env=OPEN).exit_code else AssertionError(at)
        with pytest.raises(UserError):
            run("restore", "--to", tmp_path / "there", env=OPEN)
        assert not (tmp_path / "there").exists()
    assert not [*(home / "backups").glob(".verify-*")]


@pytest.mark.parametrize("name", ["home/../../out", "home//etc/x", "/abs", "out", "home/a/./b"])
def test_a_copy_that_somebody_made_up_writes_nowhere_else(run, tmp_path, name):
    path = tmp_path / "hermes-20260101-000000.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        info = tarfile.TarInfo(name)
        info.size = 1
        tar.addfile(info, io.BytesIO(b"x"))
    with pytest.raises(UserError, match="outside of a home"):
        run("restore", path, "--to", tmp_path / "there")
    assert not (tmp_path / "out").exists()


def test_a_damaged_database_is_kept_as_it_is_and_told(run, home):
    data = (home / "state.db").read_bytes()
    (home / "state.db").write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))
    result = run("create")
    assert result.exit_code == 1
    assert "damaged: state.db" in result.stderr
    assert run("verify").exit_code == 1


def test_a_home_in_use_is_not_replaced(run, home):
    run("create")
    script = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('BEGIN'); print(1, flush=True); input()"
    command = [sys.executable, "-c", script, str(home / "state.db")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout
        other.stdout.readline()
        with pytest.raises(UserError, match=f"process {other.pid}"):
            run("restore", "--yes")
        other.communicate(b"\n")
    assert not (home / ".restore").exists()
    assert run("restore", "--yes").exit_code == 0


def test_what_cannot_be_is_told_in_a_line(run, home, tmp_path):
    assert "There is no copy" in run("list").stderr
    for command in ("verify", "restore"):
        with pytest.raises(UserError, match="There is no copy"):
            run(command, *(["--yes"] if command == "restore" else []))
    with pytest.raises(UserError, match="is no label"):
        run("create", "--label", "../x")
    with pytest.raises(UserError, match="nobody is here"):
        run("create", "--with-secrets")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("")
    run("create")
    with pytest.raises(UserError, match="not empty"):
        run("restore", "--to", tmp_path / "full")
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="No copy was made"):
        run("create", "--to", tmp_path / "file")
    assert not restore.unfinished(home)


def test_the_list_is_for_people_and_programs(run):
    run("create", "--label", "one")
    assert "one" in run("list").stdout
    (row,) = [json.loads(line) for line in run("list", "--json").stdout.splitlines()]
    assert (row["label"], row["sealed"]) == ("one", False)
