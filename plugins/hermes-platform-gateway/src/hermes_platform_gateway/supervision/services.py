"""The services of plugins, kept up in a process that hosts them."""

import asyncio
import contextlib
import socket
from collections.abc import Sequence
from functools import partial

from hermes_core.agent.runtime import Runtime
from hermes_core.agent.supervisor import CLOSE, Supervisor
from hermes_core.errors import PluginError
from hermes_core.kinds import Service
from hermes_core.plugins.fence import Late, fenced, one_line

__all__ = ["Services"]


class Services:
    """The services of all enabled plugins. ``supervisors`` keep them up, from ``start`` to ``stop``."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime, self._dispatch = runtime, runtime.dispatch
        self.supervisors: Sequence[Supervisor] = ()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin to keep them up. A plugin that cannot say what it has is recorded, and has none."""
        self._runtime.loader.load_contributing("services")
        found = [
            (label, one) for label, one in self._dispatch.contributions("register_services") if isinstance(one, Service)
        ]
        self.supervisors = tuple(self._supervisor(label, one) for label, one in found)
        self._tasks = [
            asyncio.create_task(supervisor.keep(partial(self._work, label, one, supervisor)), name=one.name)
            for (label, one), supervisor in zip(found, self.supervisors, strict=True)
        ]

    async def stop(self) -> None:
        """Cancel them and wait; who does not end in time is recorded and left behind."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _supervisor(self, label: str, service: Service) -> Supervisor:
        config = self._runtime.settings.config.gateway
        made = Supervisor(
            "service",
            service.name,
            self._runtime.store,
            holder=self._runtime.sessions.holder,
            pauses=(config.retry_seconds, config.retry_cap),
            fell=lambda error: self._dispatch.failed(label, _where(service), error),
        )
        if not service.alone:
            made.lease += f"@{socket.gethostname()}"
        return made

    async def _work(self, label: str, service: Service, supervisor: Supervisor) -> None:
        """Run it once, from its start to its end. Raises what it raises."""
        if service.alone:
            await supervisor.led("Another process runs it.")

        async def look() -> None:
            health = self._runtime.settings.masks.text(service.health())
            if (supervisor.state, supervisor.error) != ("running", health):
                await supervisor.tell("running", health)

        held = partial(self._dispatch.held, label, _where(service))
        running = asyncio.create_task(fenced(service.run, held))
        beating = asyncio.create_task(supervisor.beat(look))
        try:
            await asyncio.wait({running, beating}, return_when=asyncio.FIRST_COMPLETED)
            if not running.done():
                beating.result()  # which raises: another process has the lease
            _, error = running.result()
            if error:
                raise error if isinstance(error, Exception) else PluginError(label, one_line(error))
        finally:
            beating.cancel()
            running.cancel()
            await asyncio.wait({running, beating}, timeout=CLOSE)
            if not running.done():
                late = Late(f"did not end within {CLOSE:g} s of being stopped")
                self._dispatch.failed(label, _where(service), late)
            with contextlib.suppress(asyncio.CancelledError):
                beating.exception()
        await supervisor.tell("done")


def _where(service: Service) -> str:
    return f"register_services: {service.name}"
