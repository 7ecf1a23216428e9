"""Hands out tasks: claims what is ready, has it played, takes over from the dead, and tells who wants to know."""

import asyncio
import contextlib
import uuid
from collections.abc import Callable, Sequence
from functools import partial

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, StoreError, UserError
from hermes_core.kinds import Service
from hermes_core.types import Message, Principal, Text
from hermes_tool_kanban.claims import Hands
from hermes_tool_kanban.moving import CHANGED
from hermes_tool_kanban.playing import TAKEN_AWAY, Player, config_of, is_used, store_of
from hermes_tool_kanban.values import Run
from hermes_tool_kanban.words import happening, notice_of
from hermes_tool_kanban.workspaces import here
from hermes_tool_kit.screens import Screen, Screens
from hermes_tool_kit.telling import Announces, Happened
from hermes_tool_kit.used import awaited

__all__ = ["Dispatcher"]

_LONGEST = 20.0  # seconds between two looks, with which it says that it lives
_PEEK = 1.0  # seconds between two glances at whether another process changed something
_UNUSED = 5.0  # the same where there never was a board


class Dispatcher(Service, Announces, Screens):
    """Works on tasks while a gateway, a worker or ``hermes kanban daemon`` runs: on each machine of several.

    It is no reason to begin a gateway where there are no chats. What plays does not end when this is stopped: a host
    waits for turns that run, and what it cuts off goes on at the next start, or elsewhere, from the same row.
    """

    name = "kanban"
    local = True

    def __init__(self, ctx: PluginContext, holder: str = "") -> None:
        self.ctx = ctx
        self.holder = holder or uuid.uuid4().hex
        self._plays: dict[str, asyncio.Task[None]] = {}
        self._player: Player | None = None
        self._splits: asyncio.Task[None] | None = None
        self._woken = asyncio.Event()

    async def run(self) -> None:
        """Dispatch until cancelled, where the settings want it."""
        if config_of(self.ctx).dispatch:
            await self.dispatch()

    async def dispatch(self) -> None:
        """Dispatch until cancelled."""
        with awaited(self.ctx):  # until there is a row that says so
            await self._begun()
            await self.once()
        end: Callable[[], None] = await self.ctx.store.subscribe(CHANGED, self._woken.set)
        try:
            while True:
                self._woken.clear()
                if not await self.once():
                    await self._sleep()
        finally:
            end()
            await self.leave()

    async def _begun(self) -> None:
        """Wait until this home has a board; others may have made some on a server that several share."""
        while not (is_used(self.ctx) or self.ctx.host.section("store").url):  # noqa: ASYNC110 - another process makes it
            await asyncio.sleep(_UNUSED)

    async def leave(self) -> None:
        """Dispatch no longer: what is not over can be taken over at once."""
        if self._splits:
            self._splits.cancel()
        await store_of(self.ctx).claims.leave(self.holder)

    def hands(self) -> Hands:
        """Return what can be worked on here: by this profile, by whoever is free, by the workers of the settings."""
        config = config_of(self.ctx)
        workers = {"": config.parallel, self.ctx.owner.profile: config.parallel}
        workers |= {name: one.parallel or config.parallel for name, one in config.workers.items()}
        return Hands(holder=self.holder, workers=workers, parallel=config.parallel, place=here(),
                     profile=self.ctx.owner.profile)  # fmt: skip

    async def _sleep(self) -> None:
        """Sleep until something is to be done: in this process, where it is told, or in another, looked for."""
        loop = asyncio.get_running_loop()
        longest, hands = loop.time() + _LONGEST, self.hands()
        while loop.time() < longest:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_PEEK):
                    await self._woken.wait()
                    return
            if await store_of(self.ctx).claims.waits(hands, self._plays):
                return

    async def once(self) -> int:
        """Do what is to be done now, and begin to play what is claimed; how many claims that were. None is waited for.

        Each step is a transaction of its own, so that whoever dies between two has lost nothing.
        """
        rows, hands = store_of(self.ctx), self.hands()
        for run in await rows.claims.tend(hands):
            if run.id not in self._plays:
                self._begin(run)
            elif run.outcome in TAKEN_AWAY and run.session:
                await self._stop(run)
        waiting = await self._waiting()
        room = hands.parallel - len(self._plays) + len(waiting)  # what is over may be tidied up yet
        claimed = await rows.claims.claim(hands, waiting, room)
        for run in claimed:
            self._begin(run)
        await self._tell()
        self._split()
        return len(claimed)

    async def rest(self) -> None:
        """Wait until nothing is played."""
        while self.playing:
            await self.step()

    async def step(self) -> None:
        """Wait until something that is played here is over, or a second has passed."""
        if work := self._work():
            await asyncio.wait(work, timeout=_PEEK, return_when=asyncio.FIRST_COMPLETED)

    @property
    def playing(self) -> int:
        """How many claims are played here; one more while tasks are split up."""
        return len(self._work())

    def _work(self) -> "Sequence[asyncio.Task[None]]":
        splits = () if self._splits is None or self._splits.done() else (self._splits,)
        return (*self._plays.values(), *splits)

    def _split(self) -> None:
        """Begin to split up what is in triage, where the settings allow it. It takes long, and is not waited for."""
        if not config_of(self.ctx).auto_decompose or (self._splits and not self._splits.done()):
            return
        from hermes_tool_kanban.decompose import decompose_waiting

        self._splits = asyncio.create_task(decompose_waiting(self.ctx), name="kanban decompose")
        self._splits.add_done_callback(self._told)

    def _told(self, task: "asyncio.Task[None]") -> None:
        if not task.cancelled() and (error := task.exception()):
            self.ctx.log.error("tasks could not be split up: %s", error)

    def _begin(self, run: Run) -> None:
        task = asyncio.create_task(self._play(run), name=f"kanban {run.id}")
        self._plays[run.id] = task
        task.add_done_callback(partial(self._done, run))

    def _done(self, run: Run, _: "asyncio.Task[None]") -> None:
        self._plays.pop(run.id, None)
        self._woken.set()

    async def _play(self, run: Run) -> None:
        self._player = self._player or Player(self.ctx)
        try:
            await self._player.play(run)
        except StoreError as error:  # it stands as it did, and is looked at again
            self.ctx.log.warning("the claim %s waits: %s", run.id, error.text)
            await asyncio.sleep(1.0)
        except HermesError as error:
            self.ctx.log.warning("the claim %s broke off: %s", run.id, error.text)
            await asyncio.sleep(1.0)
        except Exception:  # it is begun again, and would be the same at once
            self.ctx.log.exception("the claim %s broke off", run.id)
            await asyncio.sleep(_LONGEST)

    async def _stop(self, run: Run) -> None:
        """Stop the turn of a claim that a person took away."""
        with contextlib.suppress(UserError):
            owner = Principal(profile=self.ctx.owner.profile, person=run.person)
            await self.ctx.turns.interrupt(run.session, owner=owner)

    async def _waiting(self) -> Sequence[str]:
        """Return the claims that wait for a person's yes, which may take days."""
        found, runs = list[str](), list[Run]()
        if len(self._plays) < config_of(self.ctx).parallel:
            return found
        for name in tuple(self._plays):
            if (run := await store_of(self.ctx).claims.get(name)) and run.session:
                runs.append(run)
        for person in {one.person for one in runs}:
            owner = Principal(profile=self.ctx.owner.profile, person=person)
            asked = {one.session_id for one in await self.ctx.approvals.list(owner, limit=1000)}
            found += [one.id for one in runs if one.session in asked]
        return found

    async def _tell(self) -> None:
        """Hand what became of tasks to who sends messages, once; what cannot be told is kept, and why."""
        rows = store_of(self.ctx)
        for notice in await rows.claims.owed():
            try:
                task = await rows.tasks.get(notice.task, notice.person)
                owner = Principal(profile=self.ctx.owner.profile, person=notice.person)
                text = self.ctx.masks.text(notice_of(task, notice.text, self.ctx.program))
                message = Message(role="assistant", parts=(Text(text=text),), untrusted=notice.outside)
                await self.ctx.messages.send(owner, notice.target, message, key=f"kanban:{notice.id}")
                await rows.claims.told(notice.id, "sent")
            except UserError as error:  # the chat is not there: it is not told again and again
                self.ctx.log.warning("nobody could be told of the task %s: %s", notice.task, error.text)
                await rows.claims.told(notice.id, error.text)

    async def happened(self, since: float, most: int) -> Sequence[Happened]:
        """Return which tasks are done, blocked or wait for a review, of everybody."""
        if not is_used(self.ctx):
            return ()
        return [happening(one) for one in await store_of(self.ctx).tasks.told(since, most)]

    def screens(self) -> Sequence[Screen]:
        """The board, for a full screen."""
        from hermes_tool_kanban.board import BoardScreen

        return [BoardScreen(self.ctx)]

    async def status(self) -> str:
        """Say what is under way."""
        if not is_used(self.ctx):
            return ""
        return f"{self.playing} tasks are worked on here" if self.playing else ""
