"""Whoever keeps the gateway running is told how it is: systemd, and probes over HTTP."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from hermes_core.errors import UserError
from hermes_platform_gateway.config import HealthSettings
from hermes_platform_gateway.supervision.health import Health
from hermes_platform_gateway.supervision.notify import Answers, Pulse, ServiceManager

__all__ = ["probes_at", "supervised"]

_LOOK = 2.0  # seconds between two looks at how the platforms are
_GRACE = 20  # seconds beyond the drain until systemd kills


def probes_at(place: str, settings: HealthSettings) -> HealthSettings:
    """Where to listen for probes: at ``HOST:PORT``, or as the settings say. Raises UserError."""
    if not place:
        return settings
    host, _, port = place.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise UserError(f"{place!r} is no place to listen at.", hint="Write it as 127.0.0.1:8644.")
    return HealthSettings(host=host.strip("[]"), port=int(port))


@asynccontextmanager
async def supervised(
    answers: Answers, settings: HealthSettings, stop: asyncio.Event, told: Callable[[], Sequence[str]], drain: float
) -> AsyncIterator[None]:
    """In this block the gateway is ready; from ``stop`` on it is stopping, and takes no new work.

    ``answers`` asks the store, ``told`` says how the platforms are, ``drain`` how many seconds its turns have to end.
    Raises UserError when probes cannot be listened
    for, and what ``answers`` raises: a gateway whose store does not answer is not ready.
    """
    service, pulse, ready = ServiceManager(), Pulse(answers), False

    def waits() -> str:
        return "it is stopping" if stop.is_set() else "" if ready else "it is starting"

    health = Health(pulse, waits)
    if settings.port:
        await health.open(settings.host, settings.port)
    tasks = []
    try:
        await answers()
        ready = True
        service.ready()
        tasks = [asyncio.create_task(service.watch(pulse)), asyncio.create_task(_follow(service, stop, told, drain))]
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        service.stopping()
        await health.close()


async def _follow(
    service: ServiceManager, stop: asyncio.Event, told: Callable[[], Sequence[str]], drain: float
) -> None:
    """Say how the platforms are, whenever that changes, and that a stop began, as soon as it does."""
    before = ""
    stopped = asyncio.ensure_future(stop.wait())
    try:
        while not stopped.done():
            if (now := "; ".join(told())) != before:
                service.status(now)
            before = now
            await asyncio.wait({stopped}, timeout=_LOOK)
        service.stopping("turns that run are given time to end", within=drain + _GRACE)
    finally:
        stopped.cancel()
