"""The ledger: what was told in which turn, what became of it, and what that says of the lessons.

It is only added to. What a turn came to is written once, in one commit with what follows for its lessons.
"""

from collections.abc import Collection, Mapping, Sequence

import sqlalchemy as sa
from attrs import asdict, evolve

from hermes_core.database import READ, StoreBroker, TablesTransaction
from hermes_core.types import Principal
from hermes_tool_kit.units import unit
from hermes_tool_lessons.chances import WINDOW, Rates, estimate, mean, verdict
from hermes_tool_lessons.staying import plan_again, rests, retire
from hermes_tool_lessons.tables import (
    events,
    found,
    lessons,
    rates,
    rates_of,
    select_events,
    whose,
    write_event,
)
from hermes_tool_lessons.values import LIVE, REPLAYS, SAYS_NOTHING, Event, Lesson

__all__ = ["Ledger"]

_PROVEN = 0.75  # expected to help this often, a lesson is not blamed where one beside it is not proven


class Ledger:
    """What happened, of everybody."""

    def __init__(self, store: StoreBroker) -> None:
        self.store = store

    @unit()
    def tell(self, tx: TablesTransaction, owner: Principal, session: str, turn: str, told: Sequence[str]) -> None:
        """Write down that a turn is told lessons, before it is."""
        for lesson in told:
            name = f"{turn}/offered/{lesson}"
            if write_event(tx, owner, Event(id=name, kind="offered", session=session, turn=turn, lesson=lesson)):
                values = {"offered": lessons.c.offered + 1, "last": tx.clock()}
                tx.execute(sa.update(lessons).where(lessons.c.id == lesson).values(**values))

    @unit()
    def hold(self, tx: TablesTransaction, owner: Principal, session: str, turn: str, held: Sequence[str]) -> None:
        """Write down that a turn is told none of the lessons on trial that it calls for, to compare, before it is."""
        for lesson in held:
            name = f"{turn}/held/{lesson}"
            write_event(tx, owner, Event(id=name, kind="held", session=session, turn=turn, lesson=lesson))

    @unit(READ)
    def counts(
        self, tx: TablesTransaction, owner: Principal, ids: Collection[str]
    ) -> tuple[Mapping[str, Lesson], Rates]:
        """Return lessons by their ids, as they are now, those that are told; and what is known of their person."""
        wanted = sa.and_(lessons.c.id.in_(list(ids)), lessons.c.state.in_(LIVE))
        return {one.id: one for one in found(tx, wanted)} if ids else {}, rates_of(tx, owner)

    @unit()
    def write(self, tx: TablesTransaction, owner: Principal, *what: Event) -> int:
        """Write down what happened, each once; how many were new."""
        return sum(write_event(tx, owner, one) for one in what)

    @unit(READ)
    def offered(self, tx: TablesTransaction, turn: str) -> Sequence[Lesson]:
        """Return the lessons that a turn was told."""
        rows = select_events(tx, sa.and_(events.c.turn == turn, events.c.kind == "offered"))
        return found(tx, lessons.c.id.in_([one.lesson for one in rows])) if rows else []

    @unit(READ)
    def open_turn(self, tx: TablesTransaction, session: str) -> Event | None:
        """Return the last turn of a session, if nobody knows yet what it came to."""
        rows = select_events(tx, sa.and_(events.c.session == session, events.c.kind == "turn"), 1)
        if not rows or tx.execute(sa.select(events.c.id).where(events.c.id == f"{rows[0].turn}/outcome")):
            return None
        return rows[0]

    @unit(READ)
    def turns(self, tx: TablesTransaction, session: str, limit: int) -> Sequence[Event]:
        """Return the last turns of a session, the newest first."""
        return select_events(tx, sa.and_(events.c.session == session, events.c.kind == "turn"), limit)[::-1]

    @unit(READ)
    def of_turn(self, tx: TablesTransaction, owner: Principal, turn: str) -> Sequence[Event]:
        """Return what happened in a turn of somebody's."""
        return select_events(tx, sa.and_(whose(events, owner), events.c.turn == turn))

    @unit(READ)
    def since(self, tx: TablesTransaction, owner: Principal, at: float, *kinds: str) -> Sequence[Event]:
        """Return what happened to somebody since an instant."""
        kind = events.c.kind.in_(kinds) if kinds else sa.true()
        return select_events(tx, sa.and_(whose(events, owner), kind, events.c.at >= at))

    @unit(READ)
    def of_session(self, tx: TablesTransaction, session: str, at: float) -> Sequence[Event]:
        """Return what happened in a session since an instant."""
        return select_events(tx, sa.and_(events.c.session == session, events.c.at > at))

    @unit(READ)
    def of_review(self, tx: TablesTransaction, review: str) -> Sequence[Event]:
        """Return what the tasks of a replay came to so far."""
        return select_events(tx, sa.and_(events.c.lesson == review, events.c.kind == "replay"))

    @unit(READ)
    def seen_by(self, tx: TablesTransaction, lesson: Lesson) -> tuple[Collection[str], Collection[str]]:
        """Return the turns that were done again with a lesson before, and the sessions that it was told in."""
        replays = sa.and_(events.c.kind == "replay", events.c.lesson.startswith(f"{REPLAYS}{lesson.id}:"))
        told = sa.and_(events.c.kind == "offered", events.c.lesson == lesson.id)
        return {one.turn for one in select_events(tx, replays)}, {one.session for one in select_events(tx, told)}

    @unit(READ)
    def broken(self, tx: TablesTransaction, lesson: Lesson) -> Sequence[Event]:
        """Return the turns that a lesson broke as they were done again with it, as far as they are still there."""
        mine = sa.and_(events.c.kind == "replay", events.c.lesson.startswith(f"{REPLAYS}{lesson.id}:"))
        turns = [one.turn for one in select_events(tx, mine) if one.text not in ("", SAYS_NOTHING)]
        return select_events(tx, sa.and_(events.c.turn.in_(turns), events.c.kind == "turn")) if turns else []

    @unit(READ)
    def solved(self, tx: TablesTransaction, owner: Principal, at: float, limit: int) -> Sequence[Event]:
        """Return the turns of somebody that came to a good end since an instant, oldest first."""
        mine = sa.and_(whose(events, owner), events.c.at >= at)
        good = select_events(tx, sa.and_(mine, events.c.kind == "outcome", events.c.value > 0), limit)
        turns = {one.turn for one in good}
        found: list[Event] = []
        for at_most in range(0, len(turns), 400):
            some = sorted(turns)[at_most : at_most + 400]
            found += select_events(tx, sa.and_(events.c.turn.in_(some), events.c.kind == "turn"))
        return sorted(found, key=lambda one: one.at)

    @unit(READ)
    def about(self, tx: TablesTransaction, lesson: Lesson) -> tuple[Sequence[Event], Sequence[Event]]:
        """Return the events that taught a lesson, and what became of it since."""
        taught = select_events(tx, events.c.id.in_(list(lesson.sources))) if lesson.sources else []
        return taught, select_events(tx, sa.and_(events.c.lesson == lesson.id, events.c.kind == "credit"), 50)

    @unit()
    def settle(
        self, tx: TablesTransaction, owner: Principal, session: str, turn: str, *, good: bool, why: str, mode: str
    ) -> bool:
        """Write down what a turn came to, and what that says of the lessons it followed; False if it stands there."""
        outcome = Event(id=f"{turn}/outcome", kind="outcome", session=session, turn=turn, text=why, value=float(good))
        if not write_event(tx, owner, outcome):
            return False
        rows = select_events(tx, sa.and_(events.c.turn == turn, events.c.kind.in_(("offered", "followed", "held"))))
        self._compare(tx, owner, [one.lesson for one in rows if one.kind == "held"], good=good)
        known = rates_of(tx, owner)
        followed = {one.lesson: one.value > 0 for one in rows if one.kind == "followed"}
        told = [one.lesson for one in rows if one.kind == "offered"]
        there = found(tx, sa.and_(lessons.c.id.in_(told), lessons.c.state.in_(LIVE))) if told else []
        heard = [one for one in there if followed.get(one.id, True)]
        for lesson in _answerable(heard, good=good):
            self._credit(tx, owner, lesson, outcome, known, good=good, mode=mode)
        for lesson in there:
            if lesson not in heard and verdict(lesson, known) == "idle":
                retire(tx, lesson, "it was told and followed in no turn", mode)
        return True

    @unit()
    def estimate(self, tx: TablesTransaction, owner: Principal) -> bool:
        """Estimate anew how much lessons help somebody, where enough happened since the last time; whether it was."""
        mine = sa.and_(whose(lessons, owner), lessons.c.uses > 0)
        ends = int(tx.execute(sa.select(sa.func.sum(lessons.c.uses).label("n")).where(mine))[0]["n"] or 0)
        known = rates_of(tx, owner)
        if ends < known.seen + max(20, known.seen // 20):
            return False
        self._keep(tx, owner, estimate(found(tx, mine), known, ends))
        return True

    def _compare(self, tx: TablesTransaction, owner: Principal, held: Sequence[str], *, good: bool) -> None:
        """Count the end of a turn that was told nothing, for all that it would have been told."""
        if not held:
            return
        values = {"held": lessons.c.held + 1, "held_won": lessons.c.held_won + int(good)}
        tx.execute(sa.update(lessons).where(lessons.c.id.in_(held)).values(**values))
        known = rates_of(tx, owner)
        self._keep(tx, owner, evolve(known, held=known.held + 1, won=known.won + good))

    def _keep(self, tx: TablesTransaction, owner: Principal, known: Rates) -> None:
        tx.execute(sa.delete(rates).where(whose(rates, owner)))
        named = {"id": f"{owner.profile}/{owner.person}", "profile": owner.profile, "person": owner.person}
        tx.execute(sa.insert(rates).values(**named, **asdict(known)))

    def _credit(
        self, tx: TablesTransaction, owner: Principal, lesson: Lesson, outcome: Event, known: Rates, *, good: bool,
        mode: str,
    ) -> None:  # fmt: skip
        name = f"{outcome.turn}/credit/{lesson.id}"
        event = evolve(outcome, id=name, kind="credit", lesson=lesson.id)
        write_event(tx, owner, event)
        recent = f"{lesson.recent}{int(good)}"[-WINDOW:]
        lesson = evolve(lesson, recent=recent, uses=lesson.uses + 1, wins=lesson.wins + good)
        values = {"recent": lesson.recent, "uses": lesson.uses, "wins": lesson.wins}
        tx.execute(sa.update(lessons).where(lessons.c.id == lesson.id).values(**values))
        said = verdict(lesson, known)
        if said == "harms":
            retire(tx, lesson, f"{recent.count('0')} of its last {len(recent)} uses went badly", mode)
        elif said == "helps" and lesson.state == "trial" and mode == "auto" and not rests(tx, lesson):
            plan_again(tx, lesson, f"{recent.count('1')} of its last {len(recent)} uses went well")


def _answerable(heard: Sequence[Lesson], *, good: bool) -> Sequence[Lesson]:
    """Return the lessons that an outcome counts for: where it went badly, the proven are not blamed for the others."""
    if good:
        return heard
    unproven = [one for one in heard if not (one.state == "active" and one.uses > 2 and mean(one.recent) >= _PROVEN)]
    return unproven or heard
