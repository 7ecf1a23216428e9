"""Damage of every kind of page: it is found, what can be read is kept, and nothing else takes the store's place."""

import asyncio
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from hermes_core.errors import UserError
from hermes_core.store.store import open_store
from hermes_tool_upkeep import salvage
from hermes_tool_upkeep.look import look
from hermes_tool_upkeep.service import mended
from hermes_tool_upkeep.shape import Pages

from .conftest import ME, SAID, SESSIONS, named, said

PAGE = 4096
ALL = SESSIONS * SAID
MOST = {"first": 0, "rows": 60, "tree": 0, "index": 0, "index tree": 0, "rest": 3}  # messages that one page may cost


@pytest.fixture(autouse=True)
def _quick_fresh(monkeypatch, empty_store):
    """A new store is the same each time: one is made for all tests here."""

    def fresh(home, *settings):
        home.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(empty_store, home / "state.db")

    monkeypatch.setattr(salvage, "fresh", fresh)


def flipped(path: Path, number: int, *places: int) -> None:
    """Change bytes of a page, which is counted from 1."""
    with path.open("r+b") as file:
        for at in places:
            file.seek((number - 1) * PAGE + at)
            [byte] = file.read(1)
            file.seek(-1, 1)
            file.write(bytes([byte ^ 0xFF]))


def counted(path: Path, table: str) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


def usable(path: Path) -> int:
    """Open it as the kernel does, read every session, and search; how many messages there are."""

    async def use() -> int:
        store = open_store(path)
        try:
            rows = await store.sessions.list(ME, limit=100)
            many = 0
            for row in rows:
                messages = await store.history.messages(ME, row.session.id, window=1000)
                many += len(messages)
            assert len(await store.history.search(ME, "word", limit=1000)) >= many - 1
            return many
        finally:
            store.close()

    return asyncio.run(use())


def kinds(path: Path) -> dict[str, list[int]]:
    """The pages of a store by what they are of: tables, indexes, and what holds the rest of long rows."""
    pages, found = Pages(path), dict[str, list[int]]()
    for number in range(1, pages.count + 1):
        name = {0x0D: "rows", 0x05: "tree", 0x0A: "index", 0x02: "index tree"}.get(pages.kind(number), "rest")
        found.setdefault("first" if number == 1 else name, []).append(number)
    return found


def test_the_store_of_these_tests_has_every_kind_of_page(full_store):
    assert kinds(full_store).keys() == {"first", "rows", "tree", "index", "index tree", "rest"}


@pytest.mark.parametrize("kind", ["first", "rows", "tree", "index", "index tree", "rest"])
def test_flips_on_each_kind_of_page_cost_the_rows_on_it_at_most(home, full_store, kind, pytestconfig):
    """What was lost is bounded by what one page holds, and a store that was kept is whole and can be used."""
    path, dice = home / "state.db", random.Random(kind)
    pages = kinds(full_store)[kind]
    for _ in range(max(2, pytestconfig.getoption("--flips") // 6)):
        shutil.copyfile(full_store, path)
        page = dice.choice(pages)
        head = 100 if page == 1 and dice.random() < 0.5 else 0
        places = [
            dice.randrange(head, dice.choice([PAGE, head + 16, head + 120])) for _ in range(dice.choice([1, 1, 8, 60]))
        ]
        flipped(path, page, *places)
        before = path.read_bytes()
        found = look(path)
        assert path.read_bytes() == before, "to look changes nothing"
        saved = salvage.repair(path)
        assert saved.old.read_bytes() == before
        assert look(path).level == "ok", (kind, page, places, found)
        kept = usable(path)
        assert kept == saved.rows["messages"]
        assert ALL - kept <= MOST[kind], (page, places, found, saved)
        saved.old.unlink()


def test_a_page_that_is_gone_altogether_costs_its_rows_and_no_more(home, full_store):
    path = home / "state.db"
    with closing(sqlite3.connect(path)) as connection:
        [page] = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'messages'").fetchone()
    assert page in kinds(full_store)["tree"]
    with path.open("r+b") as file:
        file.seek((page - 1) * PAGE)
        file.write(b"\xff" * PAGE)
    with closing(sqlite3.connect(path)) as connection, pytest.raises(sqlite3.DatabaseError):
        connection.execute("SELECT count(body), max(length(body)) FROM messages").fetchone()
    assert look(path).level == "damaged"
    salvage.repair(path)
    assert usable(path) == ALL


def test_a_search_index_that_misses_words_is_found_and_made_anew_beside_others(home):
    path = home / "state.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO search (search) VALUES ('delete-all')")
        connection.commit()
    found = look(path)
    assert found.level == "derived"
    assert found.lines == [f"{ALL} messages are not found by a search"]
    other = open_store(path)
    mended(path)
    assert look(path).level == "ok"
    assert len(asyncio.run(other.history.search(ME, "talk3", limit=100))) == SAID
    other.close()


def test_a_search_index_with_damaged_pages_is_made_anew_by_a_repair(home):
    path = home / "state.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE search_data SET block = zeroblob(20) WHERE id > 10")
        connection.commit()
    assert look(path).level == "derived"
    mended(path)
    assert look(path).level == "ok"
    assert usable(path) == ALL


def test_an_index_that_does_not_fit_its_rows_is_derived(home):
    path = home / "state.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA writable_schema=ON")
        other = "UPDATE sqlite_master SET sql = replace(sql, '(session_id)', '(turn_id)') WHERE name = ?"
        connection.execute(other, ("messages_of_session",))
        connection.commit()
    assert look(path).level == "derived"
    mended(path)
    assert look(path).level == "ok"


def test_what_was_only_in_the_log_is_kept(home, tmp_path):
    path = home / "state.db"
    store = open_store(path)
    asyncio.run(store.history.add(named(0), said(0, SAID)))
    for end in ("", "-wal"):
        shutil.copyfile(f"{path}{end}", tmp_path / f"cut.db{end}")
    store.close()
    cut = tmp_path / "cut.db"
    flipped(cut, 1, 3)  # no database any more, for SQLite
    assert look(cut).level == "damaged"
    salvage.repair(cut)
    assert usable(cut) == ALL + 1


def test_one_of_an_older_release_stays_one_and_is_migrated_then(tmp_path):
    from hermes_core.store.file_database import FileDatabase
    from hermes_core.store.migrate import upgrade

    path = tmp_path / "state.db"
    database = FileDatabase(path)
    database.transact(lambda tx: upgrade(tx, database.place, to="0004"))
    run = database.connection.execute
    run("INSERT INTO owners (profile, person) VALUES ('default', 'owner')")
    run("INSERT INTO sessions (id, owner, origin) VALUES ('old', 1, 'cli')")
    for at in range(30):
        run(
            "INSERT INTO messages (session_id, owner, role, body) VALUES ('old', 1, 'user', ?)",
            (f'{{"role":"user","parts":[{{"type":"text","text":"old {at}"}}]}}',),
        )
    database.close()
    flipped(path, 1, 3)
    salvage.repair(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [("0004",)]
    store = open_store(path)
    assert len(asyncio.run(store.history.messages(ME, "old", window=100))) == 30
    store.close()


def test_rows_of_a_plugin_are_kept_too(home):
    path = home / "state.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE tool_x__notes (id INTEGER PRIMARY KEY, name TEXT NOT NULL)")
        connection.execute("CREATE UNIQUE INDEX tool_x__names ON tool_x__notes (name)")
        connection.executemany("INSERT INTO tool_x__notes (name) VALUES (?)", [(f"n{n}",) for n in range(50)])
        connection.commit()
    flipped(path, 1, 3)
    salvage.repair(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*), max(name) FROM tool_x__notes").fetchone() == (50, "n9")
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute("INSERT INTO tool_x__notes (name) VALUES ('n1')")


@pytest.mark.parametrize(
    ("content", "level"),
    [(b"", "gone"), (b"x", "gone"), (b"dear diary\n" * 900, "foreign")],
)
def test_what_is_no_store_is_named_and_left_alone(home, content, level):
    path = home / "state.db"
    path.write_bytes(content)
    assert look(path).level == level
    with pytest.raises(UserError):
        salvage.repair(path)
    assert path.read_bytes() == content
    assert [one.name for one in home.iterdir()] == ["state.db"]


def test_a_database_of_another_program_is_foreign(home):
    path = home / "state.db"
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")
    assert look(path).level == "foreign"


HOLDER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("SELECT 1 FROM owners")
print(1, flush=True)
input()
"""


def test_one_in_use_is_not_replaced(home):
    command = [sys.executable, "-c", HOLDER, str(home / "state.db")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout
        other.stdout.readline()
        with pytest.raises(UserError, match=f"process {other.pid}"):
            salvage.repair(home / "state.db")
        other.communicate(b"\n")
    assert salvage.repair(home / "state.db").rows["messages"] == ALL


STEPS = ((Path, "replace"), (Path, "unlink"), (Path, "chmod"), (os, "link"), (os, "fsync"))


def died(path: Path, at: int) -> bool:
    """Repair in a process that is killed before its n-th step; whether it was."""
    child = os.fork()
    if not child:
        left = at

        def counted_step(real):
            def step(*arguments, **named):
                nonlocal left
                left -= 1
                if not left:
                    os.kill(os.getpid(), signal.SIGKILL)
                return real(*arguments, **named)

            return step

        for owner, name in STEPS:
            setattr(owner, name, counted_step(getattr(owner, name)))
        try:
            salvage.repair(path)
        finally:
            os._exit(0)
    return os.waitpid(child, 0)[1] == signal.SIGKILL


def test_a_death_leaves_the_damaged_file_or_the_new_one(home, full_store):
    path, step, ends = home / "state.db", 1, set()
    while True:
        shutil.copyfile(full_store, path)
        flipped(path, 1, 3)
        before = path.read_bytes()
        killed = died(path, step)
        there = path.read_bytes()
        ends.add(there == before)
        if there == before:
            assert salvage.repair(path).rows["messages"] == ALL
        assert usable(path) == ALL
        if not killed:
            break
        step += 1
    assert ends == {True, False}
    assert step > 5


READ_IT = """
import sys
from pathlib import Path
from hermes_tool_upkeep.look import look
print(look(Path(sys.argv[1])).level)
"""


def test_one_on_a_disk_that_cannot_be_written_is_looked_at(home, tmp_path):
    if not shutil.which("unshare") or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
        pytest.skip("mount namespaces are not allowed here")
    place = tmp_path / "mount"
    place.mkdir()
    mount = f"mount --bind {home} {place}; mount -o remount,bind,ro {place}"
    script = f'set -e; {mount}; exec {sys.executable} -c "$1" {place}/state.db'
    done = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", READ_IT], capture_output=True, text=True)
    assert done.stdout == "ok\n", done.stderr
