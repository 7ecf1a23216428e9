"""What goes wrong with files and disks is said in plain words, and costs nothing that was acknowledged."""

import asyncio
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from hermes_core import database as databases
from hermes_core.database import Transaction
from hermes_core.errors import StoreError
from hermes_core.store.file_database import FileDatabase
from hermes_core.store.history import append
from hermes_core.store.store import Store, open_store
from hermes_core.types import Message, Principal, Session, Text, ToolCall, Usage

ME = Principal()
ID = "20260101_000000_aaaaaa"


def user(text: str = "hello") -> Message:
    return Message(role="user", parts=(Text(text=text),))


def sound(store: Store) -> bool:
    """Whether database and search index are whole and agree."""
    if not isinstance(store.database, FileDatabase):  # a server checks its pages itself; the index is a table's
        lost = "SELECT 1 FROM messages LEFT JOIN search ON rowid = messages.id WHERE rowid IS NULL"
        return store.database.transact(lambda tx: tx.connection.execute(lost).fetchall()) == []
    run = store.database.connection.execute
    run("INSERT INTO search(search) VALUES ('integrity-check')")
    return bool(run("PRAGMA integrity_check").fetchone()[0] == "ok")


def test_a_file_that_is_no_database_is_named_and_left_alone(tmp_path: Path) -> None:
    database = tmp_path / "state.db"
    database.write_bytes(b"dear diary\n" * 500)
    with pytest.raises(StoreError, match="not a database") as caught:
        open_store(database)
    assert str(database) in str(caught.value)
    assert database.read_bytes() == b"dear diary\n" * 500


async def test_a_damaged_database_is_named(file_store: Store, tmp_path: Path) -> None:
    await file_store.sessions.create(Session(id=ID, origin="cli"))
    for number in range(300):
        await file_store.history.add(ID, user(f"text {number} " * 20))
    file_store.close()
    database = tmp_path / "state.db"
    size = database.stat().st_size
    with database.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (size - 4096))
    with pytest.raises(StoreError, match=r"damaged|not a database"):
        open_store(database)


def test_a_new_store_is_for_its_owner_only(file_store: Store, tmp_path: Path) -> None:
    assert [path.stat().st_mode & 0o077 for path in tmp_path.glob("state.db*")] == [0] * 3


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be opened"):
        open_store(tmp_path / "nowhere" / "state.db")


async def test_a_full_database_refuses_the_row_and_keeps_the_others(file_store: Store) -> None:
    await file_store.sessions.create(Session(id=ID, origin="cli"))
    run = file_store.database.connection.execute
    run(f"PRAGMA max_page_count={run('PRAGMA page_count').fetchone()[0] + 40}")
    kept: list[int] = []

    async def fill() -> None:
        while True:
            kept.append(await file_store.history.add(ID, user(f"text {len(kept)} " * 50)))

    with pytest.raises(StoreError, match="disk is full"):
        await fill()
    assert kept
    assert [row for row, _ in await file_store.history.messages(ME, ID, window=2000)] == kept
    run("PRAGMA max_page_count=1000000")
    kept.append(await file_store.history.add(ID, user("room again")))
    assert [row for row, _ in await file_store.history.messages(ME, ID, window=2000)] == kept
    assert sound(file_store)


FAIL_ON = """
import asyncio, json, sys
from pathlib import Path
from hermes_core.errors import StoreError
from hermes_core.store.store import open_store
from hermes_core.types import Message, Session, Text
store, kept, said = None, [], ""
try:
    store = open_store(Path(sys.argv[1]))
    asyncio.run(store.sessions.create(Session(id="a", origin="cli")))
    for number in range(2000):
        message = Message(role="user", parts=(Text(text=f"text {number} " * 50),))
        kept.append(asyncio.run(store.history.add("a", message)))
except StoreError as error:
    said = str(error)
me = Session(id="", origin="").owner
stored = [row for row, _ in asyncio.run(store.history.messages(me, "a", window=5000))] if kept else []
print(json.dumps({"said": said, "kept": kept, "stored": stored}))
"""


def in_mount(tmp_path: Path, commands: str) -> dict[str, object]:
    """Run the program on a file system of its own; skipped where that is not allowed."""
    place = tmp_path / "mount"
    place.mkdir()
    if not shutil.which("unshare") or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
        pytest.skip("mount namespaces are not allowed here")
    script = f'set -e; cd /; {commands.format(place=place)}; exec {sys.executable} -c "$1" {place}/state.db'
    done = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", FAIL_ON], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    result: dict[str, object] = json.loads(done.stdout)
    return result


def test_a_full_disk_is_said_and_what_was_acknowledged_is_there(tmp_path: Path) -> None:
    result = in_mount(tmp_path, "mount -t tmpfs -o size=2m none {place}")
    assert "full" in str(result["said"]) or "disk" in str(result["said"])
    assert result["kept"]
    assert result["kept"] == result["stored"]


def test_a_read_only_folder_is_said(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    result = in_mount(tmp_path, f"mount --bind -o ro {tmp_path}/empty {{place}}; mount -o remount,bind,ro {{place}}")
    assert "cannot be opened" in str(result["said"]) or "read-only" in str(result["said"])


def test_a_read_only_store_is_said(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    open_store(tmp_path / "full" / "state.db").close()
    result = in_mount(tmp_path, f"mount --bind {tmp_path}/full {{place}}; mount -o remount,bind,ro {{place}}")
    assert "cannot be opened" in str(result["said"]) or "read-only" in str(result["said"])


def everything(connection: sqlite3.Connection) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every table, those of the search index too."""
    names = connection.execute("SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE TABLE%'").fetchall()
    return {name: connection.execute(f'SELECT * FROM "{name}"').fetchall() for (name,) in names}


class FailingConnection:
    """Fails at the n-th statement with an error of the driver, as a bad disk would."""

    def __init__(self, connection: sqlite3.Connection, at: int) -> None:
        self._connection = connection
        self.left = at

    def __getattr__(self, name: str) -> object:
        return getattr(self._connection, name)

    def execute(self, *arguments: object) -> object:
        self.left -= 1
        if self.left == 0:
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = sqlite3.SQLITE_IOERR
            raise error
        return self._connection.execute(*arguments)  # type: ignore[arg-type]


async def test_a_fault_at_any_statement_leaves_all_of_a_step_or_nothing(file_store: Store) -> None:
    await file_store.sessions.create(Session(id=ID, origin="cli"))
    turn = await file_store.journal.open_turn(ID, user(), turn_id="t", holder="x", provider="", model="")
    calls = (ToolCall(id="a", name="ls", arguments={}), ToolCall(id="b", name="ls", arguments={}))
    reply = Message(role="assistant", parts=calls)
    sane = file_store.database.connection
    said = []
    for at in range(1, 100):
        before = everything(sane)
        file_store.database.connection = failing = FailingConnection(sane, at)  # type: ignore[assignment]
        try:
            await file_store.journal.add_reply(turn, reply, Usage(calls=1), "tools")
        except StoreError as error:
            said.append(str(error))
            assert everything(sane) == before
        finally:
            file_store.database.connection = sane
        if failing.left > 0:
            break
    assert len(said) > 8
    assert all("disk" in text for text in said)
    assert len(await file_store.history.messages(ME, ID)) == 2
    assert sound(file_store)


async def test_the_loop_goes_on_while_another_process_holds_the_file(file_store: Store, tmp_path: Path) -> None:
    await file_store.sessions.create(Session(id=ID, origin="cli"))
    other = FileDatabase(tmp_path / "state.db")
    other.connection.execute("BEGIN IMMEDIATE")
    write = asyncio.create_task(file_store.history.add(ID, user("patient")))
    turns = 0
    for _ in range(50):
        await asyncio.sleep(0)
        turns += 1
    assert turns == 50
    assert not write.done()
    assert await file_store.history.load(ID) == [], "reading does not wait"
    other.connection.execute("COMMIT")
    await write
    assert len(await file_store.history.load(ID)) == 1
    other.close()


async def test_who_stops_waiting_finds_nothing_written_later(file_store: Store, tmp_path: Path) -> None:
    await file_store.sessions.create(Session(id=ID, origin="cli"))
    other = FileDatabase(tmp_path / "state.db")
    other.connection.execute("BEGIN IMMEDIATE")
    write = asyncio.create_task(file_store.history.add(ID, user("given up")))
    await asyncio.sleep(0)
    write.cancel()
    with pytest.raises(asyncio.CancelledError):
        await write
    other.connection.execute("COMMIT")
    other.close()
    await file_store.history.add(ID, user("after"))
    assert [message for _, message in await file_store.history.messages(ME, ID)] == [user("after")]


async def test_a_file_locked_for_too_long_is_said(
    file_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await file_store.sessions.create(Session(id=ID, origin="cli"))
    monkeypatch.setattr(databases, "PATIENCE", 0.0)
    other = FileDatabase(tmp_path / "state.db")
    other.connection.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="locked"):
        await file_store.history.add(ID, user())
    other.connection.execute("ROLLBACK")
    other.close()
    assert await file_store.history.messages(ME, ID) == []


async def test_a_closed_store_says_so(store: Store) -> None:
    store.close()
    with pytest.raises(StoreError, match="closed"):
        await store.history.load(ID)


async def test_many_tasks_and_threads_lose_nothing(file_store: Store) -> None:
    await file_store.sessions.create(Session(id=ID, origin="cli"))

    def thread() -> None:
        def work(tx: Transaction) -> None:
            append(tx, ID, user("from a thread"), "")

        for _ in range(20):
            file_store.database.transact(work)

    threads = [threading.Thread(target=thread) for _ in range(3)]
    for each in threads:
        each.start()
    await asyncio.gather(*(file_store.history.add(ID, user(f"task {n}")) for n in range(60)))
    for each in threads:
        await asyncio.to_thread(each.join)
    assert len(await file_store.history.messages(ME, ID, window=1000)) == 120
    assert sound(file_store)


WRITER = """
import asyncio, sys
from pathlib import Path
from hermes_backend_postgresql.driver import PostgreSQL
from hermes_core.store.store import open_store
from hermes_core.types import Message, Session, Text
async def run():
    store = open_store(Path(sys.argv[1]), url=sys.argv[2], driver=PostgreSQL())
    await store.sessions.create(Session(id=sys.argv[3], origin="cli"))
    for number in range(int(sys.argv[4])):
        await store.history.add(sys.argv[3], Message(role="user", parts=(Text(text=f"word {number}"),)))
        print(number, flush=True)
    store.close()
asyncio.run(run())
"""


async def test_a_writer_that_is_killed_leaves_what_it_acknowledged(store: Store, tmp_path: Path, url: str) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path / "state.db"), url, "killed", "100000"]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    lines = [await process.stdout.readline() for _ in range(20)]
    os.kill(process.pid, 9)
    rest = await process.stdout.read()
    await process.wait()
    acknowledged = len(lines) + len(rest.split())
    stored = len(await store.history.messages(ME, "killed", window=1000))
    assert acknowledged <= stored <= acknowledged + 1
    assert sound(store)


async def test_a_process_holds_the_database_by_one_connection(file_store: Store, tmp_path: Path) -> None:
    await file_store.sessions.create(Session(id=ID, origin="cli"))
    await file_store.history.add(ID, user("needle"))
    await file_store.history.search(ME, "needle")
    await file_store.sessions.list(ME)
    links = [str(entry.readlink()) for entry in Path("/proc/self/fd").iterdir() if entry.is_symlink()]
    held = [link for link in links if link.startswith(str(tmp_path / "state.db"))]
    assert len(held) <= 3
    assert len([link for link in held if link.endswith("state.db")]) == 1


@pytest.mark.parametrize("content", [b"", b"x"])
def test_a_store_that_was_emptied_is_not_taken_for_a_new_one(tmp_path: Path, content: bytes) -> None:
    database = tmp_path / "state.db"
    database.write_bytes(content)
    os.utime(database, (0, 0))
    with pytest.raises(StoreError, match="was emptied"):
        open_store(database)
    assert database.read_bytes() == content


def test_one_that_another_process_is_about_to_make_is_made(tmp_path: Path) -> None:
    (tmp_path / "state.db").touch()
    open_store(tmp_path / "state.db").close()


@pytest.mark.parametrize("anew", [False, True])
async def test_what_is_said_after_the_file_was_deleted_is_refused(
    file_store: Store, tmp_path: Path, anew: bool
) -> None:
    """Or it would be acknowledged, and gone with the process."""
    await file_store.sessions.create(Session(id=ID, origin="cli"))
    for path in tmp_path.glob("state.db*"):
        path.rename(path.with_suffix(".away"))
    if anew:
        open_store(tmp_path / "state.db").close()
    with pytest.raises(StoreError, match="deleted or replaced"):
        await file_store.history.add(ID, user())
    assert await file_store.history.load(ID) == []


READ_IT = """
import asyncio, sys
from pathlib import Path
from hermes_core.errors import StoreError
from hermes_core.store.store import open_store
from hermes_core.types import Message, Principal, Session, Text
store = open_store(Path(sys.argv[1]))
print([session.session.id for session in asyncio.run(store.sessions.list(Principal()))])
try:
    asyncio.run(store.sessions.create(Session(id="b", origin="cli")))
except StoreError as error:
    print(error)
"""


def test_a_store_on_a_disk_that_cannot_be_written_is_read(tmp_path: Path) -> None:
    if not shutil.which("unshare") or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
        pytest.skip("mount namespaces are not allowed here")
    full, place = tmp_path / "full", tmp_path / "mount"
    full.mkdir()
    place.mkdir()
    store = open_store(full / "state.db")
    asyncio.run(store.sessions.create(Session(id="a", origin="cli")))
    store.close()
    mount = f"mount --bind {full} {place}; mount -o remount,bind,ro {place}"
    script = f'set -e; {mount}; exec {sys.executable} -c "$1" {place}/state.db'
    done = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", READ_IT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("['a']\n")
    assert "read-only" in done.stdout


async def test_a_process_may_change_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = open_store(Path("state.db"))
    monkeypatch.chdir("/")
    await store.sessions.create(Session(id=ID, origin="cli"))
    store.close()
