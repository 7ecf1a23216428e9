"""Reads a platform for its contract test, as the kernel does."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from hermes_core.kinds import Platform
from hermes_core.testing.fake_console import FakeConsole
from hermes_core.testing.fakes import FakeService
from hermes_core.types import Envelope

__all__ = ["Inbox", "opened"]


class Inbox:
    """Reads ``receive`` one envelope at a time, acknowledging as the kernel does."""

    def __init__(self, platform: Platform, patience: float) -> None:
        self._platform = platform
        self._stream = platform.receive()
        self._patience = patience
        self._next: asyncio.Task[Envelope | None] = self._ask()

    async def next(self) -> Envelope:
        """The next one. Raises AssertionError when none comes in time."""
        done, _ = await asyncio.wait([self._next], timeout=self._patience)
        assert done, f"no message came within {self._patience} s"
        envelope = self._next.result()
        assert envelope is not None, "receive ended while the person was there"
        await self._platform.ack(envelope)
        self._next = self._ask()
        await asyncio.sleep(0)
        return envelope

    async def greeted(self, service: FakeService) -> str:
        """Somebody writes; the chat that this came from."""
        await service.say("Hi.")
        return (await self.next()).chat

    async def ended(self) -> bool:
        """Whether there is nothing more to come."""
        done, _ = await asyncio.wait([self._next], timeout=self._patience)
        assert not done or self._next.result() is None, "a message came after close"
        await self.stop()
        return bool(done)

    async def stop(self) -> None:
        """Read no more."""
        await asyncio.wait([self._next], timeout=self._patience)
        self._next.cancel()
        await asyncio.wait([self._next])

    def _ask(self) -> "asyncio.Task[Envelope | None]":
        async def ask() -> Envelope | None:
            return await anext(self._stream, None)

        return asyncio.ensure_future(ask())


@asynccontextmanager
async def opened(platform: Platform, patience: float) -> AsyncIterator[Inbox]:
    """A platform that is open, and what comes in on it."""
    await platform.open(FakeConsole())
    inbox = Inbox(platform, patience)
    try:
        await asyncio.sleep(0)
        yield inbox
    finally:
        await platform.close()
        await inbox.stop()
