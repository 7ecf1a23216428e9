"""What only a server can do to a queue: not be there, go away, come back, be met by many at once."""

import asyncio
import logging
import os
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from hermes_backend_procrastinate.config import Config
from hermes_backend_procrastinate.jobs import Jobs
from hermes_backend_procrastinate.queue import ProcrastinateQueue
from hermes_core.errors import StoreError, UserError
from hermes_core.testing.contract_queue import Workers, closing, working

pytestmark = pytest.mark.real
Make = Callable[[], ProcrastinateQueue]


def queue_at(address: str) -> ProcrastinateQueue:
    return ProcrastinateQueue(lambda: address, Config(heartbeat_seconds=0.25), logging.getLogger("test.turns"))


def opened() -> Workers:
    workers = Workers()
    workers.gate.set()
    return workers


async def told(queue: ProcrastinateQueue, session_id: str) -> bool:
    try:
        await queue.put(session_id)
    except StoreError:
        return False
    return True


async def test_a_store_in_a_file_is_said() -> None:
    with pytest.raises(UserError, match="the store is a file") as caught:
        await queue_at("").put("a")
    assert "store.url" in str(caught.value.hint)


@pytest.mark.parametrize("address", ["postgresql://me:hush@127.0.0.1:9/hermes", "postgresql://me:hush@127.0.0.1:no/h"])
async def test_a_server_that_is_not_there_is_said_without_a_password(address: str) -> None:
    queue = queue_at(address)
    for _ in range(2):  # it is tried anew each time
        with pytest.raises((StoreError, UserError)) as caught:
            await queue.put("a")
        assert "hush" not in f"{caught.value} {caught.value.hint}"
        assert caught.value.hint


async def test_a_user_who_may_not_make_tables_is_told(database_url: str, cluster: Any) -> None:
    name = f"guest_{os.getpid()}"
    cluster.sql(f"DROP ROLE IF EXISTS {name}", f"CREATE ROLE {name} LOGIN")
    with pytest.raises(StoreError, match="permission denied") as caught:
        await queue_at(database_url.replace("postgres@", f"{name}@")).put("a")
    assert "GRANT CREATE ON DATABASE" in str(caught.value.hint)


async def test_many_that_start_at_once_make_the_tables_once(database_url: str, cluster: Any) -> None:
    queues = [queue_at(database_url) for _ in range(4)]
    async with closing(*queues):
        await asyncio.gather(*(queue.put("a") for queue in queues))
    again = queue_at(database_url)
    async with closing(again):
        await again.put("a")
    found = "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'hermes_turns_%'"
    [[schema]] = await asyncio.to_thread(cluster.sql, found, database=database_url.rpartition("/")[2])
    waiting = f"SELECT count(*) FROM {schema}.procrastinate_jobs"
    assert await asyncio.to_thread(cluster.sql, waiting, database=database_url.rpartition("/")[2]) == [(1,)]


async def test_what_was_played_leaves_nothing_behind(new_queue: Make, database_url: str, cluster: Any) -> None:
    queue, workers = new_queue(), opened()
    async with closing(queue), working(queue, workers, 2):
        for name in ("a", "b"):
            await queue.put(name)
        await workers.until(lambda: sorted(workers.ended) == ["a", "b"])
    schema = "(SELECT string_agg(nspname, '') FROM pg_namespace WHERE nspname LIKE 'hermes_turns_%')"
    with psycopg.connect(database_url) as connection:
        [[name]] = connection.execute(f"SELECT {schema}").fetchall()  # type: ignore[arg-type]
        for table in ("jobs", "events", "workers"):
            rows = connection.execute(f"SELECT * FROM {name}.procrastinate_{table}").fetchall()  # type: ignore[arg-type]
            assert not rows, table


async def test_who_gave_no_sign_of_life_is_followed_while_he_holds_his_job(new_queue: Make, database_url: str) -> None:
    queue, workers = new_queue(), opened()
    dead = await Jobs.open(database_url, 1)
    worker = await dead.sign_on()
    await dead.add("a", "anna")
    job = await dead.next(worker, lambda _: 1)
    assert job
    await dead.add("a", "anna")  # it was put again meanwhile: what is taken back must not collide with that
    async with closing(queue), working(queue, workers, 1):
        await workers.until(lambda: "a" in workers.ended)
        await dead.done(job)  # he was only slow; nothing comes of it
        await queue.put("b")
        await workers.until(lambda: "b" in workers.ended)
    await dead.close()


async def test_an_outage_ends_no_play_and_no_work(clusters: Any, caplog: pytest.LogCaptureFixture) -> None:
    cluster = clusters()
    await asyncio.to_thread(cluster.start)
    queue, workers = queue_at(cluster.url()), Workers()
    caplog.set_level(logging.INFO)
    async with closing(queue), working(queue, workers, 2):
        await queue.put("long")
        await workers.until(lambda: workers.now == {"long"})
        await asyncio.to_thread(cluster.stop)
        async with asyncio.timeout(30):
            while "it is tried again" not in caplog.text:
                await asyncio.sleep(0.05)
        workers.gate.set()
        await workers.until(lambda: workers.ended == ["long"])  # which cannot be written down yet
        assert not workers.cancelled
        await asyncio.to_thread(cluster.start)
        async with asyncio.timeout(60):
            while not await told(queue, "long"):
                pass
        await workers.until(lambda: workers.ended.count("long") >= 2)
    assert not workers.twice
    assert "the turns can be reached again" in caplog.text
    assert caplog.text.count("cannot be reached:") == 1, "said more than once"
