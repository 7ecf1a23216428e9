"""Jobs on a PostgreSQL server: one for each session in which something waits, by procrastinate's own statements.

A job says no more than "look into this session": what is to be done is in the store. So a job may be lost, or be there
twice, and nothing comes of it; and tables of another version of procrastinate are left alone, not migrated: this one
makes its own beside them, and the next look through the store fills them.

Each person has a queue of procrastinate's. Whoever looks for a job sees how many of each play, wherever, and takes one
of who has the fewest; that nobody has more than is allowed is counted again under a lock of that person.
"""

import hashlib
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
from procrastinate import PsycopgConnector
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException, UniqueViolation
from procrastinate.jobs import Job, Notification, Status
from procrastinate.manager import JobManager
from procrastinate.schema import SchemaManager
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.sql import SQL, Identifier

from hermes_core.errors import StoreError, UserError

__all__ = ["Forgotten", "Job", "Jobs"]

_TASK = "play"
_SHAPE = "2"  # of what is in our tables beside procrastinate's own
_TAKE = """
CREATE FUNCTION hermes_take(p_queue varchar, p_most bigint, p_worker bigint) RETURNS procrastinate_jobs
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(current_schema() || p_queue, 4715));
    IF (SELECT count(*) FROM procrastinate_jobs WHERE queue_name = p_queue AND status = 'doing') >= p_most THEN
        RETURN NULL;
    END IF;
    RETURN procrastinate_fetch_job_v2(ARRAY[p_queue], p_worker);
END;
$$
"""
_WAITING = """
SELECT queue_name, max(args->>'person') AS person, count(*) FILTER (WHERE status = 'doing') AS plays
FROM procrastinate_jobs WHERE status IN ('todo', 'doing')
GROUP BY queue_name HAVING bool_or(status = 'todo')
ORDER BY plays, min(id) FILTER (WHERE status = 'todo')
"""
_NEXT = """
SELECT id, status, task_name, priority, lock, queueing_lock, args, scheduled_at, queue_name, attempts, worker_id
FROM hermes_take(%(queue)s, %(most)s, %(worker)s)
"""
_RACES = 5  # how often one looks again after another worker took the same session in the same moment
_PATIENCE = 5.0  # seconds that one step waits for a connection
_OLD = 3600.0  # seconds after which a worker that gave no sign of life is struck off
_DEFAULTS = {
    "application_name": "hermes turns",
    "connect_timeout": "10",
    "keepalives_idle": "15",  # seconds; a server that vanished is found out while nobody waits for it
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "15000",  # milliseconds
}
_HINTS = (
    ("permission denied", "Let the user make a schema: GRANT CREATE ON DATABASE name TO user"),
    ("authentication failed|no password", "Check user and password in store.url."),
    ("", "Check that the server runs, and store.url. It is tried again."),
)


class Forgotten(StoreError):
    """The server does not know this worker any more; it has to sign on again."""


class Jobs:
    """The jobs of one database. Every method raises StoreError when the server cannot be used."""

    def __init__(self, connector: PsycopgConnector, place: str) -> None:
        self._connector, self._manager, self._place = connector, JobManager(connector), place

    @classmethod
    async def open(cls, address: str, connections: int) -> "Jobs":
        """Connect, and make the tables if they are missing. Raises StoreError, UserError."""
        try:
            given = conninfo_to_dict(address)
        except psycopg.Error:
            raise UserError("store.url is not an address of a PostgreSQL server.", hint="hermes doctor") from None
        place = f"{given.get('host') or 'localhost'}/{given.get('dbname') or ''}"
        address = make_conninfo(address, **{name: value for name, value in _DEFAULTS.items() if name not in given})
        with _explained(place):  # a pool would not tell what is wrong
            async with await psycopg.AsyncConnection.connect(address) as connection:
                await _prepare(connection)
        connector = PsycopgConnector(
            conninfo=address,
            min_size=1,
            max_size=connections,
            timeout=_PATIENCE,
            reconnect_timeout=_PATIENCE,  # longer, and the pauses between tries grow to minutes
            configure=_prepare,
        )
        with _explained(place):
            await connector.open_async()
        return cls(connector, place)

    async def close(self) -> None:
        """Let go of the connections."""
        await self._connector.close_async()

    # --- what is to be played -----------------------------------------------------------------------------------

    async def add(self, session_id: str, person: str) -> None:
        """Let somebody look into a session for a person; quiet when that is to be done already."""
        job = Job(
            id=None,
            queue=hashlib.sha256(person.encode("utf-8", "replace")).hexdigest()[:32],
            task_name=_TASK,
            task_kwargs={"session_id": session_id, "person": person},
            lock=session_id,
            queueing_lock=session_id,
        )
        with _explained(self._place), suppress(AlreadyEnqueued):
            await self._manager.defer_job_async(job)

    async def next(self, worker: int, most: Callable[[str], int]) -> Job | None:
        """Take a job whose session nobody plays, of whoever has the fewest that play, and fewer than ``most`` of them.

        Among those it is the one that waits longest. Raises Forgotten.
        """
        with _explained(self._place):
            waiting = await self._connector.execute_query_all_async(_WAITING)
        for row in waiting:
            allowed = most(row["person"])
            if row["plays"] < allowed and (job := await self._taken(row["queue_name"], allowed, worker)):
                return job
        return None

    async def _taken(self, queue: str, most: int, worker: int) -> Job | None:
        for _ in range(_RACES):
            with _explained(self._place), suppress(UniqueViolation):
                known = {"queue": queue, "most": most, "worker": worker}
                row = await self._connector.execute_query_one_async(_NEXT, **known)
                return None if row["id"] is None else Job.from_row(row)
        return None

    async def done(self, job: Job) -> None:
        """A job was played. Quiet when it is no longer ours."""
        with _explained(self._place), _taken():
            await self._manager.finish_job(job, Status.SUCCEEDED, delete_job=True)

    async def give_back(self, job: Job) -> None:
        """A job was not played to its end. Quiet when it is no longer ours."""
        with _explained(self._place), _taken():
            try:
                await self._manager.retry_job(job)
            except UniqueViolation:  # the session was put again meanwhile: that job will do
                await self._manager.finish_job(job, Status.ABORTED, delete_job=True)

    async def listen(self, changed: Callable[[], None]) -> None:
        """Say so whenever there is a new job, until cancelled."""

        async def heard(*, channel: str, notification: Notification) -> None:
            changed()

        with _explained(self._place):
            await self._manager.listen_for_jobs(on_notification=heard)

    # --- who plays ----------------------------------------------------------------------------------------------

    async def sign_on(self) -> int:
        """The number of a new worker."""
        with _explained(self._place):
            await self._manager.prune_stalled_workers(_OLD)
            return await self._manager.register_worker()

    async def sign_off(self, worker: int) -> None:
        """A worker is no more. What it held can be taken back at once."""
        with _explained(self._place):
            await self._manager.unregister_worker(worker)

    async def beat(self, worker: int) -> None:
        """A worker lives."""
        with _explained(self._place):
            await self._manager.update_heartbeat(worker)

    async def take_back(self, silent: float) -> bool:
        """Let others play what workers held that were ``silent`` for so many seconds; whether there was any."""
        with _explained(self._place):
            found = list(await self._manager.get_stalled_jobs(seconds_since_heartbeat=silent))
        for job in found:
            await self.give_back(job)
        return bool(found)


async def _prepare(connection: "psycopg.AsyncConnection[Any]") -> None:
    """Let a new connection see the tables of this version of procrastinate; make them when they are missing.

    That is looked at for each connection: a server that comes back may have been restored without them.
    """
    version = max(path.name for path in Path(SchemaManager.get_migrations_path()).glob("*.sql"))[:8]
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('hermes turns', 4715))")
        found = await (await connection.execute("SELECT current_schema()")).fetchone()
        home = found[0] if found and found[0] not in (None, "public") else "hermes"
        name = f"{home}_turns_{version.replace('.', '')}_{_SHAPE}"
        exists = await (await connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", [name])).fetchone()
        if not exists:
            await connection.execute(SQL("CREATE SCHEMA {}").format(Identifier(name)))
        await connection.execute(SQL("SET search_path TO {}").format(Identifier(name)))
        if not exists:
            await connection.execute(SchemaManager.get_schema())
            await connection.execute(_TAKE)


@contextmanager
def _taken() -> Iterator[None]:
    """A job that is not there, or not being played, was taken back by others: there is nothing left to do."""
    try:
        yield
    except ConnectorException as error:
        if not isinstance(error.__cause__, psycopg.errors.RaiseException):
            raise


@contextmanager
def _explained(place: str) -> Iterator[None]:
    """The driver's errors in plain words."""
    try:
        yield
    except (AlreadyEnqueued, UniqueViolation):
        raise
    except (ConnectorException, psycopg.Error) as error:
        cause = error if isinstance(error, psycopg.Error) else error.__cause__ or error
        said = str(cause).strip().partition("\n")[0]
        hint = next(hint for words, hint in _HINTS if re.search(words, said))
        kind = Forgotten if isinstance(cause, psycopg.errors.ForeignKeyViolation) else StoreError
        raise kind(f"The turns on {place} cannot be reached: {said.rstrip('.')}.", hint=hint) from error
