"""What is done with the store while a gateway runs, without being asked."""

import asyncio
import os
import sqlite3
import time
from contextlib import closing, suppress

import pytest
from attrs import evolve

from hermes_core.database import StoreBroker
from hermes_core.store.documents import Documents
from hermes_core.store.store import open_store
from hermes_core.testing import PluginContract, plugin_context
from hermes_core.types import Principal, Session
from hermes_tool_upkeep import service as services
from hermes_tool_upkeep.compact import compact, room, shorten_log
from hermes_tool_upkeep.config import Config
from hermes_tool_upkeep.erase import back_again, erase_again, erase_person
from hermes_tool_upkeep.look import look
from hermes_tool_upkeep.retain import drop_outputs, old_sessions
from hermes_tool_upkeep.rows import connected
from hermes_tool_upkeep.service import Upkeep

from .conftest import ME, SAID, SESSIONS, named, said

DAY = 86_400


class Contract(PluginContract):
    module = "hermes_tool_upkeep"
    kind = "tool"


class Here(StoreBroker):
    """A store in a file."""

    def address(self):
        return ""

    async def transact(self, work, begin="write"):
        raise NotImplementedError

    prepare = subscribe = transact


@pytest.fixture
def made(home, monkeypatch):
    """The service on the home, and the sessions that it deleted."""
    monkeypatch.setattr(services, "_GLANCE", 0.01)
    gone = []

    def make(**config):
        context = plugin_context(Contract().read_manifest(), home, config=Config(**config))

        class Sessions:
            async def delete(self, owner, session_id, *, erased=False):
                with closing(open_store(home / "state.db")) as store:
                    await store.sessions.delete(session_id, owner)
                gone.append(session_id)

        return Upkeep(evolve(context, store=Here(), sessions=Sessions())), gone

    return make


async def until(service, done):
    """Let it run until something is so."""
    running = asyncio.create_task(service.run())
    for _ in range(1000):
        if done() or running.done():
            break
        await asyncio.sleep(0.01)
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
    assert done()


def sql(home, *statements):
    with closing(sqlite3.connect(home / "state.db")) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def misfit(home):
    """Take all words out of the search index."""
    sql(home, "INSERT INTO search (search) VALUES ('delete-all')")


async def test_an_index_that_does_not_fit_is_made_anew_and_told(home, made):
    misfit(home)
    assert look(home / "state.db", deep=False).level == "derived"
    service, _ = made()
    await until(service, lambda: service._did)
    assert "made anew" in await service.status()
    assert not service.health()
    assert look(home / "state.db").level == "ok"


async def test_it_is_only_told_where_nobody_wants_it_mended(home, made):
    misfit(home)
    service, _ = made(mend=False)
    await until(service, service.health)
    assert look(home / "state.db").level == "derived"


async def test_damaged_rows_are_told_and_left_alone(home, made):
    with (home / "state.db").open("r+b") as file:
        with closing(sqlite3.connect(home / "state.db")) as connection:
            [page] = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'messages'").fetchone()
        file.seek((page - 1) * 4096)
        file.write(b"\xff" * 64)
    before = (home / "state.db").read_bytes()
    service, _ = made()
    await until(service, service.health)
    assert (home / "state.db").read_bytes() == before


async def test_a_log_is_written_into_the_store_while_it_is_in_use_and_before_a_commit_has_to(home, made, monkeypatch):
    monkeypatch.setattr(services, "_BREATH", 0.01)
    monkeypatch.setattr(services, "_LONG", 0)
    service, _ = made()
    words = f"talk0 line{SAID + 7} ".encode()
    with closing(open_store(home / "state.db")) as store:
        await store.history.add(named(0), said(0, SAID + 7))
        assert words not in (home / "state.db").read_bytes()
        await until(service, lambda: words in (home / "state.db").read_bytes())


@pytest.mark.parametrize("anew", [False, True])
async def test_a_store_that_is_deleted_in_use_is_told(home, made, anew):
    service, _ = made()

    def take_away():
        if not (home / "state.away").exists():
            (home / "state.db").rename(home / "state.away")
            if anew:
                (home / "state.db").write_bytes((home / "state.away").read_bytes())
        return service.health()

    await until(service, take_away)
    assert "deleted or replaced" in service.health()


async def test_sessions_go_after_their_days_and_those_of_a_platform_after_others(home, made):
    old, new = time.time() - 40 * DAY, time.time() - 5 * DAY
    sql(
        home,
        f"UPDATE sessions SET updated = {new}",
        f"UPDATE sessions SET updated = {old} WHERE id = '{named(1)}'",
        f"UPDATE sessions SET updated = {old}, origin = 'child' WHERE id = '{named(2)}'",
        f"UPDATE sessions SET origin = 'telegram' WHERE id = '{named(3)}'",
        f"UPDATE sessions SET updated = {old}, origin = 'matrix' WHERE id = '{named(4)}'",
    )
    service, gone = made(days=30, platforms={"telegram": 3, "matrix": 0})
    size = (home / "state.db").stat().st_size
    await until(service, lambda: service._did)
    assert gone == [named(1), named(3)]
    assert "2 old sessions deleted" in await service.status()
    assert (home / "state.db").stat().st_size < size, "their room is given back"
    assert look(home / "state.db").level == "ok"


def test_the_oldest_go_while_all_are_too_large(home):
    sql(home, *(f"UPDATE sessions SET updated = {1000 + n} WHERE id = '{named(n)}'" for n in range(SESSIONS)))
    with connected(home / "state.db") as connection:
        every = old_sessions(connection, days=0, platforms={}, bytes_=1)
        assert [old.id for old in every] == [named(number) for number in range(SESSIONS)]
        bound = sum(old.bytes for old in every[5:])
        assert old_sessions(connection, days=0, platforms={}, bytes_=bound) == every[:5]
        assert old_sessions(connection, days=0, platforms={}) == []


async def test_nothing_goes_by_itself_unless_wanted(home, made):
    sql(home, "UPDATE sessions SET updated = 1000")
    service, gone = made()
    running = asyncio.create_task(service.run())
    await asyncio.sleep(0.3)
    running.cancel()
    assert gone == []


def test_long_outputs_go_after_their_days(home):
    for name, age in (("a/1.txt", 40), ("a/2.txt", 1), ("b/1.txt", 40)):
        path = home / "cache" / "outputs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
        os.utime(path, (time.time() - age * DAY,) * 2)
    assert drop_outputs(home, 0) == 0
    assert drop_outputs(home, 30) == 2
    assert [one.name for one in sorted((home / "cache" / "outputs").rglob("*"))] == ["a", "2.txt"]


async def test_room_is_given_back_and_the_log_is_short(home):
    path = home / "state.db"
    store = open_store(path)
    for number in range(SESSIONS - 1):
        await store.sessions.delete(named(number), ME)
    log = home / "state.db-wal"
    assert log.stat().st_size > 0
    assert room(path) > 0.2
    before = path.stat().st_size
    assert shorten_log(path, 0)
    assert log.stat().st_size == 0
    assert compact(path) > before // 2
    assert room(path) == 0.0
    assert len(await store.history.messages(ME, named(SESSIONS - 1), window=100)) == SAID, "others go on"
    await store.history.add(named(SESSIONS - 1), said(0, 0))
    store.close()


async def test_nothing_is_left_of_a_person_who_was_erased(home, made):
    zoila = Principal(person="zoila")
    store = open_store(home / "state.db")
    await store.sessions.create(Session(id="of-zoila", origin="telegram", owner=zoila))
    await store.history.add("of-zoila", said(77, 1))
    await store.sessions.create(Session(id="below", origin="child", parent="of-zoila", owner=zoila))
    await Documents(store.database, "tool/x").put("likes", "zoilas tea", owner=zoila)
    store.close()
    sql(
        home,
        "CREATE TABLE platform_x__people (sender TEXT PRIMARY KEY, person TEXT)",
        "INSERT INTO platform_x__people VALUES ('7', 'zoila'), ('8', 'ben')",
        "CREATE TABLE platform_x__outbox (id INTEGER PRIMARY KEY, session_id TEXT, body TEXT)",
        "INSERT INTO platform_x__outbox (session_id, body) VALUES ('of-zoila', 'talk77'), ('other', 'stays')",
    )
    saved = (home / "state.db").read_bytes()
    service, gone = made()
    assert sorted(await erase_person(service._ctx, "zoila")) == ["below", "of-zoila"]
    compact(home / "state.db")
    everything = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file()).lower()
    for word in (b"talk77", b"zoilas tea", b"of-zoila", b"zoila"):
        assert word not in everything, word
    with closing(sqlite3.connect(home / "state.db")) as connection:
        assert connection.execute("SELECT sender FROM platform_x__people").fetchall() == [("8",)]
        assert connection.execute("SELECT body FROM platform_x__outbox").fetchall() == [("stays",)]
    assert gone
    for end in ("", "-wal", "-shm"):
        (home / f"state.db{end}").unlink(missing_ok=True)
    (home / "state.db").write_bytes(saved)  # as a copy of the home brings it back
    assert back_again(service._ctx) == ([], ["zoila"])
    assert await erase_again(service._ctx) == 1
    assert back_again(service._ctx) == ([], [])
