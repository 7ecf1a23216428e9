"""The gateway: platforms kept alive, what they hear played, and what is to be said sent, until it is told to stop."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Sequence

from hermes_core.agent.runtime import Runtime
from hermes_core.agent.services import Services
from hermes_core.errors import DeliveryError, HermesError
from hermes_core.gateway.asks import Asks
from hermes_core.gateway.commands.chats import ChatCommands
from hermes_core.gateway.inbound import Inbound
from hermes_core.gateway.outward.outgoing import said
from hermes_core.gateway.outward.senders import Senders
from hermes_core.gateway.people.access import Access, AccessRules, admit
from hermes_core.gateway.people.pairing import code_for
from hermes_core.gateway.platforms import PlatformSupervisor
from hermes_core.gateway.queue import LocalQueue, open_queue
from hermes_core.gateway.rows.kept import rows_of, unplayed
from hermes_core.gateway.rows.values import KEPT
from hermes_core.gateway.turn_worker import TurnWorker
from hermes_core.gateway.turns import Turns
from hermes_core.kinds import Console, Platform, TurnQueue
from hermes_core.types import Chat, Envelope

__all__ = ["Gateway"]

log = logging.getLogger(__name__)
_HOUR = 3600.0
_LOOK = 0.05  # seconds between two looks at whether all is done
_FLUSH = 1.5  # seconds for what is to be sent when everything stops


class Gateway:
    """One process of the gateway. Without ``platforms`` it only plays; without ``work`` it only listens and sends."""

    def __init__(
        self,
        runtime: Runtime,
        platforms: Sequence[Platform],
        *,
        queue: TurnQueue | None = None,
        work: bool = True,
    ) -> None:
        self._runtime, self._work = runtime, work
        self._queue = queue or open_queue(runtime)
        turns = Turns(runtime, elsewhere=self._queue.name != LocalQueue.name)
        self._rules: dict[str, AccessRules] = {}
        self._senders = Senders(runtime)
        self.commands = ChatCommands(runtime, self._queue, turns, self._senders, self.told, self._try_again)
        asks = Asks(runtime, turns, self._senders.wake)
        self._inbound = Inbound(runtime, self._queue, turns, asks, self.commands, self._admit, self._senders.wake)
        self._worker = TurnWorker(runtime, turns, asks, self._senders.wake, self._senders.show)
        self._services = Services(runtime)
        config, holder = runtime.settings.config.gateway, runtime.sessions.holder
        self.platforms = [
            PlatformSupervisor(
                platform,
                Console(self.commands.table),
                holder,
                runtime.store,
                config,
                self._inbound.hear,
                self._senders.send,
                self._inbound.begin,
            )
            for platform in platforms
        ]

    async def run(self, stop: asyncio.Event) -> None:
        """Serve until ``stop`` is set or every platform has nothing more to say. Raises HermesError at the start."""
        await self._runtime.warm()
        await self._runtime.dispatch.observe("on_gateway_start")
        self._services.start()
        keeping = [asyncio.create_task(one.serve(), name=one.platform.name) for one in self.platforms]
        playing = [asyncio.create_task(self._play()), asyncio.create_task(self._sweep())] if self._work else []
        stopped = asyncio.create_task(stop.wait())
        ended = asyncio.gather(*keeping) if keeping else asyncio.get_running_loop().create_future()
        try:
            await asyncio.wait({stopped, ended, *playing}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if stop.is_set():
                self._queue.rest()
            stopping = asyncio.create_task(self._services.stop())
            await self._drain(keeping, playing)
            stopped.cancel()
            ended.cancel()
            await asyncio.gather(stopping, *keeping, *playing, stopped, ended, return_exceptions=True)
            await self._queue.close()
        for task in playing:
            if not task.cancelled() and (error := task.exception()):
                raise error

    def told(self) -> Sequence[str]:
        """How each platform and each service is, a line each."""
        return [str(one) for one in (*self.platforms, *self._services.supervisors)]

    def _try_again(self, name: str) -> bool:
        service = next((one for one in self._services.supervisors if one.name == name), None)
        supervisor = self.platform(name) or service
        return supervisor is not None and supervisor.resume()

    def platform(self, name: str) -> PlatformSupervisor | None:
        """Who keeps a platform alive."""
        return next((one for one in self.platforms if one.platform.name == name), None)

    # --- in ---------------------------------------------------------------------------------------------------------

    async def _admit(self, platform: Platform, envelope: Envelope) -> Access | None:
        """Who speaks; None when nobody may. A stranger is given a code, where the settings say so."""
        settings = self._runtime.settings
        rules = self._rules.get(envelope.platform) or AccessRules.of(settings, envelope.platform)
        self._rules[envelope.platform] = rules
        rows = rows_of(await self._runtime.store())
        access = admit(envelope, rules, await rows.people.person(envelope.platform, envelope.sender))
        if access.outcome == "in":
            return access
        log.info("not let in: %s %s: %s", envelope.platform, envelope.sender, access.by)
        words = await code_for(rows, envelope, brand=self._runtime.home.brand) if access.outcome == "pair" else ""
        if words:
            key = f"{envelope.platform}:{envelope.account}:{envelope.event_id}:code"
            with contextlib.suppress(DeliveryError):  # not through the outbox, where its row would tell the code
                await platform.send(Chat(envelope.chat, envelope.thread), said(words), key)
        return None

    # --- turns ------------------------------------------------------------------------------------------------------

    async def _play(self) -> None:
        await self._queue.work(self._worker.play, self._runtime.settings.config.workers.count)

    async def _sweep(self) -> None:
        """Put what waits and is in no queue: from before the start, of a worker that died, of another machine."""
        forgot = 0.0
        while True:
            try:
                if time.time() - forgot > _HOUR:
                    forgot = time.time()
                    await (await self._runtime.store()).commands.forget(forgot - KEPT)
                for session_id, _ in await unplayed(await self._runtime.store()):
                    if not self._runtime.busy(session_id):
                        await self._queue.put(session_id)
            except HermesError as error:
                log.warning("what waits could not be looked for: %s", error)
            await asyncio.sleep(self._runtime.settings.config.workers.poll_seconds)

    # --- the end ----------------------------------------------------------------------------------------------------

    async def _drain(self, keeping: Sequence["asyncio.Task[None]"], playing: Sequence["asyncio.Task[None]"]) -> None:
        """Hear nothing new, let turns end, send what they said; what is cut off is resumed at the next start."""
        for platform in self.platforms:
            platform.deaf()
        seconds = self._runtime.settings.config.gateway.drain_seconds
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._inbound.settle()
                await self._worker.rest()
                await self._runtime.rest()
        cut = self._runtime.playing
        with contextlib.suppress(TimeoutError, HermesError):
            async with asyncio.timeout(_FLUSH):
                await self._all_sent()
        if cut:
            log.warning("%d turns are cut off; they go on at the next start", cut)
        with contextlib.suppress(HermesError):  # else they are taken over when this process is gone
            await (await self._runtime.store()).journal.leave(self._runtime.sessions.holder)
        for task in (*playing, *keeping):
            task.cancel()
        await self._inbound.close()

    async def _all_sent(self) -> None:
        """Wait until nothing is to be sent by a platform that is connected."""
        mine = {(k.platform.name, k.platform.account) for k in self.platforms if k.state == "connected"}
        outbox = rows_of(await self._runtime.store()).outbox
        while True:
            counts = await outbox.outbox_counts()
            if not any((name, account) in mine and state in ("waiting", "sending") for name, account, state in counts):
                return
            await asyncio.sleep(_LOOK)
