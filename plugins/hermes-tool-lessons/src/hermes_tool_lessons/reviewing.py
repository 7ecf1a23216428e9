"""Reviews conversations that rest: a hidden copy of one is asked what was learned, and what it proposes is kept.

Each step is a row before it is done. The copy's turn is ordered under the name of the review, so it is asked once; what
it proposed is stored with the end of the review, in one commit. Whoever comes after a death goes on where the rows say.
"""

import asyncio
import contextlib
import os

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, StoreError, UserError
from hermes_core.types import PastTurn, TurnBounds, TurnOrder
from hermes_tool_lessons.asking import drafts_of, question
from hermes_tool_lessons.shared import config_of, ledger_of, queue_of
from hermes_tool_lessons.values import WEEKS, Event, Lesson, Review, facts_of, lesson_of

__all__ = ["Reviewer"]

_LOOK, _LATER, _GRACE = 0.5, 600.0, 60.0  # seconds: between looks; until one that may cost too much; for one to begin
_OPEN = ("waiting", "open", "cut")
_CALLS = 2
_TRIES = 6  # of a replay whose model does not answer, before its lesson waits for a person


class Reviewer:
    """Reviews in one process. Several processes may: the rows say who looks at which."""

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx, self._holder = ctx, os.urandom(8).hex()
        self._sessions: set[str] = set()
        self._woken = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._failed: dict[str, int] = {}  # how often a replay could not be made, by its id

    def wake(self, session: str) -> None:
        """Look for reviews that are due, as long as a session of this process is open."""
        self._sessions.add(session)
        self._woken.set()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._go_on(), name="reviews of conversations")

    async def closed(self, session: str) -> None:
        """Hear that a session is closed here: after the last one nothing is reviewed here any more."""
        self._sessions.discard(session)
        if not self._sessions and self._task is not None:
            task, self._task = self._task, None
            task.cancel()
            await asyncio.wait([task])

    async def _go_on(self) -> None:
        while True:
            self._woken.clear()
            wait = await self.look()
            if wait is None:
                return
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(max(_LOOK, wait)):
                    await self._woken.wait()

    async def look(self) -> float | None:
        """Make the reviews that are due; the seconds until the next, None where none waits."""
        queue = queue_of(self._ctx)
        try:
            waits: list[float] = []
            looked: set[str] = set()
            while waiting := [one for one in await queue.open() if one.id not in looked]:  # a review leaves replays
                looked |= {one.id for one in waiting}
                for review in waiting:
                    left = review.due - await queue.now()
                    waits.append(left if left > 0 and not review.fork else await self._taken(review))
            return min((one for one in waits if one > 0), default=None)
        except StoreError as error:
            self._ctx.log.warning("reviews wait: %s", error.text)
            return _GRACE

    async def _taken(self, review: Review) -> float:
        """Make one, unless another process does; the seconds until it is looked at again, 0 for never."""
        queue = queue_of(self._ctx)
        if not await queue.claim(review.id, self._holder):
            return _LOOK * 20
        wait = _LATER
        try:
            now = await queue.get(review.id)
            wait = await self.step(now) if now else 0.0
        except StoreError:
            raise
        except HermesError as error:
            wait = await self._fail(review, self._ctx.masks.text(error.text))
        finally:
            await queue.leave(review.id, self._holder, wait)
        return wait

    async def made(self, name: str) -> None:
        """Make one by its name now, whatever is due besides; unless another process does."""
        if found := await queue_of(self._ctx).get(name):
            await self._taken(found)

    async def step(self, review: Review) -> float:
        """Take a review to its end; else the seconds to wait. Raises HermesError where it cannot be made."""
        queue = queue_of(self._ctx)
        if review.state != "due":  # it was closed, and its copy is still there
            await self._drop(review)
            return 0.0
        if review.id.startswith(WEEKS):
            from hermes_tool_lessons.weeks import make

            return await make(self._ctx, review)
        if lesson_of(review):
            from hermes_tool_lessons.replaying import replay

            return await replay(self._ctx, review)
        past = await self._ctx.turns.past(review.id, owner=review.owner)
        if past is None:
            if await self._ctx.turns.busy(review.session, owner=review.owner):
                return _GRACE
            if why := await self._spent(review):
                self._ctx.log.info("the review %s waits: %s", review.id, why)
                return _LATER
            past = await self._order(review)
        await queue.forked(review.id, past.session_id)
        past = await self._played(review, past)
        if past.state == "interrupted":  # the program ended; it is asked again
            await self._ctx.turns.forget(review.id, owner=review.owner)
            await self._drop(review, past.session_id)
            return _LOOK
        await self._close(review, past)
        await self._drop(review, past.session_id)
        return 0.0

    async def _spent(self, review: Review) -> str:
        """Say why a review may not be made now; empty where it may. What a person asks for is."""
        if review.asked:
            return ""
        config = config_of(self._ctx)
        day, reviews, turns = await queue_of(self._ctx).used(review.owner)
        if day >= config.reviews:
            return f"there were {day} in a day"
        took = [one for one in await ledger_of(self._ctx).of_session(review.session, 0.0) if one.kind == "turn"]
        wants = float(facts_of(took[-1]).get("request", 0)) if took else 0.0
        return (
            f"it would use more than {config.share:.0%} of all tokens" if reviews + wants > config.share * turns else ""
        )

    async def _order(self, review: Review) -> PastTurn:
        config = config_of(self._ctx)
        message, _ = question(*await self._known(review))
        order = TurnOrder(
            fork=review.session,
            event=review.id,
            hidden=True,
            model=config.model,
            bounds=TurnBounds(tools=(), calls=_CALLS, money=config.money, levels=0),
        )
        await self._ctx.turns.queue(message, owner=review.owner, order=order)
        past = await self._ctx.turns.past(review.id, owner=review.owner)
        if past is None:
            raise UserError("its turn was taken away")
        return past

    async def _known(self, review: Review) -> tuple[list[Event], list[Lesson]]:
        """Return what happened in a session before its review was planned, and the lessons that it was told."""
        events = await ledger_of(self._ctx).of_session(review.session, 0.0)
        told: dict[str, Lesson] = {}
        for turn in dict.fromkeys(one.turn for one in events if one.kind == "offered"):
            told |= {one.id: one for one in await ledger_of(self._ctx).offered(turn)}
        return [one for one in events if one.at <= review.due], list(told.values())

    async def _played(self, review: Review, past: PastTurn) -> PastTurn:
        """Follow the turn of a review to its end, whoever plays it. Raises HermesError."""
        turns, loop = self._ctx.turns, asyncio.get_running_loop()
        end = loop.time() + _GRACE
        while past.state in _OPEN:
            played = False
            async with contextlib.aclosing(turns.resume(past.session_id, owner=review.owner)) as events:
                async for _ in events:
                    played = True
            found = await turns.past(review.id, owner=review.owner)
            if found is None:
                raise UserError("its turn was taken away")
            past = found
            if not played and past.state in _OPEN:
                if loop.time() > end and not await turns.busy(past.session_id, owner=review.owner):
                    await turns.drop(past.session_id, owner=review.owner)
                    raise UserError("its turn does not begin")
                await asyncio.sleep(_LOOK)
        return past

    async def _close(self, review: Review, past: PastTurn) -> None:
        """Keep what a review proposes, with its end."""
        config, why = config_of(self._ctx), past.error if past.state == "failed" else ""
        events, known = await self._known(review)
        _, named = question(events, known)
        rows = await self._ctx.sessions.past(review.owner, past.session_id)
        there = await ledger_of(self._ctx).of_session(review.session, 0.0)  # also what came as the copy was made
        tainted = any(one.untrusted for one in rows) or any(
            one.kind == "guest" or (one.kind == "turn" and facts_of(one).get("outside")) for one in there
        )
        drafts = drafts_of(past.answer, named, known, session=review.session, tainted=tainted) if not why else ()
        if drafts is None:
            why, drafts = "its answer was not as it was asked for", ()
        masked = self._ctx.masks.text  # a secret stays none that a lesson repeats
        drafts = [evolve(one, trigger=masked(one.trigger), text=masked(one.text)) for one in drafts]
        new = await queue_of(self._ctx).ended(
            review, drafts, why=self._ctx.masks.text(why), tokens=past.usage.input + past.usage.output,
            money=past.usage.cost, mode=config.mode, most=config.lessons,
        )  # fmt: skip
        if new:
            many = "a lesson" if new == 1 else f"{new} lessons"
            self._ctx.tell(f"Learned {many}: /learned shows what, /learned why ID from what.")

    async def _fail(self, review: Review, why: str) -> float:
        """Close what cannot be made; the seconds until it is tried again, 0 for never."""
        week = review.id.startswith(WEEKS)
        if not lesson_of(review) and not week:
            await queue_of(self._ctx).ended(review, (), why=why, tokens=0, money=0.0, mode="ask", most=0)
            await self._drop(review)
            return 0.0
        self._failed[review.id] = tries = self._failed.get(review.id, 0) + 1
        self._ctx.log.warning("%s: %s", "a week has no summary" if week else "old tasks cannot be done again", why)
        if tries < _TRIES:  # whoever answers may be away for a while
            return _LATER
        del self._failed[review.id]
        if week:
            await queue_of(self._ctx).ended(review, (), why=why, tokens=0, money=0.0, mode="ask", most=0)
            return 0.0
        broke = f"what was solved could not be done again with it: {why}"
        await queue_of(self._ctx).replayed(review, mode="ask", most=0, broke=broke, kept=0)
        return 0.0

    async def _drop(self, review: Review, fork: str = "") -> None:
        """Delete the copy of a conversation; its answer is kept by then, or is not wanted."""
        fork = fork or review.fork
        if fork and fork != review.session:
            with contextlib.suppress(HermesError):
                await self._ctx.sessions.delete(review.owner, fork, erased=True)
        await queue_of(self._ctx).forked(review.id, "")
