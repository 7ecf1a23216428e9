"""The gateway: platforms kept alive, what they hear played, and what is to be said sent, until it is told to stop."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.errors import DeliveryError, HermesError
from hermes_core.kinds import Console, Platform, TurnQueue
from hermes_core.types import Chat, Envelope, Principal
from hermes_platform_gateway.asks import Asks
from hermes_platform_gateway.commands.chats import ChatCommands
from hermes_platform_gateway.config import gateway_settings
from hermes_platform_gateway.inbound import Inbound
from hermes_platform_gateway.limits import most_of
from hermes_platform_gateway.outward.outgoing import said
from hermes_platform_gateway.outward.senders import Senders
from hermes_platform_gateway.peers import Peers
from hermes_platform_gateway.people.access import Access, admit, rules_of
from hermes_platform_gateway.people.door import tell_kept, welcomed
from hermes_platform_gateway.people.ending import end_jobs
from hermes_platform_gateway.people.pairing import code_for
from hermes_platform_gateway.people.telling import tell_admins
from hermes_platform_gateway.platforms import PlatformSupervisor
from hermes_platform_gateway.queue import LocalQueue, open_queue
from hermes_platform_gateway.rows.kept import is_order_of, orders, rows_of, unplayed
from hermes_platform_gateway.rows.values import KEPT
from hermes_platform_gateway.supervision.services import Services
from hermes_platform_gateway.turn_worker import TurnWorker
from hermes_platform_gateway.turns import Turns
from hermes_platform_gateway.whose import speaker
from hermes_platform_kit.peers import is_peer

__all__ = ["Gateway"]

log = logging.getLogger(f"hermes.{__name__}")
_HOUR = 3600.0
_LOOK = 0.05  # seconds between two looks at whether all is done
_FLUSH = 1.5  # seconds for what is to be sent when everything stops


class Gateway:
    """One process of the gateway. Without ``platforms`` it only plays; without ``work`` it only listens and sends."""

    def __init__(
        self,
        ctx: PluginContext,
        platforms: Sequence[Platform],
        *,
        queue: TurnQueue | None = None,
        work: bool = True,
    ) -> None:
        self._ctx, self._work = ctx, work
        self._queue = queue or open_queue(ctx)
        turns = Turns(ctx, elsewhere=self._queue.name != LocalQueue.name)
        self._senders = Senders(ctx)
        self._asks = asks = Asks(ctx, turns, self._senders)
        self.commands = ChatCommands(ctx, self._queue, turns, asks, self.told, self._try_again)
        self._peers = Peers(ctx, self._person)
        told = self._admit, self._senders.wake
        self._inbound = Inbound(ctx, self._queue, turns, asks, self.commands, self._peers, *told)
        self._worker = TurnWorker(ctx, turns, asks, self._senders.wake, self._senders.show, self._again, self._access)
        self._services = Services(ctx)
        self.platforms = [
            PlatformSupervisor(
                platform,
                Console(self.commands.menu),
                rows_of(ctx).accounts,
                gateway_settings(ctx),
                self._inbound.hear,
                self._senders.send,
                self._inbound.begin,
            )
            for platform in platforms
        ]

    async def run(self, stop: asyncio.Event) -> None:
        """Serve until ``stop`` is set or every platform has nothing more to say. Raises HermesError at the start."""
        await self._ctx.host.start()
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
        """Who speaks; None when nobody may. A stranger is given a code, where the settings say so.

        Who is blocked by their role is answered nothing, whatever they write.
        """
        access = await self._access(envelope)
        rights = await self._ctx.host.rights(access.principal, access.speaker)
        if not rights.role:
            key = f"mend:{time.strftime('%Y-%m-%d')}:{rights.refused[:60]}"
            await tell_admins(self._ctx, f"{rights.refused} See: {self._ctx.program} doctor", key=key)
        if is_peer(envelope):
            return None if rights.silent or not rights.role or access.outcome != "in" else access
        if rights.silent or await welcomed(self._ctx, envelope, access):
            return None
        if access.outcome == "in":
            await self._peers.spoke(envelope)
            return access
        rows = rows_of(self._ctx)
        log.info("not let in: %s %s: %s", envelope.platform, envelope.sender, access.by)
        if access.kept:
            await tell_kept(self._ctx, envelope, access)
        words = await code_for(rows, envelope, brand=self._ctx.program) if access.outcome == "pair" else ""
        if words:
            key = f"{envelope.platform}:{envelope.account}:{envelope.event_id}:code"
            with contextlib.suppress(DeliveryError):  # not through the outbox, where its row would tell the code
                await platform.send(Chat(envelope.chat, envelope.thread), said(words), key)
        return None

    async def _access(self, envelope: Envelope) -> Access:
        """What is known of a sender now; of another agent, of the person for whom it is answered."""
        return (await self._peers.began(envelope))[1] if is_peer(envelope) else await self._person(envelope)

    async def _person(self, envelope: Envelope) -> Access:
        """What the settings and the rows say of a sender, as they are now."""
        rules = rules_of(self._ctx, envelope.platform)
        speaker = await rows_of(self._ctx).people.speaker(envelope.platform, envelope.sender, *rules.names(envelope))
        return admit(envelope, rules, *speaker)

    # --- turns ------------------------------------------------------------------------------------------------------

    async def _play(self) -> None:
        most = most_of(self._ctx, alone=isinstance(self._queue, LocalQueue))
        await self._queue.work(self._worker.play, self._ctx.host.section("workers").count, most)

    async def _sweep(self) -> None:
        """Put what waits and is in no queue: from before the start, of a worker that died, of another machine, or
        ordered by a plugin. And end what goes on beside conversations for whoever was blocked."""
        forgot, known = 0.0, frozenset[str]()
        while True:
            try:
                if time.time() - forgot > _HOUR:
                    forgot = time.time()
                    await self._ctx.host.records.forget(forgot - KEPT)
                await end_jobs(self._ctx)
                waiting = list(await unplayed(self._ctx))
                # Whoever ordered a turn to play it at once has begun it by the second look.
                ordered = dict(await orders(self._ctx))
                for session_id, owner in (*waiting, *((one, ordered[one]) for one in ordered if one in known)):
                    if isinstance(self._queue, LocalQueue) and self._queue.holds(session_id):
                        continue
                    if not await self._ctx.turns.busy(session_id, owner=owner, elsewhere=False):
                        await self._again(session_id, owner)
                known = frozenset(ordered)
            except HermesError as error:
                log.warning("what waits could not be looked for: %s", error)
            await asyncio.sleep(self._ctx.host.section("workers").poll_seconds)

    async def _again(self, session_id: str, owner: Principal) -> None:
        await self._queue.put(session_id, await self._speaker(session_id, owner))

    async def _speaker(self, session_id: str, owner: Principal) -> str:
        """Who waits in a session: in one that a group shares it is whoever wrote what waits there first."""
        if "#" not in owner.person:
            return owner.person
        turns = self._ctx.host.turns
        waiting = await turns.cut(session_id) or next(iter(await turns.waiting(session_id)), None)
        if waiting is None or (came := waiting.envelope) is None or is_order_of(came, owner):
            return owner.person
        return (await speaker(self._ctx, came, owner)).person

    # --- the end ----------------------------------------------------------------------------------------------------

    async def _drain(self, keeping: Sequence["asyncio.Task[None]"], playing: Sequence["asyncio.Task[None]"]) -> None:
        """Hear nothing new, let turns end, send what they said; what is cut off is resumed at the next start."""
        for platform in self.platforms:
            platform.deaf()
        self._worker.begin_no_more()  # a turn that began after we left ours would be ended, and lost
        seconds = gateway_settings(self._ctx).drain_seconds
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._inbound.settle()
                await self._worker.rest()
                await self._ctx.host.turns.rest()
        cut = self._ctx.host.turns.playing
        with contextlib.suppress(TimeoutError, HermesError):
            async with asyncio.timeout(_FLUSH):
                await self._asks.rest()
                await self._all_sent()
        if cut:
            log.warning("%d turns are cut off; they go on at the next start", cut)
        with contextlib.suppress(HermesError):  # else they are taken over when this process is gone
            await self._ctx.host.records.leave()
        for task in (*playing, *keeping):
            task.cancel()
        await self._inbound.close()

    async def _all_sent(self) -> None:
        """Wait until nothing is to be sent by a platform that is connected."""
        mine = {(k.platform.name, k.platform.account) for k in self.platforms if k.state == "connected"}
        outbox = rows_of(self._ctx).outbox
        while True:
            counts = await outbox.outbox_counts()
            if not any((name, account) in mine and state in ("waiting", "sending") for name, account, state in counts):
                return
            await asyncio.sleep(_LOOK)
