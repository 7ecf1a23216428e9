"""What every driver of stores must do, wherever its databases are."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hermes_core.database import Database, Transaction
from hermes_core.errors import HermesError, StoreError
from hermes_core.kinds import StoreDriver
from hermes_core.types import Message, Principal, Session, Text

if TYPE_CHECKING:
    from hermes_core.store.store import Store

__all__ = ["StoreDriverContract"]

ME = Principal()
OWNER = {"profile": "p", "person": "q"}
SECONDS = 20.0  # until what was told is heard


class StoreDriverContract:
    """Inherit in ``tests/test_contract.py``, give ``driver`` and ``url``, and every promise of StoreDriver is checked.

    ``url`` is the address of an empty database, a new one for each test.
    """

    @pytest.fixture
    def driver(self) -> StoreDriver:
        """The driver under test."""
        raise NotImplementedError("give the fixture driver")

    @pytest.fixture
    def url(self) -> str:
        """The address of an empty database."""
        raise NotImplementedError("give the fixture url")

    @pytest.fixture
    def reopen(self, driver: StoreDriver, url: str) -> "Callable[[], Store]":
        """What opens the store, as another process would."""
        from hermes_core.store.store import open_store

        return lambda: open_store(Path("not-a-file"), url=url, driver=driver)

    @pytest.fixture
    async def store(self, reopen: "Callable[[], Store]") -> "AsyncIterator[Store]":
        """The kernel's store at that address."""
        made = await asyncio.to_thread(reopen)
        yield made
        made.close()

    @pytest.fixture
    def database(self, store: "Store") -> Database:
        """What the driver opened, with the kernel's tables in it."""
        return store.database

    def test_an_address_that_is_none_is_refused_without_a_word_of_it(self, driver: StoreDriver) -> None:
        """An address may hold a password, so what is said of it shows nothing of it.

        If this fails: raise UserError or StoreError with words of your own; not the driver's, and not the address.
        """
        with pytest.raises(HermesError) as caught:
            driver.open(f"{driver.name}://me:hush@hush:x/nowhere/hush/\0", {}).close()
        assert "hush" not in str(caught.value)
        assert "hush" not in caught.value.hint

    def test_the_place_is_said_to_people(self, database: Database) -> None:
        """``place`` says where the store is.

        If this fails: set ``place`` to the address without user and password.
        """
        assert database.place.strip()

    async def test_the_kernels_store_lives_in_it(self, store: "Store", reopen: "Callable[[], Store]") -> None:
        """Sessions and messages are written, found by their words, read again by others, and deleted.

        If this fails: a statement was not understood, or ``add``, ``found`` or ``rows`` do not answer as promised.
        """
        for name in ("one", "two"):
            await store.sessions.create(Session(id=name, origin="cli"))
            text = f"Pack the Needle, then meet in the café {name}"
            await store.history.add(name, Message(role="user", parts=(Text(text=text),)))
        newest = await store.history.search(ME, "needle")
        assert [hit.session_id for hit in newest] == ["two", "one"]
        assert [hit.session_id for hit in await store.history.search(ME, '"the needle"', limit=1, sort="oldest")] == [
            "one"
        ]
        assert [hit.session_id for hit in await store.history.search(ME, "cafe one")] == ["one", "two"]
        await store.sessions.delete("two", ME)
        other = await asyncio.to_thread(reopen)
        assert [row.session.id for row in await other.sessions.list(ME)] == ["one"]
        assert len(await other.history.load("one")) == 1
        assert [hit.session_id for hit in await other.history.search(ME, "needle")] == ["one"]
        other.close()

    async def test_several_may_make_the_tables_at_once(self, reopen: "Callable[[], Store]") -> None:
        """Two processes that open an empty database at the same time both get the tables.

        If this fails: ``alone`` has to keep the second one out until the first has committed.
        """
        made = await asyncio.gather(*(asyncio.to_thread(reopen) for _ in range(3)))
        for store in made:
            await store.answers()
            store.close()

    async def test_what_raises_leaves_nothing(self, database: Database) -> None:
        """A unit of work that raises was never there, and its error comes out as it was.

        If this fails: roll back on every exception, and run ``committed`` after the commit only.
        """
        followed: list[str] = []

        def work(tx: Transaction) -> None:
            tx.committed.append(lambda: followed.append("committed"))
            assert tx.add("owner_add", **OWNER)
            raise KeyError("mine")

        with pytest.raises(KeyError, match="mine"):
            await database.run(work)
        assert not followed
        assert database.transact(lambda tx: tx.row("owner_find", **OWNER)) is None

    async def test_what_was_committed_is_there(self, database: Database) -> None:
        """The new row's number, how many rows a change met, rows by position and by name; then what was to follow.

        If this fails: ``add`` gives the number of the row, ``rows`` what can be read both ways.
        """
        followed: list[str] = []

        def work(tx: Transaction) -> int:
            tx.committed.append(lambda: followed.append("committed"))
            number = tx.add("owner_add", **OWNER)
            assert tx.change("session_rename", id="nobody", title="x").rowcount == 0
            assert not followed
            return number

        number = await database.run(work, long=True)
        assert followed == ["committed"]
        row = database.transact(lambda tx: tx.row("owner_find", **OWNER))
        assert row["id"] == row[0] == number > 0

    async def test_who_subscribed_hears_what_was_told_and_committed(self, database: Database) -> None:
        """What is told reaches who subscribed after the commit, in their event loop; what was not written does not.

        If this fails: notify with ``told`` after the commit.
        """
        heard = asyncio.Event()
        end = database.subscribe("outbox", heard.set)
        await database.run(lambda tx: tx.tell("outbox"))
        async with asyncio.timeout(SECONDS):
            await heard.wait()
        end()
        end()

    async def test_a_unit_that_is_cancelled_is_written_by_then_or_never(self, database: Database) -> None:
        """Nothing happens behind the back of who gave up.

        If this fails: run units of work with ``in_thread``, and heed ``stop`` before each try.
        """
        waiting = asyncio.create_task(database.run(lambda tx: tx.add("owner_add", **OWNER), long=True))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        then = database.transact(lambda tx: tx.row("owner_find", **OWNER))
        await asyncio.sleep(0.1)
        later = database.transact(lambda tx: tx.row("owner_find", **OWNER))
        assert (then is None) == (later is None)

    async def test_a_closed_one_says_so(self, database: Database) -> None:
        """Closing twice is quiet, and what comes later is refused in plain words.

        If this fails: raise StoreError once it is closed.
        """
        database.close()
        database.close()
        with pytest.raises(StoreError):
            await database.run(lambda tx: tx.rows("owner_count"))
