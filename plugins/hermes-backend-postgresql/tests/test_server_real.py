"""What only a server can do: refuse, vanish, be shared by machines, and let many write at once."""

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest

from hermes_atomic import processes
from hermes_backend_postgresql.driver import PostgreSQL
from hermes_backend_postgresql.server import ServerTransaction
from hermes_core import database
from hermes_core.errors import HermesError, StoreError, UserError
from hermes_core.store import leases
from hermes_core.store.leases import Busy, Turn
from hermes_core.store.store import Store, open_store
from hermes_core.types import Envelope, Message, Principal, Session, Text

pytestmark = pytest.mark.real
ME = Principal()
ID = "20260101_000000_aaaaaa"
Cluster = Any


def user(text: str = "hello") -> Message:
    return Message(role="user", parts=(Text(text=text),))


def opened(url: str) -> Store:
    return open_store(Path("nowhere/state.db"), url=url, driver=PostgreSQL())


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    made = opened(database_url)
    yield made
    made.close()


@pytest.fixture
def other(database_url: str) -> Iterator[Store]:
    """Another process's view."""
    made = opened(database_url)
    yield made
    made.close()


def refused(url: str) -> str:
    with pytest.raises(HermesError) as caught:
        opened(url).close()
    assert isinstance(caught.value, StoreError | UserError)
    return str(caught.value)


# --- what is said when it cannot be used -------------------------------------------------------------------------


def test_a_server_that_is_down_is_said_at_once(cluster: Cluster) -> None:
    said = refused("postgresql://me:hush@127.0.0.1:9/hermes")
    assert "postgresql://127.0.0.1:9/hermes cannot be used: it cannot be reached" in said
    assert "hush" not in said


def test_a_wrong_password_is_said_and_no_password_shown(cluster: Cluster) -> None:
    cluster.sql("DROP ROLE IF EXISTS locked", "CREATE ROLE locked LOGIN PASSWORD 'open sesame'")
    rules = cluster.data / "pg_hba.conf"
    before = rules.read_text()
    rules.write_text("host all locked 127.0.0.1/32 scram-sha-256\n" + before)
    cluster.sql("SELECT pg_reload_conf()")
    try:
        for _ in range(100):  # the server reads it in its own time
            said = refused(cluster.url("nosuch", "locked:hush"))
            if "password" in said:
                break
            time.sleep(0.05)
        assert "refuses the user or the password" in said
        assert "hush" not in said
        assert "refuses the user or the password" in refused(cluster.url("hermes", "locked"))
    finally:
        rules.write_text(before)
        cluster.sql("SELECT pg_reload_conf()")


def test_a_user_or_a_database_that_is_not_there_is_said(cluster: Cluster) -> None:
    assert "refuses the user" in refused(cluster.url("hermes", "nobody"))
    assert "no database of that name" in refused(cluster.url("nosuch"))


def test_a_server_without_a_free_connection_is_said(cluster: Cluster) -> None:
    cluster.sql("DROP ROLE IF EXISTS crowd", "CREATE ROLE crowd LOGIN CONNECTION LIMIT 0")
    assert "connections are taken" in refused(cluster.url("hermes", "crowd"))


def test_a_user_who_may_make_no_tables_is_told_how_to_get_the_right(cluster: Cluster) -> None:
    cluster.sql("DROP ROLE IF EXISTS guest", "CREATE ROLE guest LOGIN")
    url = cluster.database()
    said = refused(url.replace("postgres@", "guest@"))
    cluster.drop(url)
    assert "may not do that" in said
    assert "OWNER TO" in said


def test_a_database_that_cannot_hold_every_character_is_refused(cluster: Cluster) -> None:
    cluster.sql("DROP DATABASE IF EXISTS odd", "CREATE DATABASE odd ENCODING 'SQL_ASCII' TEMPLATE template0 LOCALE 'C'")
    assert "SQL_ASCII" in refused(cluster.url("odd"))
    cluster.drop(cluster.url("odd"))


@pytest.mark.parametrize(
    "address",
    [
        "mysql://me:hush@host/x",
        "host=127.0.0.1 password=hush",
        "postgresql://me:hu@sh@host/x",
        "postgresql://me:hu/sh@host/x",
        "postgresql://me:hush@host:port/x",
        "postgresql://me:hush@host/x?nosuch=hush",
        "postgresql://me:%zzhush@host/x",
        "postgresql://me:hush@[::1/x",
    ],
)
def test_an_address_that_is_none_is_refused_without_a_word_of_it(address: str) -> None:
    said = refused(address)
    assert "store.url" in said
    assert not any(piece in said for piece in ("hush", "hu@", "sh@", "/sh"))


def test_a_missing_driver_is_said_with_the_mend(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from pathlib import Path; from hermes_core.store.store import open_store\n"
        "from hermes_backend_postgresql.driver import PostgreSQL\n"
        "open_store(Path('x'), url='postgresql://h/x', driver=PostgreSQL())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path)
    assert "pip install 'hermes-core[postgresql]'" in done.stderr
    assert list(tmp_path.iterdir()) == []


async def test_a_standby_is_read_from_and_says_that_it_is_read_only(cluster: Cluster, clusters: Any) -> None:
    url = cluster.database("hermes")
    primary = opened(url)
    await primary.sessions.create(Session(id=ID, origin="cli"))
    await primary.history.add(ID, user())
    primary.close()
    standby = clusters(create=False)
    standby.run("pg_basebackup", "-D", str(standby.data), "-R", "-X", "stream", "-c", "fast", "-d", cluster.url())
    standby.start()
    store = opened(standby.url(url.rpartition("/")[2]))
    assert await store.history.load(ID) == [user()]
    with pytest.raises(StoreError, match="read-only"):
        await store.history.add(ID, user())
    store.close()
    standby.stop()
    cluster.drop(url)


async def test_a_server_that_became_read_only_is_said_and_keeps_what_it_has(store: Store, other: Store) -> None:
    await store.sessions.create(Session(id=ID, origin="cli"))
    await store.history.add(ID, user("kept"))
    name = str(store.place).split("/")[3].split()[0]
    store.database.transact(
        lambda tx: tx.connection.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    )
    store.database._forget_idle()  # type: ignore[attr-defined]
    with pytest.raises(StoreError, match="read-only"):
        await store.history.add(ID, user("refused"))
    assert await store.history.load(ID) == [user("kept")]


def test_a_full_disk_is_said_and_what_was_acknowledged_is_there(clusters: Any, tmp_path: Path) -> None:
    if os.geteuid() or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
        pytest.skip("mount namespaces are not allowed here")
    server = clusters()
    place = Path(tempfile.mkdtemp(prefix="hermes-full-"))
    shutil.chown(place, "postgres", "postgres")
    mount = f"mount -t tmpfs -o size=13m,uid={place.stat().st_uid},mode=700 none {place}"
    server.start(within=["unshare", "-m", "sh", "-c", f'{mount} && exec "$@"', "sh"])
    server.sql(f"CREATE TABLESPACE small LOCATION '{place}'", "CREATE DATABASE t TEMPLATE template0 TABLESPACE small")
    store, kept = opened(server.url("t")), []

    async def fill() -> None:
        await store.sessions.create(Session(id=ID, origin="cli"))
        while len(kept) < 5000:
            kept.append(await store.history.add(ID, user(f"text {len(kept)} " + os.urandom(2000).hex())))

    with pytest.raises(StoreError, match="its disk is full"):
        asyncio.run(fill())
    assert kept
    assert [row for row, _ in asyncio.run(store.history.messages(ME, ID, window=9000))] == kept
    store.close()
    server.stop()
    place.rmdir()


# --- tables ----------------------------------------------------------------------------------------------------


def test_instants_are_kept_to_the_microsecond_and_numbers_have_room(store: Store) -> None:
    types = "SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = 'public'"
    found = {tuple(row) for row in store.database.transact(lambda tx: tx.connection.execute(types).fetchall())}
    assert {kind for _, kind in found} == {"text", "bigint", "double precision", "character varying"}
    assert {name for name, kind in found if kind == "character varying"} == {"version_num"}


async def test_a_database_that_holds_tables_of_others_takes_ours_too(cluster: Cluster) -> None:
    url = cluster.database()
    cluster.sql("CREATE TABLE recipes (name TEXT)", database=url.rpartition("/")[2])
    store = opened(url)
    await store.sessions.create(Session(id=ID, origin="cli"))
    store.close()
    cluster.drop(url)


def test_a_database_in_which_our_names_are_taken_is_left_alone(cluster: Cluster) -> None:
    url = cluster.database()
    cluster.sql("CREATE TABLE messages (name TEXT)", database=url.rpartition("/")[2])
    assert "another program" in refused(url)
    cluster.drop(url)


def test_several_processes_may_make_the_same_store_at_once(cluster: Cluster) -> None:
    url = cluster.database()
    program = (
        "import sys; from pathlib import Path; from hermes_core.store.store import open_store\n"
        "from hermes_backend_postgresql.driver import PostgreSQL\n"
        "sys.stdin.readline(); open_store(Path('x'), url=sys.argv[1], driver=PostgreSQL()).close()"
    )
    command = [sys.executable, "-c", program, url]
    started = [subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(4)]
    for process in started:
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
    assert [(process.communicate()[1], process.returncode) for process in started] == [(b"", 0)] * 4
    cluster.drop(url)


async def test_hits_far_from_the_newest_rows_are_found_in_order(store: Store) -> None:
    await store.sessions.create(Session(id=ID, origin="cli"))
    for after in (0, 5000, 10000):
        store.database.transact(
            lambda tx, after=after: tx.connection.execute(f"SELECT setval('messages_id_seq', {after + 1})")
        )
        for number in range(3):
            await store.history.add(ID, user(f"word {number}"))
    rows = list(range(1, 10))  # each by its number in the session, whatever row it is
    for limit in (2, 3, 4, 9):
        newest = await store.history.search(ME, "word", limit=limit)
        oldest = await store.history.search(ME, "word", limit=limit, sort="oldest")
        assert [hit.message_id for hit in newest] == rows[::-1][:limit]
        assert [hit.message_id for hit in oldest] == rows[:limit]


# --- many at once ----------------------------------------------------------------------------------------------


async def begun(store: Store, turn_id: str, session_id: str = ID, envelope: Envelope | None = None) -> Turn:
    more = {"holder": turn_id, "provider": "", "model": "", "envelope": envelope}
    return await store.journal.open_turn(session_id, user(turn_id), turn_id=turn_id, **more)  # type: ignore[arg-type]


async def outcomes(*works: Any) -> list[str]:
    """How many of several went how, each in a store of its own."""
    done = await asyncio.gather(*works, return_exceptions=True)
    return sorted(type(one).__name__ for one in done)


@pytest.fixture
def stores(database_url: str) -> Iterator[list[Store]]:
    made = [opened(database_url) for _ in range(6)]
    yield made
    for one in made:
        one.close()


async def test_of_many_who_open_a_turn_one_gets_the_session(stores: list[Store]) -> None:
    await stores[0].sessions.create(Session(id=ID, origin="cli"))
    for number in range(5):
        name = f"s{number}"
        await stores[0].sessions.create(Session(id=name, origin="cli"))
        done = await outcomes(*(begun(one, f"{name}-{at}", name) for at, one in enumerate(stores)))
        assert done == ["Busy"] * 5 + ["Turn"]
        assert len(await stores[0].history.load(name)) == 1


async def test_the_same_incoming_message_in_many_sessions_opens_one_turn(stores: list[Store]) -> None:
    for number in range(5):
        envelope = Envelope(platform="irc", account="", event_id=str(number), chat="c", sender="s", message=user())
        names = [f"s{number}-{at}" for at in range(6)]
        for name in names:
            await stores[0].sessions.create(Session(id=name, origin="cli"))
        works = (begun(one, f"t{name}", name, envelope) for name, one in zip(names, stores, strict=True))
        assert await outcomes(*works) == ["Duplicate"] * 5 + ["Turn"]


async def test_a_session_and_its_owner_are_made_once(stores: list[Store]) -> None:
    for number in range(5):
        session = Session(id=f"s{number}", origin="cli", owner=Principal(person=f"p{number}"))
        done = await outcomes(*(one.sessions.create(session) for one in stores))
        assert done == ["NoneType"] + ["UserError"] * 5
        same = [Session(id=f"s{number}-{at}", origin="cli", owner=Principal(person=f"q{number}")) for at in range(6)]
        assert await outcomes(*(o.sessions.create(s) for o, s in zip(stores, same, strict=True))) == ["NoneType"] * 6
        assert len(await stores[0].sessions.list(Principal(person=f"q{number}"))) == 6


async def test_a_title_is_given_once(stores: list[Store]) -> None:
    for at in range(6):
        await stores[0].sessions.create(Session(id=f"s{at}", origin="cli"))
    done = await outcomes(*(one.sessions.rename(f"s{at}", "Trip", ME) for at, one in enumerate(stores)))
    assert done == ["NoneType"] + ["UserError"] * 5


async def test_many_who_write_in_one_session_keep_its_order(stores: list[Store], tmp_path: Path) -> None:
    await stores[0].sessions.create(Session(id=ID, origin="cli"))
    rows = await asyncio.gather(*(one.history.add(ID, user(str(n))) for n in range(10) for one in stores))
    [row] = await stores[0].sessions.list(ME)
    assert row.messages == 60
    [(last,)] = stores[0].database.transact(lambda tx: tx.connection.execute("SELECT last FROM sessions").fetchall())
    assert last == max(rows)


# --- who holds a session ---------------------------------------------------------------------------------------


async def test_a_holder_on_another_machine_is_judged_by_its_beat_alone(
    store: Store, other: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.sessions.create(Session(id=ID, origin="cli"))
    monkeypatch.setattr(processes, "place", lambda: "elsewhere")
    await begun(store, "t1")
    monkeypatch.undo()
    monkeypatch.setattr(processes, "is_running", lambda pid: False)  # its number says nothing here
    with pytest.raises(Busy):
        await begun(other, "t2")
    other.database.transact(lambda tx: tx.connection.execute("UPDATE leases SET beat = beat - 61"))
    await begun(other, "t2")


async def test_clocks_of_machines_mean_nothing_for_leases(
    store: Store, other: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.sessions.create(Session(id=ID, origin="cli"))
    wrong = SimpleNamespace(monotonic=lambda: time.monotonic() + 9999, time=lambda: 5.0)
    monkeypatch.setattr(leases, "time", wrong)
    monkeypatch.setattr("hermes_core.store.journal.time", wrong)
    turn = await begun(store, "t1")
    monkeypatch.undo()
    with pytest.raises(Busy):
        await begun(other, "t2")
    await store.journal.beat(turn)


async def test_a_server_clock_that_is_set_back_a_little_frees_nobody(store: Store, other: Store) -> None:
    await store.sessions.create(Session(id=ID, origin="cli"))
    await begun(store, "t1")
    other.database.transact(lambda tx: tx.connection.execute("UPDATE leases SET beat = beat + 20"))
    with pytest.raises(Busy):
        await begun(other, "t2")


# --- waiting ---------------------------------------------------------------------------------------------------


def held_by(store: Store) -> Callable[[], None]:
    """Keep the session locked, as a slow writer does, until the result is called."""
    connection = store.database._connection()  # type: ignore[attr-defined]
    connection.execute("BEGIN")
    ServerTransaction(connection, {}).alone(ID)
    return lambda: store.database._give_back(connection)  # type: ignore[attr-defined]


async def test_the_loop_and_readers_go_on_while_a_writer_waits(store: Store, other: Store) -> None:
    await store.sessions.create(Session(id=ID, origin="cli"))
    release = held_by(other)
    write = asyncio.create_task(store.history.add(ID, user("patient")))
    for _ in range(50):
        await asyncio.sleep(0)
    assert await store.history.load(ID) == [], "reading does not wait"
    await store.sessions.create(Session(id="another", origin="cli"))
    await store.history.add("another", user("nor does another session"))
    assert not write.done()
    release()
    await write
    assert await store.history.load(ID) == [user("patient")]


async def test_who_stops_waiting_finds_nothing_written_later(store: Store, other: Store) -> None:
    await store.sessions.create(Session(id=ID, origin="cli"))
    release = held_by(other)
    write = asyncio.create_task(store.history.add(ID, user("given up")))
    await asyncio.sleep(0.1)
    write.cancel()
    with pytest.raises(asyncio.CancelledError):
        await write
    release()
    await store.history.add(ID, user("after"))
    assert await store.history.load(ID) == [user("after")]


async def test_what_is_locked_for_too_long_is_said(store: Store, other: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    await store.sessions.create(Session(id=ID, origin="cli"))
    monkeypatch.setattr(database, "PATIENCE", 0.0)
    release = held_by(other)
    with pytest.raises(StoreError, match="locked"):
        await store.history.add(ID, user())
    release()
    assert await store.history.load(ID) == []


async def test_a_closed_store_says_so(store: Store) -> None:
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        await store.history.load(ID)


# --- a commit nobody answered ------------------------------------------------------------------------------------


@pytest.mark.parametrize("written", [True, False])
async def test_a_commit_nobody_answered_is_looked_up_and_never_done_twice(
    store: Store, monkeypatch: pytest.MonkeyPatch, written: bool
) -> None:
    await store.sessions.create(Session(id=ID, origin="cli"))
    real, lost = psycopg.Connection.execute, []

    def execute(self: Any, query: Any, *more: Any) -> Any:
        if query != "COMMIT" or lost:
            return real(self, query, *more)
        lost.append(query)
        if written:
            real(self, query)
        self.close()
        raise psycopg.OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(psycopg.Connection, "execute", execute)
    await store.history.add(ID, user("once"))
    assert lost
    assert await store.history.load(ID) == [user("once")]


async def test_a_commit_whose_end_cannot_be_learned_is_told_and_not_done_again(
    store: Store, other: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.sessions.create(Session(id=ID, origin="cli"))
    monkeypatch.setattr(database, "PATIENCE", 0.2)
    real = psycopg.Connection.execute

    def execute(self: Any, query: Any, *more: Any) -> Any:
        if query == "COMMIT":
            real(self, query)
            monkeypatch.setattr(store.database, "_address", "host=127.0.0.1 port=9")
            self.close()
            store.database._forget_idle()  # type: ignore[attr-defined]
            raise psycopg.OperationalError("server closed the connection unexpectedly")
        return real(self, query, *more)

    monkeypatch.setattr(psycopg.Connection, "execute", execute)
    with pytest.raises(StoreError, match="not known"):
        await store.history.add(ID, user("once"))
    monkeypatch.undo()
    assert await other.history.load(ID) == [user("once")]
