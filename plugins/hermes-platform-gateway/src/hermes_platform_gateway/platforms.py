"""One platform kept alive: connected, listened to, sent by, and connected again when it falls."""

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from hermes_core.kinds import Console, Platform
from hermes_core.types import Envelope
from hermes_platform_gateway.config import GatewaySettings
from hermes_platform_gateway.supervision.supervisor import CLOSE, State, Supervisor

if TYPE_CHECKING:
    from hermes_platform_gateway.rows.accounts import Accounts

__all__ = ["PlatformSupervisor"]


class PlatformSupervisor:
    """Serves one platform until it is stopped. ``send`` sends what waits for an account, until it is cancelled."""

    def __init__(
        self,
        platform: Platform,
        console: Console,
        accounts: "Accounts",
        config: GatewaySettings,
        hear: Callable[[Platform, Envelope], None],
        send: Callable[[Platform], Awaitable[None]],
        begin: Callable[[Platform], Awaitable[None]],
    ) -> None:
        self.platform, self._console = platform, console
        pauses = config.retry_seconds, config.retry_cap
        self._supervisor = Supervisor(platform.name, platform.account, accounts, pauses=pauses)
        self._hear, self._send, self._begin = hear, send, begin
        self._deaf = False
        self._listening: asyncio.Task[None] | None = None

    @property
    def state(self) -> State:
        """How it is."""
        return self._supervisor.state

    def __str__(self) -> str:
        """How it is, in a line."""
        return str(self._supervisor)

    def resume(self) -> bool:
        """Try a parked or waiting platform again at once; False when there is nothing to try."""
        return self._supervisor.resume()

    def deaf(self) -> None:
        """Hear nothing more. What is to be said is sent until this is cancelled."""
        self._deaf = True
        self._supervisor.rest()
        if self._listening:
            self._listening.cancel()

    async def serve(self) -> None:
        """Keep it alive until ``receive`` ends by itself or this is cancelled."""
        await self._supervisor.keep(self._connection)

    async def _connection(self) -> None:
        """One connection, from its start to its end, which is when the platform has nothing more to say."""
        platform, supervisor = self.platform, self._supervisor
        self._know_account()
        await supervisor.tell("connecting")
        try:
            await platform.open(self._console)
            self._know_account()
            if platform.exclusive:
                await supervisor.led("Another process serves this account.")
            else:
                await supervisor.lead()
            await supervisor.tell("connected")
            await self._begin(platform)
            await self._work()
        finally:
            with contextlib.suppress(Exception):  # a connection that is broken cannot say goodbye
                async with asyncio.timeout(CLOSE):
                    await platform.close()

    def _know_account(self) -> None:
        """Take over which account it is, as some platforms know that only once they are connected."""
        name = self._supervisor.name = self.platform.account
        self._supervisor.lease = name if self.platform.exclusive else f"{name}@{socket.gethostname()}"

    async def _work(self) -> None:
        """Listen, send and keep the lease; the first that ends, ends all."""
        work = [self._listen(), self._send(self.platform), self._supervisor.beat()]
        tasks = [asyncio.create_task(_awaited(one)) for one in work]
        self._listening = tasks[0]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if self._deaf:  # what was heard before is still answered
                await asyncio.wait(tasks[1:], return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                if task.done() and not task.cancelled():
                    task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _listen(self) -> None:
        async for envelope in self.platform.receive():
            self._hear(self.platform, envelope)


async def _awaited(work: Awaitable[None]) -> None:
    await work
