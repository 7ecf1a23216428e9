"""Looks at the clock: writes down what has come, has it played, and sleeps until the next instant."""

import asyncio
import contextlib
import uuid
from collections.abc import Callable, Sequence
from functools import partial

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, StoreError
from hermes_core.kinds import Service
from hermes_core.types import Principal
from hermes_tool_cron.playing import Player, config_of, is_used, jobs_of
from hermes_tool_cron.rows import CHANGED, Looked
from hermes_tool_cron.schedule import shown
from hermes_tool_cron.telling import failure_of
from hermes_tool_cron.values import Run
from hermes_tool_kit.screens import Screen, Screens
from hermes_tool_kit.telling import Announces, Happened

__all__ = ["Ticker"]

_LONGEST = 20.0  # seconds between two looks, with which it says that it lives
_PEEK = 1.0  # seconds between two glances at whether another process changed something, or the clock went on
_SHORTEST = 0.02
_BACK = 60.0  # seconds by which a clock may be set back without more ado


class Ticker(Service, Announces, Screens):
    """Runs jobs while a gateway, a worker or ``hermes cron daemon`` runs: on each machine of several, which share them.

    It is no reason to begin a gateway where there are no chats: that is what the daemon is for. What plays does not end
    when this is stopped: a host waits for turns that run, and what it cuts off goes on at the next start, from the same
    row.
    """

    name = "cron"
    local = True

    def __init__(self, ctx: PluginContext) -> None:
        self.ctx, self._wrong = ctx, ""
        self._player = Player(ctx)
        self._latest = 0.0  # when it looked last
        self._plays: dict[str, asyncio.Task[None]] = {}
        self._woken = asyncio.Event()

    async def run(self) -> None:
        """Look at the clock until cancelled."""
        rows, holder = jobs_of(self.ctx), uuid.uuid4().hex
        end: Callable[[], None] = await self.ctx.store.subscribe(CHANGED, self._woken.set)
        try:
            while True:
                self._woken.clear()
                looked = await self.once(holder)
                await self._sleep(looked.again - looked.now if looked.again else _LONGEST)
        finally:
            end()
            await rows.leave(holder)

    async def _sleep(self, seconds: float) -> None:
        """Sleep until something is due, or changed: in this process, where it is told, or in another, looked for."""
        loop = asyncio.get_running_loop()
        due, longest = loop.time() + seconds, loop.time() + _LONGEST
        while (left := min(due, longest) - loop.time()) > 0:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(max(_SHORTEST, min(_PEEK, left))):
                    await self._woken.wait()
                    return
            there = await jobs_of(self.ctx).peek()
            if there.is_due or not there.waiting <= self._plays.keys():
                return

    async def once(self, holder: str = "") -> Looked:
        """Write down what has come, and begin to play what is to be played; it is not waited for."""
        rows, config = jobs_of(self.ctx), config_of(self.ctx)
        if await rows.now() < (self._latest or await rows.newest()) - _BACK:
            self.ctx.log.warning("the clock was set back: jobs wait for their next instants from now on")
            await rows.replan()
        looked = await rows.look(holder, config.keep)
        self._latest = looked.now
        self._wrong = "; ".join(looked.broken)
        room = config.parallel - len(self._plays)
        for run in await rows.pending(but=self._plays):
            if run.id in self._plays:
                continue
            if run.state == "due":
                if room <= 0 and (room := config.parallel - await self._at_work()) <= 0:
                    continue
                room -= 1
            task = asyncio.create_task(self._play(run), name=f"cron {run.id}")
            self._plays[run.id] = task
            task.add_done_callback(partial(self._done, run))
        return looked

    async def _at_work(self) -> int:
        """Return how many runs are played and do not wait for a person's yes, which may take days."""
        plays, waiting = len(self._plays), set[str]()
        runs = [one for one in await jobs_of(self.ctx).these(self._plays) if one.session]
        for person in {one.person for one in runs}:
            owner = Principal(profile=self.ctx.owner.profile, person=person)
            waiting |= {one.session_id for one in await self.ctx.approvals.list(owner, limit=1000)}
        return plays - sum(one.session in waiting for one in runs)

    async def rest(self) -> None:
        """Wait until nothing is played."""
        while self._plays:
            await asyncio.wait(tuple(self._plays.values()))

    def _done(self, run: Run, _: "asyncio.Task[None]") -> None:
        self._plays.pop(run.id, None)
        self._woken.set()

    async def _play(self, run: Run) -> None:
        try:
            await self._player.play(run)
        except StoreError as error:  # it stands as it did, and is looked at again
            self.ctx.log.warning("the run %s waits: %s", run.id, error.text)
            await asyncio.sleep(1.0)
        except HermesError as error:
            self.ctx.log.warning("the run %s broke off: %s", run.id, error.text)
            await asyncio.sleep(1.0)

    def health(self) -> str:
        return self._wrong

    async def happened(self, since: float, most: int) -> Sequence[Happened]:
        """Return which jobs failed, of everybody."""
        if not is_used(self.ctx):
            return ()
        return [failure_of(one) for one in await jobs_of(self.ctx).failures(since, most)]

    def screens(self) -> Sequence[Screen]:
        """The calendar, for a full screen."""
        from hermes_tool_cron.week import CalendarScreen

        return [CalendarScreen(self.ctx)]

    async def status(self) -> str:
        """Say what is next."""
        if not is_used(self.ctx):
            return ""
        try:
            many, first = await jobs_of(self.ctx).next()
        except HermesError:
            return ""
        if first is None:
            return "no job"
        return f"{many} jobs, next {first.name} on {shown(first.due, first.zone)}"
