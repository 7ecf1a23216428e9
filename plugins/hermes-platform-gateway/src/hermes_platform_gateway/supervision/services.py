"""The services of plugins, kept up in a process that hosts them."""

import asyncio
import contextlib
import socket
from collections.abc import Sequence
from functools import partial

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.host import HostedService
from hermes_platform_gateway.config import gateway_settings
from hermes_platform_gateway.rows.kept import rows_of
from hermes_platform_gateway.supervision.supervisor import CLOSE, Supervisor

__all__ = ["Services"]


class Services:
    """The services of all enabled plugins. ``supervisors`` keep them up, from ``start`` to ``stop``."""

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx = ctx
        self.supervisors: Sequence[Supervisor] = ()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin to keep them up."""
        found = self._ctx.host.services()
        self.supervisors = tuple(map(self._supervisor, found))
        self._tasks = [
            asyncio.create_task(supervisor.keep(partial(self._work, one, supervisor)), name=one.name)
            for one, supervisor in zip(found, self.supervisors, strict=True)
        ]

    async def stop(self) -> None:
        """Cancel them and wait; who does not end in time is recorded and left behind."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _supervisor(self, one: HostedService) -> Supervisor:
        config = gateway_settings(self._ctx)
        pauses = config.retry_seconds, config.retry_cap
        made = Supervisor("service", one.name, rows_of(self._ctx).accounts, pauses=pauses, fell=one.failed)
        if one.local or not one.alone:
            made.lease += f"@{socket.gethostname()}"
        return made

    async def _work(self, one: HostedService, supervisor: Supervisor) -> None:
        """Run it once, from its start to its end. Raises what it raises."""
        if one.alone or one.local:
            await supervisor.led("Another process runs it.")

        async def look() -> None:
            try:
                health = one.health()
            except Exception as error:  # noqa: BLE001 - it costs its word only
                one.failed(error)
                health = "It cannot say how it is."
            if (supervisor.state, supervisor.error) != ("running", health):
                await supervisor.tell("running", health)

        running = asyncio.ensure_future(one.run())
        beating = asyncio.create_task(supervisor.beat(look))
        try:
            await asyncio.wait({running, beating}, return_when=asyncio.FIRST_COMPLETED)
            if not running.done():
                beating.result()  # which raises: another process has the lease
            running.result()
        finally:
            beating.cancel()
            running.cancel()
            await asyncio.wait({running, beating}, timeout=CLOSE)
            if not running.done():
                one.failed(HermesError(f"did not end within {CLOSE:g} s of being stopped"))
            for task in (beating, running):
                with contextlib.suppress(asyncio.CancelledError, asyncio.InvalidStateError):
                    task.exception()
        await supervisor.tell("done")
