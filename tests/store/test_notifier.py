"""Who waits for something is called when it is there, and only then."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from gateway_house import rows_of

from hermes_backend_postgresql.driver import PostgreSQL
from hermes_core.database import Transaction
from hermes_core.errors import UserError
from hermes_core.store.store import Store, open_store
from hermes_core.types import Chat, Message, Principal, Text
from hermes_platform_gateway.rows.values import Outgoing


def answer(key: str) -> Outgoing:
    return Outgoing(
        key=key,
        owner=Principal(),
        platform="demo",
        account="bot",
        chat=Chat("1"),
        message=Message(role="assistant", parts=(Text(text="hello"),)),
    )


class Bell:
    """Counts how often it rang."""

    def __init__(self) -> None:
        self.rings = 0
        self._rung = asyncio.Event()

    def __call__(self) -> None:
        self.rings += 1
        self._rung.set()

    async def heard(self) -> None:
        """Wait for the next ring."""
        async with asyncio.timeout(20):
            await self._rung.wait()
        self._rung.clear()


async def test_a_message_that_has_to_go_out_rings(store: Store) -> None:
    bell, other = Bell(), Bell()
    stop = await rows_of(store).outbox.watch(bell)
    store.database.subscribe("something else", other)
    await rows_of(store).outbox.send_later(answer("one"))
    await bell.heard()
    stop()
    stop()
    await rows_of(store).outbox.send_later(answer("two"))
    await asyncio.sleep(0)
    assert other.rings <= 1  # a server's: that it began to listen


async def test_what_was_not_written_does_not_ring(file_store: Store) -> None:
    bell = Bell()
    file_store.database.subscribe("outbox", bell)

    def refused(tx: Transaction) -> None:
        tx.tell("outbox")
        raise UserError("no")

    with pytest.raises(UserError):
        await file_store.database.run(refused)
    await asyncio.sleep(0)
    assert not bell.rings


@pytest.mark.real
async def test_another_process_is_heard_also_after_the_connection_was_lost(database_url: str, cluster: Any) -> None:
    here, there = (open_store(Path("nowhere/state.db"), url=database_url, driver=PostgreSQL()) for _ in range(2))
    bell = Bell()
    await rows_of(here).outbox.watch(bell)
    await bell.heard()  # it listens by now
    await rows_of(there).outbox.send_later(answer("one"))
    await bell.heard()
    await asyncio.to_thread(
        cluster.sql,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'LISTEN hermes' AND datname = "
        f"'{database_url.rpartition('/')[2]}'",
    )
    await bell.heard()  # it listens again, and says that something may have been missed
    await rows_of(there).outbox.send_later(answer("two"))
    await bell.heard()
    for store in (here, there):
        store.close()
