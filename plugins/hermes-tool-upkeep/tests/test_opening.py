"""Whatever opens the store takes a look at it: what is made from the rows is mended, and all else told."""

import asyncio
import shutil
import sqlite3
from contextlib import closing

import pytest

from hermes_core.database import Damaged
from hermes_core.store import glance
from hermes_core.store.store import open_store
from hermes_core.types import Message, Text
from hermes_tool_upkeep.look import look
from hermes_tool_upkeep.service import mended

from .conftest import ME, SAID, SESSIONS, named

ALL = SESSIONS * SAID
PAGE = 4096
SAYS = f"The store was damaged, but no row of it: the indexes are made anew, {ALL} messages in the one for searches."
SEARCH = {
    "emptied": "INSERT INTO search (search) VALUES ('delete-all')",
    "its leaves": "UPDATE search_data SET block = zeroblob(length(block)) WHERE id > 100",
    "its head": "UPDATE search_data SET block = x'00ff' WHERE id = 10",
}


def changed(path, statement):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
        connection.commit()


def of_messages(path, kind):
    """The numbers of the pages of the table ``messages``, or of its largest index."""
    with closing(sqlite3.connect(path)) as connection:
        wanted = "SELECT rootpage FROM sqlite_master WHERE tbl_name = 'messages' AND type = ?"
        return [row[0] for row in connection.execute(wanted, (kind,))]


def struck(path, page):
    with path.open("r+b") as file:
        file.seek((page - 1) * PAGE)
        file.write(b"\xff" * PAGE)


@pytest.mark.parametrize("kind", SEARCH)
@pytest.mark.parametrize(
    "command", [["sessions", "list"], ["--provider", "offline", "-z", "hello"]], ids=["list", "-z"]
)
def test_a_damaged_search_index_is_mended_by_whatever_opens_the_store(run, home, kind, command):
    changed(home / "state.db", SEARCH[kind])
    done = run(*command)
    assert done.returncode == 0, done.stderr
    assert SAYS in done.stderr
    assert look(home / "state.db").level == "ok"
    assert "damaged" not in run(*command).stderr


@pytest.mark.parametrize("kind", ["table", "index"])
def test_a_damaged_page_is_told_with_the_mend_and_nothing_is_replaced(run, home, kind):
    path = home / "state.db"
    struck(path, of_messages(path, kind)[0])
    before = path.read_bytes()
    done = run("sessions", "list")
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        f"The store {path} cannot be used: it is damaged.",
        "Keep what can be read: hermes store repair, or hermes backup restore",
    ]
    assert path.read_bytes() == before
    repaired = run("store", "repair", "--yes")
    assert repaired.returncode == 0, repaired.stderr
    assert run("sessions", "list").returncode == 0


def test_who_does_not_want_it_mended_works_on(run, home):
    (home / "config.yaml").write_text("upkeep: {mend: false}\n")
    changed(home / "state.db", SEARCH["emptied"])
    done = run("sessions", "list")
    assert done.returncode == 0
    assert "store" not in done.stderr
    assert look(home / "state.db").level == "derived"


def test_it_is_mended_in_use_and_what_was_to_be_stored_is(home):
    """The index of searches is damaged after the store was opened: the write that meets it is made all the same."""
    path = home / "state.db"

    async def use():
        store = open_store(path, mend=lambda: bool(mended(path)))
        try:
            await store.history.search(ME, "word", limit=1)
            changed(path, "UPDATE search_data SET block = x'ffffffffffff' WHERE id > 100")
            for at in range(40):  # until segments are merged
                await store.history.add(named(0), Message(role="user", parts=(Text(text=f"later{at} " * 300),)))
            return await store.history.search(ME, "later39", limit=5)
        finally:
            store.close()

    assert asyncio.run(use())
    assert look(path).level == "ok"


def test_of_a_large_store_some_messages_are_read(home, full_store, monkeypatch):
    monkeypatch.setattr(glance, "_PAGES", 0)
    path = home / "state.db"
    open_store(path).close()
    with closing(sqlite3.connect(path)) as connection:
        [root] = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'messages'").fetchone()
    shutil.copyfile(full_store, path)
    with path.open("r+b") as file:
        for number in range(1, full_store.stat().st_size // PAGE + 1):
            file.seek((number - 1) * PAGE)
            if number != root and file.read(1) == b"\x0d" and number > root:  # rows, of whatever table
                file.seek((number - 1) * PAGE)
                file.write(b"\xff" * 8)
    with pytest.raises(Damaged):
        open_store(path)
