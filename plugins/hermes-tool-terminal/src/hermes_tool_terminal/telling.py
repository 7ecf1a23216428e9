"""Begins a turn by itself: a process has ended, or said what it is watched for, while its conversation rests.

What is told is written down as a plan, ordered under the plan's own name, and crossed out. A death between any two of
these tells it once: a plan that is found is ordered again, and what was ordered under a name is not ordered twice.
"""

import asyncio
import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import asdict, evolve

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, StoreError
from hermes_core.types import JSON, Effect, Message, Session, Speaker, Text, TurnBounds, TurnOrder
from hermes_core.values import frozen
from hermes_tool_terminal.config import Config
from hermes_tool_terminal.notices import HEAD, QUOTED, TAIL, end_line, left_line
from hermes_tool_terminal.processes import DIED, Processes, Running, table_of
from hermes_tool_terminal.records import LEFT, Record, keep, load, plan_of

__all__ = ["Telling", "bounds_as_json", "speaker_as_json", "telling_of"]

_NAME = "turns"  # the document of a session: the plan, and when its processes began turns
_GATHER, _LOOK = 1.5, 1.0  # seconds in which others may end too, and between looks at whether the conversation rests
_HOUR = 3600.0
_LAST = 2_000  # characters of output that are told
_ASKS = (
    "(No person wrote this: you are told since it runs for you. Go on with what it was for, or say what came of it.)"
)
_FULL = "(Its processes have begun {most} turns within an hour now. What comes is told with the next turn instead.)"


@frozen(kw_only=True)
class _Piece:
    """What is told of one process; ``ended`` with its end."""

    record: Record
    lines: Sequence[str]
    outside: bool
    ended: bool

    @property
    def place(self) -> tuple[str, str]:
        """Who may do what in its turn: pieces of one turn have this alike."""
        return repr(self.record.speaker), repr(self.record.bounds)


class Telling:
    """The turns that processes of this Hermes begin."""

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx = ctx
        self._tasks: dict[str, asyncio.Task[None]] = {}

    @property
    def most(self) -> int:
        """How many turns within an hour."""
        config = self._ctx.config or Config()
        return int(config.turns_per_hour)

    def soon(self, session: Session) -> None:
        """Tell what there is to tell in a session as soon as it rests. Nobody waits for a turn in a hidden one."""
        if session.id not in self._tasks and not session.parent:
            self._tasks[session.id] = asyncio.ensure_future(self._tell(session))

    async def stop(self, session_id: str) -> None:
        """Begin none any more: the session rests, or Hermes ends."""
        task = self._tasks.pop(session_id, None)
        if task and task is not asyncio.current_task():
            task.cancel()
            await asyncio.wait([task])

    async def _tell(self, session: Session) -> None:
        try:
            await self._carry_out(session, await self._kept(session))
            await asyncio.sleep(_GATHER)
            while await self._due(session):
                while await self._ctx.turns.busy(session.id, owner=session.owner):  # noqa: ASYNC110 - no event tells
                    await asyncio.sleep(_LOOK)
                if not await self._begin(session):
                    return
        except HermesError as error:  # the next turn is told
            self._ctx.log.info("no turn tells of the processes of %s: %s", session.id, error)
        finally:  # at once: what comes from now on needs another
            if self._tasks.get(session.id) is asyncio.current_task():
                del self._tasks[session.id]

    async def _begin(self, session: Session) -> bool:
        """Begin one turn for all that may share one; False when there is nothing, or none may be begun."""
        kept = await self._kept(session)
        since = [at for at in kept.get("begun", ()) if at > time.time() - _HOUR]
        due = await self._due(session)
        if not due or len(since) >= self.most:
            return False
        pieces = [one for one in due if one.place == due[0].place]
        text = "\n".join([HEAD, *(line for one in pieces for line in one.lines), TAIL, _ASKS])
        if len(since) + 1 == self.most:
            text += "\n" + _FULL.format(most=self.most)
        first = pieces[0].record
        plan: dict[str, JSON] = {
            "event": os.urandom(8).hex(),
            "text": self._ctx.masks.text(text),
            "outside": any(one.outside for one in pieces),
            "ids": [one.record.id for one in pieces if one.ended],
            "speaker": first.speaker,
            "bounds": first.bounds,
        }
        self._take(session, pieces)
        written: dict[str, JSON] = {"session": session.id, "plan": plan, "begun": [*since, time.time()]}
        await self._ctx.documents.put(_NAME, written, owner=session.owner, session_id=session.id)
        await self._carry_out(session, written)
        return True

    def _take(self, session: Session, pieces: Sequence[_Piece]) -> None:
        """Let no request that leaves meanwhile tell the same."""
        if there := table_of(self._ctx).sessions.get(session.id):
            for piece in pieces:
                if one := there.known.get(piece.record.id):
                    one.planned, one.news = one.planned or piece.ended, []

    async def _carry_out(self, session: Session, kept: Mapping[str, Any]) -> None:
        """Order what is planned, and cross it out. What was ordered before a death is not ordered again."""
        if not (plan := kept.get("plan")):
            return
        said = Text(text=plan["text"], quotes=QUOTED)
        order = TurnOrder(
            session=session.id,
            event=plan["event"],
            speaker=Speaker(**plan["speaker"]) if plan["speaker"] else None,
            bounds=_bounds(plan["bounds"]),
        )
        message = Message(role="user", parts=(said,), untrusted=plan["outside"])
        try:
            await self._ctx.turns.queue(message, owner=session.owner, order=order)
        except StoreError:
            raise  # it may have been written down, and is ordered again
        except HermesError as error:
            self._ctx.log.info("a turn that tells of processes was not taken: %s", error)
        await self._mark(session, plan["ids"])
        written = {"session": session.id, "begun": kept.get("begun", [])}
        await self._ctx.documents.put(_NAME, written, owner=session.owner, session_id=session.id)

    async def _mark(self, session: Session, ids: Sequence[str]) -> None:
        """Write down that a model is told of them."""
        there = table_of(self._ctx).sessions.get(session.id)
        records = {name: one.record for name, one in there.known.items()} if there else await load(self._ctx, session)
        for record in [records[name] for name in ids if name in records]:
            after = evolve(_over(record), told=True) if not _lives_on(record) else evolve(record, lost=True)
            await keep(self._ctx, session, after)
            if there:
                there.known[record.id].record = after
        left = self._ctx.state.get(LEFT, {})
        if session.id in left:
            left[session.id] = [one for one in left[session.id] if one.id not in ids]

    async def _due(self, session: Session) -> list[_Piece]:
        """What there is to tell, of each process."""
        if there := table_of(self._ctx).sessions.get(session.id):
            return [piece for one in there.known.values() if (piece := _piece(there, one))]
        holder, found = table_of(self._ctx).holder, []
        for record in (await load(self._ctx, session)).values():
            if record.told or record.lost or not record.begins or (record.state == "running" and holder.lives(record)):
                continue
            line = left_line(record) if _lives_on(record) else end_line(_over(record))
            found.append(_Piece(record=record, lines=[line], outside=record.outside, ended=True))
        return found

    async def _kept(self, session: Session) -> Mapping[str, Any]:
        return await plan_of(self._ctx, session)


def _piece(there: Processes, one: Running) -> _Piece | None:
    """What is to be told of one that this Hermes keeps."""
    record = one.record
    ended = one.ended and record.begins and not record.told and not one.planned
    lines = [f"- {record.id} said: {news}" for news in one.news]
    outside = record.outside or (there.outside and bool(lines))
    if ended:
        text = (one.output.screen() if record.tty else one.output.last(_LAST)).rstrip()[-_LAST:]
        lines += [end_line(record), *(f"  | {line}" for line in text.split("\n") if text)]
        outside = outside or (bool(text) and (there.outside or one.handle is None))
    return _Piece(record=record, lines=lines, outside=outside, ended=ended) if lines else None


def _lives_on(record: Record) -> bool:
    """Whether it may run although its Hermes has died."""
    return record.state == "running" and record.outlives


def _over(record: Record) -> Record:
    """As it is where nobody keeps it: what has no end of its own died with its Hermes."""
    return record if record.state == "ended" else evolve(record, state="ended", how=DIED)


def speaker_as_json(session: Session) -> dict[str, JSON] | None:
    """Return whose words the turn answers, as it is kept."""
    return asdict(session.speaker) if session.speaker else None


def bounds_as_json(session: Session) -> dict[str, JSON] | None:
    """Return what the turn may do at most, as it is kept: what it was granted is for that turn alone."""
    if session.bounds is None:
        return None
    bounds = {**asdict(evolve(session.bounds, grants=())), "never": [one.value for one in session.bounds.never]}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in bounds.items()}


def _bounds(kept: Mapping[str, Any] | None) -> TurnBounds | None:
    if kept is None:
        return None
    return TurnBounds(**{**kept, "never": tuple(Effect(one) for one in kept["never"])})


def telling_of(ctx: PluginContext) -> Telling:
    """The one of a kernel."""
    telling = ctx.state.get("telling")
    if not isinstance(telling, Telling):
        telling = ctx.state["telling"] = Telling(ctx)
    return telling
