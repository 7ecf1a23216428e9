"""The queue that many machines share."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from hermes_backend_procrastinate.config import Config
from hermes_core.errors import UserError
from hermes_core.kinds import TurnQueue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_backend_procrastinate.jobs import Jobs
    from hermes_backend_procrastinate.shift import Shift

__all__ = ["ProcrastinateQueue"]


class ProcrastinateQueue(TurnQueue):
    """Sessions as jobs on the PostgreSQL server of the store: each is locked while it plays, wherever that is."""

    name = "procrastinate"

    def __init__(self, address: Callable[[], str], config: Config, log: logging.Logger) -> None:
        """``address`` says where the server is, when it is first needed."""
        self._address, self._config, self._log = address, config, log
        self._jobs: Jobs | None = None
        self._shift: Shift | None = None
        self._opening = asyncio.Lock()

    async def put(self, session_id: str, person: str = "") -> None:
        """Something waits in this session. Raises StoreError when the server cannot be reached."""
        await (await self._opened()).add(session_id, person)

    async def work(self, play: Callable[[str], Awaitable[None]], workers: int, most: Callable[[str], int]) -> None:
        """Play sessions until cancelled. A server that goes away is waited for.

        Raises StoreError when it cannot be reached at the start.
        """
        from hermes_backend_procrastinate.shift import Shift

        self._shift = Shift(await self._opened(), play, workers, most, self._config.heartbeat_seconds, self._log)
        await self._shift.run()

    def rest(self) -> None:
        """Take no more sessions; the other workers do."""
        if self._shift:
            self._shift.resting = True

    async def close(self) -> None:
        """Let go of the connections."""
        jobs, self._jobs = self._jobs, None
        if jobs:
            await jobs.close()

    async def _opened(self) -> "Jobs":
        async with self._opening:
            if self._jobs is None:
                if not (address := self._address()):
                    raise UserError(
                        "workers.queue is procrastinate, and the store is a file of this machine.",
                        hint="Set store.url to a PostgreSQL server, or workers.queue to local.",
                    )
                from hermes_backend_procrastinate.jobs import Jobs

                self._jobs = await Jobs.open(address, self._config.connections)
            return self._jobs
