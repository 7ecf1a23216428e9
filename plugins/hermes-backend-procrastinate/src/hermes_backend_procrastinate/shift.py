"""One worker's shift: takes jobs, plays their sessions, gives signs of life, and takes back what dead workers held."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from hermes_backend_procrastinate.jobs import Forgotten, Job, Jobs
from hermes_core.errors import StoreError

__all__ = ["Shift"]

T = TypeVar("T")
_LOOK = 1.0  # seconds between two looks for jobs when nobody says that there is one
_PAUSE = 1.0  # seconds before the server is tried again
_GOODBYE = 5.0  # seconds for telling the server that this worker ends; it finds out by itself else
_DEAD = 4  # beats without a sign of life before a worker is taken for dead


class Shift:
    """From the start of ``work`` until it is cancelled. No outage of the server ends it, and none loses a play."""

    def __init__(
        self,
        jobs: Jobs,
        play: Callable[[str], Awaitable[None]],
        workers: int,
        most: Callable[[str], int],
        beat: float,
        log: logging.Logger,
    ) -> None:
        self._jobs, self._play, self._workers, self._most, self._beat, self._log = jobs, play, workers, most, beat, log
        self.resting = False  # takes no more
        self._me = 0
        self._playing: set[asyncio.Task[None]] = set()
        self._writing: set[asyncio.Task[None]] = set()  # those that have played, and say so
        self._changed = asyncio.Event()
        self._ending = self._lost = False

    async def run(self) -> None:
        """Work until cancelled. Raises StoreError when the server cannot be reached at the start."""
        self._me = await self._jobs.sign_on()
        sides = [asyncio.create_task(side()) for side in (self._listen, self._live)]
        try:
            while True:
                self._changed.clear()
                job = await self._next() if self._has_room() else None
                if job and not self.resting:
                    self._start(job)
                    continue
                if job:  # taken in the moment in which it came to rest
                    await self._tried(self._jobs.give_back(job))
                with suppress(TimeoutError):
                    async with asyncio.timeout(_LOOK):
                        await self._changed.wait()
        finally:
            self._ending = True
            await asyncio.shield(self._end(sides))

    def _has_room(self) -> bool:
        return len(self._playing) < self._workers and not self.resting

    async def _next(self) -> Job | None:
        try:
            return await self._tried(self._jobs.next(self._me, self._most))
        except Forgotten:  # it was away for so long that it was struck off
            self._me = await self._tried(self._jobs.sign_on()) or self._me
            return None

    def _start(self, job: Job) -> None:
        task = asyncio.create_task(self._played(job))
        self._playing.add(task)
        task.add_done_callback(self._over)

    def _over(self, task: "asyncio.Task[None]") -> None:
        self._playing.discard(task)
        self._writing.discard(task)
        self._changed.set()  # there is room, and the session may have been put again

    async def _played(self, job: Job) -> None:
        session_id = str(job.task_kwargs["session_id"])
        try:
            await self._play(session_id)
        except asyncio.CancelledError:
            if self._ending:
                await self._tried(self._jobs.give_back(job))
                raise
        except Exception:  # noqa: BLE001 - whatever it is, it is of this session only
            self._log.exception("session %s could not be played; it is looked at again later", session_id)
        if task := asyncio.current_task():
            self._writing.add(task)
        while True:  # until that is written down nobody else plays this session
            if await self._tried(_so(self._jobs.done(job))):
                return
            await asyncio.sleep(_PAUSE)

    async def _listen(self) -> None:
        while True:
            await self._tried(self._jobs.listen(self._changed.set))
            await asyncio.sleep(_PAUSE)
            self._changed.set()  # what was said meanwhile was not heard

    async def _live(self) -> None:
        while True:
            await self._tried(self._jobs.beat(self._me))
            if await self._tried(self._jobs.take_back(_DEAD * self._beat)):
                self._changed.set()
            await asyncio.sleep(self._beat)

    async def _tried(self, step: Awaitable[T]) -> T | None:
        """What a step gives, or None when the server is away; said once, when it goes and when it comes back."""
        try:
            result = await step
        except Forgotten:
            raise
        except StoreError as error:
            if not self._lost:
                self._log.warning("%s Turns that play go on; it is tried again.", error.text)
            self._lost = True
            return None
        if self._lost:
            self._lost = False
            self._log.info("the turns can be reached again")
        return result

    async def _end(self, sides: "list[asyncio.Task[None]]") -> None:
        cut = {*sides, *self._playing} - self._writing
        while cut:  # again: a step that ends in the same moment may swallow it
            for task in cut:
                task.cancel()
            _, cut = await asyncio.wait(cut, timeout=_PAUSE)
        with suppress(TimeoutError, StoreError):
            async with asyncio.timeout(_GOODBYE):
                await asyncio.gather(*self._writing.copy())
                await self._jobs.sign_off(self._me)
                await self._jobs.take_back(_DEAD * self._beat)  # a job it had just taken when it was cancelled


async def _so(step: Awaitable[None]) -> bool:
    await step
    return True
