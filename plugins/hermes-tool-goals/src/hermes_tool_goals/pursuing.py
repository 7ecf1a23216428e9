"""Pursues goals: orders their turns, looks at what came of each, and decides how they go on.

Every step is a row before it is done, and a step that is done again does nothing: turns are ordered under the name of
their round, checks under that of their round and number, and what a round came to is stored with what follows, in one
commit. So whoever comes after a death goes on where the rows say, in whatever process.
"""

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, StoreError
from hermes_core.types import Effect, Message, PastTurn, Session, Speaker, Text, TurnBounds, TurnOrder
from hermes_tool_goals.clearing import clear
from hermes_tool_goals.deciding import decide, proof_of
from hermes_tool_goals.judge import TASK, Opinion, opinion_of, request_for
from hermes_tool_goals.looking import acts_of, files_of, found, is_outside, owner_of, take_back
from hermes_tool_goals.playing import REPORT, report_of
from hermes_tool_goals.shared import config_of, goals_of, known_of
from hermes_tool_goals.values import QUOTED, Goal, Round, round_event
from hermes_tool_goals.words import continuation, report

__all__ = ["Pursuer"]

_LOOK, _BEAT = 1.0, 10.0  # seconds between looks at a goal that waits, and between signs of life
_OPEN = ("waiting", "open", "cut")


class Pursuer:
    """Pursues goals in one process. Several processes may: the rows say who looks at a round."""

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx, self._holder = ctx, os.urandom(8).hex()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._woken: dict[str, asyncio.Event] = {}
        self._alone: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def look(self, session: Session) -> None:
        """Pursue the goal of a session from now on, if it has one that is active."""
        goal = await goals_of(self._ctx).live(session.id)
        if goal is None or goal.state != "active":
            known_of(self._ctx).pop(session.id, None)
        if goal is not None:
            self.wake(goal)

    def wake(self, goal: Goal) -> None:
        """Look at a goal now, and go on until nothing of it is to be done."""
        if goal.state == "active":
            known_of(self._ctx)[goal.session] = goal
        if goal.id in self._tasks:
            self._woken[goal.id].set()
        elif goal.state == "active" or goal.owed:
            self._woken[goal.id] = asyncio.Event()
            task = self._tasks[goal.id] = asyncio.create_task(self._pursue(goal.id), name=f"goal {goal.id}")
            task.add_done_callback(partial(self._over, goal))

    def _over(self, goal: Goal, task: "asyncio.Task[None]") -> None:
        self._tasks.pop(goal.id, None)
        self._woken.pop(goal.id, None)
        if not task.cancelled() and (error := task.exception()):
            self._ctx.log.error("the goal %s is not looked at any more", goal.id, exc_info=error)

    async def stop(self, session: str = "") -> None:
        """Pursue the goal of a session here no longer, or any: whoever comes next goes on."""
        known = known_of(self._ctx)
        mine = [known[session].id] if session in known else [] if session else list(self._tasks)
        tasks = [self._tasks[one] for one in mine if one in self._tasks]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        known.pop(session, None)

    async def _pursue(self, goal: str) -> None:
        while True:
            self._woken[goal].clear()
            try:
                wait = await self.step(goal)
            except StoreError as error:  # it stands as it did, and is looked at again
                self._ctx.log.warning("the goal %s waits: %s", goal, error.text)
                wait = _LOOK
            if wait is None:
                return
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(max(0.02, wait)):
                    await self._woken[goal].wait()

    async def step(self, name: str) -> float | None:
        """Take a goal as far as it goes now; the seconds until there may be more to do, None where there is none."""
        alone = self._alone.setdefault(name, asyncio.Lock())
        async with alone:
            return await self._step(name)

    async def _step(self, name: str) -> float | None:
        rows = goals_of(self._ctx)
        while True:
            goal = await rows.get(name)
            if goal is None:
                return None
            self._remember(goal)
            if goal.owed:
                await self._tell(goal)
                continue
            if goal.state != "active":  # it may have been ordered while somebody let it rest
                await take_back(self._ctx, goal)
                return None
            try:
                wait = await self._advance(goal)
            except StoreError:
                raise
            except HermesError as error:
                await self._pause(goal, error.text)
                continue
            if wait:
                return wait

    def _remember(self, goal: Goal) -> None:
        known = known_of(self._ctx)
        if goal.state == "active":
            known[goal.session] = goal
        elif goal.session in known and known[goal.session].id == goal.id:
            del known[goal.session]

    async def _advance(self, goal: Goal) -> float:
        """Do what comes next; how long to wait, 0 where more can be done at once. Raises HermesError."""
        rows, owner = goals_of(self._ctx), owner_of(goal)
        past = await self._ctx.turns.past(round_event(goal.id, goal.round), owner=owner)
        if goal.phase == "turn":
            if past is None:
                if (left := goal.at - await rows.now()) > 0:
                    return min(left, _LOOK)
                if await self._is_free(goal):
                    await self._order(goal)
                return _LOOK
            if past.state in _OPEN:
                if past.state == "waiting":
                    await self._yield(goal)
                return _LOOK
            await rows.ended(goal, past)
            return 0.0
        if past is None:
            await self._pause(goal, "what its last turn said was taken away")
            return 0.0
        if not await rows.claim(goal.id, self._holder):
            return _LOOK
        beating = asyncio.create_task(self._beat(goal))
        try:
            now = await rows.get(goal.id)
            if now and (now.phase, now.round, now.state) == (goal.phase, goal.round, goal.state):
                await self._judge(now, past)
        finally:
            beating.cancel()
            await rows.leave(goal.id, self._holder)
        return 0.0

    async def _beat(self, goal: Goal) -> None:
        with contextlib.suppress(HermesError):
            while True:
                await asyncio.sleep(_BEAT)
                await goals_of(self._ctx).claim(goal.id, self._holder)

    async def _is_free(self, goal: Goal) -> bool:
        """Tell whether nothing runs or waits in its session: what a person says comes first."""
        owner = owner_of(goal)
        rights = await self._ctx.host.rights(owner, _speaker(goal))
        if rights.refused or rights.silent:
            await self._pause(goal, rights.refused or "its person may do nothing here by now")
            return False
        with contextlib.suppress(HermesError):  # nothing was said in it yet
            if await self._ctx.turns.busy(goal.session, owner=owner):
                return False
            return not await self._waits(goal)
        return True

    async def _yield(self, goal: Goal) -> None:
        """Take a turn back that waits before what a person said since; it is ordered again after that."""
        waiting = await self._ctx.host.turns.waiting(goal.session)
        if any(one.envelope and "/" not in one.envelope.platform for one in waiting):
            with contextlib.suppress(HermesError):  # it has begun by now
                await self._ctx.turns.forget(round_event(goal.id, goal.round), owner=owner_of(goal))

    async def _waits(self, goal: Goal) -> bool:
        """Tell whether anything waits in its session."""
        return bool(await self._ctx.host.turns.waiting(goal.session))

    async def _order(self, goal: Goal) -> None:
        """Order the turn of the round that is planned, once."""
        planned = await goals_of(self._ctx).round(goal.id, goal.round)
        said = planned.said if planned else continuation(goal, None)
        own = (Text(text=goal.text),) if goal.round == 1 else ()
        parts = (*own, Text(text=said, quotes=QUOTED))
        message = Message(role="user", parts=parts, untrusted=bool(planned and planned.outside))
        chat = await self._chat(goal)
        order = TurnOrder(
            session=goal.session,
            event=round_event(goal.id, goal.round),
            speaker=_speaker(goal),
            bounds=_bounds(goal),
            deliver=chat,
            ask=chat,
        )
        await self._ctx.turns.queue(message, owner=owner_of(goal), order=order)

    async def _chat(self, goal: Goal) -> str:
        """Return the chat that it was set in, where its session has none of its own yet: nothing was said in it."""
        if not goal.chat:
            return ""
        with contextlib.suppress(HermesError):
            session = await self._ctx.sessions.get(owner_of(goal), goal.session)
            if await self._ctx.messages.find(owner_of(goal), "origin", session):
                return ""
        with contextlib.suppress(HermesError):
            if await self._ctx.messages.find(owner_of(goal), goal.chat):
                return goal.chat
        return ""

    async def _judge(self, goal: Goal, past: PastTurn) -> None:
        """Look at what a turn came to, and store what follows."""
        rows, config = goals_of(self._ctx), config_of(self._ctx)
        done = await rows.round(goal.id, goal.round)
        if done is None:
            await self._pause(goal, "its last round is gone")
            return
        if past.state == "done":
            there = {(one.number, one.what) for one in done.evidence}
            for number, check in enumerate(goal.checks):
                if check.kind != "ask" and (number, check.what) not in there:
                    await rows.found(goal, await found(self._ctx, goal, number, check))
            done = await rows.round(goal.id, goal.round) or done
        own = set(enumerate((one.kind, one.what) for one in goal.checks))  # the contract may be another since
        done = evolve(done, evidence=[one for one in done.evidence if (one.number, (one.kind, one.what)) in own])
        rounds, begun = await rows.rounds(goal.id, 2 * config.stuck), goal.round - goal.used_turns
        before = [one for one in rounds if begun < one.number < goal.round]  # since it was set, or resumed
        lines, acts = await acts_of(self._ctx, goal, past.turn_id)
        done = evolve(done, proof=proof_of(done.evidence), acts=acts, files=await files_of(self._ctx, goal))
        opinion, cost = None, 0.0
        if past.state == "done" and goal.asks and all(one.passed for one in done.evidence):
            opinion, cost = await self._opinion(goal, past, lines, done)
        resumed = past.state == "interrupted" and 0 < past.ended <= goal.at
        goes_on = resumed or (past.state == "interrupted" and bool(await self._waits(goal)))
        goal_now = evolve(goal, used_money=goal.used_money + cost)
        after, closed = decide(
            goal_now, evolve(done, money=done.money + cost), before, opinion,
            state=past.state, error=past.error, now=await rows.now(), most=config.stuck,
            goes_on=goes_on,
        )  # fmt: skip
        outside = any(one.outside for one in done.evidence) or await is_outside(self._ctx, owner_of(goal), goal.session)
        said = self._ctx.masks.text(continuation(after, closed))
        await rows.judged(goal, after, closed, said, outside)
        await clear(self._ctx, goal.id)

    async def _opinion(self, goal: Goal, past: PastTurn, acts: Any, done: Round) -> tuple[Opinion | None, float]:
        """Ask the judge; what it said, if it can be used, and what that cost."""
        request, mark = request_for(goal, past.answer, acts, done.evidence)
        session = None
        with contextlib.suppress(HermesError):
            session = await self._ctx.sessions.get(owner_of(goal), goal.session)
        try:
            response = await self._ctx.llm.complete(request, TASK, session)
        except StoreError:
            raise
        except HermesError as error:
            self._ctx.log.warning("the judge of the goal %s gave no answer: %s", goal.id, error.text)
            return None, 0.0
        return opinion_of(response, mark), response.usage.cost

    async def _pause(self, goal: Goal, why: str) -> None:
        number = goal.reports + 1
        states = {"state": "paused", "why": self._ctx.masks.text(why), "owed": number, "reports": number}
        await goals_of(self._ctx).change(goal.id, ("active",), **states)

    async def _tell(self, goal: Goal) -> None:
        """Tell the person how it stands: as an answer in its session, ordered once, or else by a message."""
        rows, owner = goals_of(self._ctx), owner_of(goal)
        rounds = await rows.rounds(goal.id, 3)
        text = self._ctx.masks.text(report(goal, rounds, self._ctx.program))
        outside = any(proof.outside for one in rounds for proof in one.evidence)
        event = f"{goal.id}/report/{goal.owed}"
        rights = await self._ctx.host.rights(owner, _speaker(goal))
        tell: Callable[[], Awaitable[Any]]
        if rights.models is None:
            await rows.change(goal.id, (goal.state,), report=text)
            said = Message(role="user", parts=(Text(text=report_of(goal), quotes=QUOTED),), untrusted=outside)
            order = TurnOrder(session=goal.session, event=event, model=REPORT, speaker=_speaker(goal),
                              deliver=await self._chat(goal))  # fmt: skip
            tell = partial(self._ctx.turns.queue, said, owner=owner, order=order)
        else:
            answer = Message(role="assistant", parts=(Text(text=text),), untrusted=outside)
            tell = partial(self._send, goal, answer, event)
        try:
            await tell()
        except StoreError:
            raise
        except HermesError as error:  # it stands in `goal show`
            self._ctx.log.warning("nobody could be told of the goal %s: %s", goal.id, error.text)
        await rows.told(goal)

    async def _send(self, goal: Goal, answer: Message, key: str) -> None:
        session = await self._ctx.sessions.get(owner_of(goal), goal.session)
        await self._ctx.messages.send(owner_of(goal), "origin", answer, session, key=f"goals:{key}")


def _speaker(goal: Goal) -> Speaker | None:
    return Speaker(**goal.speaker) if goal.speaker else None


def _bounds(goal: Goal) -> TurnBounds | None:
    """Return what a turn of it may do: what its person could when they set it, and of the budget what is left."""
    own = TurnBounds()
    if goal.bounds:
        own = TurnBounds(**{**goal.bounds, "never": tuple(Effect(one) for one in goal.bounds.get("never", ()))})
    if goal.money:
        left = max(1e-9, goal.money - goal.used_money)
        own = evolve(own, money=min(own.money or left, left))
    if goal.seconds:
        left = max(0.001, goal.seconds - goal.used_seconds)
        own = evolve(own, seconds=min(own.seconds or left, left))
    return own if own != TurnBounds() else None
