"""A store is copied to a server and back: the same rows, the same finds, taken up where a death cut it off."""

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import psycopg
import pytest

from hermes_core.errors import UserError
from hermes_tool_upkeep import move, salvage

from .conftest import SAID, SESSIONS

pytestmark = pytest.mark.real


def rows_of(path):
    """Every row of every table but the search index, in order."""
    with closing(sqlite3.connect(path)) as connection:
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        kept = [name for name in names if not name.startswith(("search", "sqlite_"))]
        return {name: sorted(connection.execute(f'SELECT * FROM "{name}"').fetchall(), key=repr) for name in kept}


def schema_of(path, prefix):
    with closing(sqlite3.connect(path)) as connection:
        tables = [
            (name, connection.execute(f'PRAGMA table_info("{name}")').fetchall())
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
            if name.startswith(prefix)
        ]
        indexes = connection.execute(
            "SELECT name, tbl_name FROM sqlite_master WHERE type = 'index' AND tbl_name LIKE ? ORDER BY name",
            (f"{prefix}%",),
        ).fetchall()
    return [(name, [(c[1], c[3], bool(c[5])) for c in columns]) for name, columns in tables], indexes


@pytest.fixture
def used(run, home):
    """A home in which the program was at work, with the tables of a plugin, and texts of all kinds."""
    said = run("--provider", "offline", "-z", "write 서울특별시청 Ünïcode 🦉 to note.txt")
    assert said.returncode == 0, said.stderr
    assert run("gateway", "channels").returncode == 0
    with closing(sqlite3.connect(home / "state.db")) as connection:
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
        if "platform_gateway__people" not in tables:
            pytest.fail("the gateway made no tables")
        connection.execute(
            'INSERT INTO platform_gateway__people (platform, sender, person, role, name, "by", since)'
            " VALUES ('telegram', '7', 'ana', 'user', 'Ana', 'owner', 1700000000.123456)"
        )
        connection.commit()
    return home


def test_to_a_server_and_back_it_is_the_same(run, used, database_url, tmp_path):
    before = rows_of(used / "state.db")
    done = run("store", "move", database_url)
    assert done.returncode == 0, done.stderr
    assert "are there, and equal" in done.stdout
    (used / "config.yaml").write_text(f"store:\n  url: {database_url}\n")
    assert run("sessions", "search", "특별").stdout.count(">>>특별<<<") >= 1
    listed = run("sessions", "list", "--json", "-n", 100)
    assert len(listed.stdout.splitlines()) == SESSIONS + 1
    back = tmp_path / "back.db"
    done = run("store", "move", back)
    assert done.returncode == 0, done.stderr
    assert rows_of(back) == before
    assert schema_of(back, "platform_gateway__") == schema_of(used / "state.db", "platform_gateway__")

    there = tmp_path / "there"
    there.mkdir()
    back.rename(there / "state.db")
    assert "is sound" in run("store", "check", at=there).stdout
    assert run("sessions", "search", "특별", at=there).stdout.count(">>>특별<<<") >= 1
    assert run("--provider", "offline", "-z", "hello again", at=there).returncode == 0


def test_a_server_numbers_new_rows_behind_those_that_came(run, used, database_url):
    run("store", "move", database_url)
    (used / "config.yaml").write_text(f"store:\n  url: {database_url}\n")
    for _ in range(2):
        said = run("--provider", "offline", "-z", "hello there")
        assert said.returncode == 0, said.stderr
    assert len(run("sessions", "list", "--json", "-n", 100).stdout.splitlines()) == SESSIONS + 3


DIES = """
import os, signal, sys
from pathlib import Path
from hermes_tool_upkeep import move, salvage
left = int(sys.argv[3])
def seen(table, rows):
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
done = move.copy(Path(sys.argv[1]), sys.argv[2], seen)
print(sum(done.rows.values()), done.before)
"""


def test_a_copy_that_was_killed_is_taken_up_where_it_was(home, database_url):
    path, at = home / "state.db", 3
    salvage.fresh(home / "made", "store:", f"  url: {database_url}")
    while True:
        done = subprocess.run(
            [sys.executable, "-c", DIES, str(path), database_url, str(at)], capture_output=True, text=True, check=False
        )
        if done.returncode != -signal.SIGKILL:
            break
        at += 5
    assert done.returncode == 0, done.stderr
    rows, taken = map(int, done.stdout.split())
    assert taken > rows // 2
    with psycopg.connect(database_url) as connection:
        assert connection.execute("SELECT count(*) FROM messages").fetchone() == (SESSIONS * SAID,)
        assert connection.execute("SELECT count(*) FROM search").fetchone() == (SESSIONS * SAID,)
        assert connection.execute("SELECT count(*) FROM documents").fetchone() == (0,)


def test_what_went_from_the_source_meanwhile_goes_from_the_target(home, database_url, run):
    run("store", "move", database_url)
    with psycopg.connect(database_url) as connection:  # as if that had been cut off at its very end
        connection.execute(
            "INSERT INTO documents (plugin, owner, session_id, name, body, version, updated)"
            " VALUES ('tool/upkeep', 0, '', 'moving', '{}', 1, 0)"
        )
    with closing(sqlite3.connect(home / "state.db")) as connection:
        connection.execute("DELETE FROM messages WHERE id % 3 = 0")
        connection.execute("UPDATE sessions SET title = 'another' WHERE rowid = 1")
        connection.commit()
        left = connection.execute("SELECT count(*) FROM messages").fetchone()
    done = run("store", "move", database_url)
    assert done.returncode == 0, done.stderr
    with psycopg.connect(database_url) as connection:
        assert connection.execute("SELECT count(*) FROM messages").fetchone() == left
        assert connection.execute("SELECT count(*) FROM sessions WHERE title = 'another'").fetchone() == (1,)


def test_a_database_with_rows_of_others_is_left_alone(home, run, database_url):
    (home / "config.yaml").write_text(f"store:\n  url: {database_url}\n")
    assert run("--provider", "offline", "-z", "hello").returncode == 0
    (home / "config.yaml").unlink()
    done = run("store", "move", database_url)
    assert done.returncode != 0
    assert "not empty" in done.stderr
    with psycopg.connect(database_url) as connection:
        assert connection.execute("SELECT count(*) FROM sessions").fetchone() == (1,)


def test_nobody_may_write_meanwhile(home, tmp_path, run, database_url):
    with closing(sqlite3.connect(home / "state.db")) as mine:  # of this process, which is another than the program's
        mine.execute("SELECT 1 FROM owners").fetchone()
        done = run("store", "move", database_url)
    assert "Somebody works in" in done.stderr
    with psycopg.connect(database_url, application_name="hermes"), pytest.raises(UserError, match="1 programs work"):
        move.copy(home / "state.db", database_url)


def test_a_password_is_in_no_message(home, run):
    done = run("store", "move", "postgresql://ana:sesame99@127.0.0.1:1/x")
    assert done.returncode != 0
    assert "sesame99" not in done.stdout + done.stderr


def test_on_a_server_too_nothing_is_left_of_who_was_erased(run, used, database_url):
    with closing(sqlite3.connect(used / "state.db")) as connection:
        connection.execute("INSERT INTO owners (profile, person) VALUES ('default', 'ana')")
        of_ana = "SELECT 'of-ana', id, 'telegram' FROM owners WHERE person = 'ana'"
        connection.execute(f"INSERT INTO sessions (id, owner, origin) {of_ana}")
        connection.commit()
    run("store", "move", database_url)
    (used / "config.yaml").write_text(f"store:\n  url: {database_url}\n")
    assert "on a server" in run("store", "check").stderr
    done = run("store", "erase", "--person", "ana", "--yes")
    assert done.returncode == 0, done.stderr
    assert run("store", "erase", "--session", "latest", "--yes").returncode == 0
    with psycopg.connect(database_url) as connection:
        assert connection.execute("SELECT count(*) FROM owners WHERE person = 'ana'").fetchone() == (0,)
        assert connection.execute("SELECT count(*) FROM platform_gateway__people").fetchone() == (0,)
        assert connection.execute("SELECT count(*) FROM sessions").fetchone() == (SESSIONS,)
        assert connection.execute("SELECT count(*) FROM messages").fetchone() == (SESSIONS * SAID,)
