"""One platform kept alive: connected, listened to, sent by, and connected again when it falls."""

import asyncio
import contextlib
import logging
import random
import socket
import time
from collections.abc import Awaitable, Callable
from typing import Literal

from hermes_core.config.gateway import GatewaySettings
from hermes_core.errors import HermesError, UserError
from hermes_core.kinds import Desk, Platform
from hermes_core.types import Envelope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.store.accounts import Serving
    from hermes_core.store.journal import Store

__all__ = ["Keeper", "State"]

log = logging.getLogger(__name__)
State = Literal["connecting", "connected", "standby", "waiting", "parked", "closed"]
_STABLE = 60.0  # seconds after which a connection was a good one, and the next pause is a short one again
_BEAT = 5.0  # seconds between two looks at the lease on an account
_LOOK = 1.0  # the same while another process serves the account
_CLOSE = 2.0  # seconds a platform may take to disconnect


class Keeper:
    """Serves one platform until it is stopped. ``send`` sends what waits for an account, until it is cancelled."""

    def __init__(
        self,
        platform: Platform,
        desk: Desk,
        holder: str,
        store: Callable[[], Awaitable["Store"]],
        config: GatewaySettings,
        hear: Callable[[Platform, Envelope], None],
        send: Callable[[Platform], Awaitable[None]],
        begin: Callable[[Platform], Awaitable[None]],
    ) -> None:
        self.platform = platform
        self.state: State = "connecting"
        self.error = ""
        self.since = time.time()
        self._desk, self._holder, self._store, self._config = desk, holder, store, config
        self._serving: Serving | None = None
        self._hear, self._send, self._begin = hear, send, begin
        self._again = asyncio.Event()
        self._deaf = False
        self._listening: asyncio.Task[None] | None = None

    def resume(self) -> bool:
        """Try a parked or waiting platform again at once; False when there is nothing to try."""
        if self.state not in ("parked", "waiting"):
            return False
        self._again.set()
        return True

    def deaf(self) -> None:
        """Hear nothing more. What is to be said is sent until this is cancelled."""
        self._deaf = True
        if self._listening:
            self._listening.cancel()

    async def serve(self) -> None:
        """Keep it alive until ``receive`` ends by itself or this is cancelled."""
        pause = self._config.retry_seconds
        while not self._deaf:
            began = time.monotonic()
            try:
                if await self._connection():
                    return
            except UserError as error:  # only a person can mend it
                await self._told("parked", str(error))
                await self._again.wait()
            except Exception as error:
                if not isinstance(error, HermesError):
                    log.exception("platform %s fell", self.platform.name)
                if time.monotonic() - began > _STABLE:
                    pause = self._config.retry_seconds
                await self._told("waiting", f"{str(error) or type(error).__name__} Tried again in {pause:.0f} s.")
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(pause * random.uniform(0.9, 1.0)):  # noqa: S311 - not all at once
                        await self._again.wait()
                pause = min(self._config.retry_cap, pause * 2)
            self._again.clear()

    async def _connection(self) -> bool:
        """One connection, from its start to its end; True when the platform has nothing more to say."""
        platform = self.platform
        await self._told("connecting")
        try:
            await platform.open(self._desk)
            while not await self._lead():
                await self._told("standby", "Another process serves this account.")
                await asyncio.sleep(_LOOK)
            await self._told("connected")
            await self._begin(platform)
            await self._work()
        finally:
            with contextlib.suppress(Exception):  # a connection that is broken cannot say goodbye
                async with asyncio.timeout(_CLOSE):
                    await platform.close()
            await self._release()
        return True

    async def _lead(self) -> bool:
        """Take the account, so that no other process serves it."""
        store, account = await self._store(), self.platform.account
        if not self.platform.exclusive:
            account += f"@{socket.gethostname()}"
        if self._serving is None or self._serving.account != account:
            await self._release()
            self._serving = await store.serve(self.platform.name, account, holder=self._holder)
        return self._serving is not None or not self.platform.exclusive

    async def _release(self) -> None:
        if self._serving is not None:
            with contextlib.suppress(HermesError):  # else it is still ours: forgotten, it would keep ourselves out
                await (await self._store()).stop_serving(self._serving)
                self._serving = None

    async def _work(self) -> None:
        """Listen, send and keep the lease; the first that ends, ends all."""
        work = [self._listen(), self._send(self.platform), self._keep()]
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

    async def _keep(self) -> None:
        store = await self._store()
        while True:
            if self._serving:
                await store.keep_serving(self._serving)
            await asyncio.sleep(_BEAT)

    async def _told(self, state: State, error: str = "") -> None:
        if (state, error) != (self.state, self.error):
            log.log(
                logging.WARNING if error else logging.INFO, "platform %s is %s. %s", self.platform.name, state, error
            )
        self.state, self.error, self.since = state, error, time.time()
        if state == "standby":
            return
        with contextlib.suppress(HermesError):  # a store that cannot be written says so itself, in other places
            if (self._serving or await self._lead()) and self._serving:
                await (await self._store()).tell_account(self._serving, state, error)


async def _awaited(work: Awaitable[None]) -> None:
    await work
