"""A log that SQLite would read in part, without a word, is found; so is a message that nobody can read."""

import asyncio
import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from hermes_core.store.store import open_store
from hermes_tool_upkeep import salvage
from hermes_tool_upkeep.log import unread
from hermes_tool_upkeep.look import look

from .conftest import ME, SAID, SESSIONS, named, said
from .test_damage import usable

PAGE, HEAD, FRAME = 4096, 32, 24
WRITES = 6


@pytest.fixture
def logged(home, tmp_path) -> Path:
    """A store some of which is only in its log, as a kill leaves it."""
    path = home / "state.db"
    store = open_store(path)
    for at in range(WRITES):
        asyncio.run(store.history.add(named(0), said(0, SAID + at)))
    left = tmp_path / "left"
    left.mkdir()
    for end in ("", "-wal"):
        shutil.copyfile(f"{path}{end}", left / f"state.db{end}")
    store.close()
    return left / "state.db"


def changed(log: Path, at: int) -> None:
    data = bytearray(log.read_bytes())
    data[at] ^= 0x10
    log.write_bytes(data)


def commits(log: Path) -> list[int]:
    """Where the frames begin that end a write."""
    data = log.read_bytes()
    frames = range(HEAD, len(data), FRAME + PAGE)
    return [at for at in frames if data[at + 4 : at + 8] != bytes(4)]


def test_a_whole_log_and_one_that_a_death_cut_are_sound(logged):
    log = logged.with_name("state.db-wal")
    assert unread(logged) == ""
    data = log.read_bytes()
    for end in (len(data) - 1, len(data) - PAGE, commits(log)[-1] + FRAME // 2, HEAD, 0):
        log.write_bytes(data[:end])
        assert unread(logged) == "", end
    log.write_bytes(data)
    assert usable(logged) == SESSIONS * SAID + WRITES


def test_damage_before_the_last_write_is_told_wherever_it_is(logged):
    log = logged.with_name("state.db-wal")
    data, last = log.read_bytes(), commits(log)[-2]
    places = [*random.Random(1).sample(range(HEAD, last), 60), *range(HEAD), last]
    for place in places:
        log.write_bytes(data)
        changed(log, place)
        assert unread(logged), place
    found = look(logged)
    assert found.level == "damaged"
    assert log.name in found.lines[0]


def test_a_log_that_began_anew_over_an_older_one_is_sound(home):
    path = home / "state.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA journal_size_limit=-1")
        for many in (50, 3):
            for at in range(many):
                connection.execute("UPDATE sessions SET title = ?", (f"{many} {at}",))
                connection.commit()
            assert unread(path) == ""
            connection.execute("PRAGMA wal_checkpoint(RESTART)")
            connection.execute("SELECT 1 FROM sessions").fetchall()
        assert path.with_name("state.db-wal").stat().st_size > 50 * PAGE


def test_a_message_that_nobody_can_read_is_named_and_a_repair_says_that_it_was_there(home):
    path = home / "state.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE messages SET body = replace(body, '\"parts\"', '\"p~rts\"') WHERE id = 5")
        connection.commit()
    found = look(path)
    assert (found.level, found.lines) == ("damaged", [f"message 5 of session {named(0)} cannot be read"])
    saved = salvage.repair(path)
    assert saved.lost == 1
    assert look(path).level == "ok"
    store = open_store(path)
    texts = [message.parts[0].text for _, message in asyncio.run(store.history.messages(ME, named(0), window=100))]
    store.close()
    assert texts.count("(A message that was here cannot be read.)") == 1
    assert len(texts) == SAID
