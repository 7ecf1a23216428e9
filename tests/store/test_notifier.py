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


class Subscriber:
    """Counts how often it was notified."""

    def __init__(self) -> None:
        self.notified = 0
        self._woken = asyncio.Event()

    def __call__(self) -> None:
        self.notified += 1
        self._woken.set()

    async def woken(self) -> None:
        """Wait for the next notice."""
        async with asyncio.timeout(20):
            await self._woken.wait()
        self._woken.clear()


async def test_a_message_that_has_to_go_out_notifies(store: Store) -> None:
    subscriber, other = Subscriber(), Subscriber()
    stop = await rows_of(store).outbox.subscribe(subscriber)
    store.database.subscribe("something else", other)
    await rows_of(store).outbox.send_later(answer("one"))
    await subscriber.woken()
    stop()
    stop()
    await rows_of(store).outbox.send_later(answer("two"))
    await asyncio.sleep(0)
    assert other.notified <= 1  # a server's: that it began to listen


async def test_what_was_not_written_does_not_notify(file_store: Store) -> None:
    subscriber = Subscriber()
    file_store.database.subscribe("outbox", subscriber)

    def refused(tx: Transaction) -> None:
        tx.tell("outbox")
        raise UserError("no")

    with pytest.raises(UserError):
        await file_store.database.run(refused)
    await asyncio.sleep(0)
    assert not subscriber.notified


@pytest.mark.real
async def test_another_process_is_heard_also_after_the_connection_was_lost(database_url: str, cluster: Any) -> None:
    here, there = (open_store(Path("nowhere/state.db"), url=database_url, driver=PostgreSQL()) for _ in range(2))
    subscriber = Subscriber()
    await rows_of(here).outbox.subscribe(subscriber)
    await subscriber.woken()  # it listens by now
    await rows_of(there).outbox.send_later(answer("one"))
    await subscriber.woken()
    await asyncio.to_thread(
        cluster.sql,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'LISTEN hermes' AND datname = "
        f"'{database_url.rpartition('/')[2]}'",
    )
    await subscriber.woken()  # it listens again, and says that something may have been missed
    await rows_of(there).outbox.send_later(answer("two"))
    await subscriber.woken()
    for store in (here, there):
        store.close()
