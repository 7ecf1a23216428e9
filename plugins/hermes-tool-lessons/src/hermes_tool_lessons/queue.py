"""The reviews that wait: planned, taken by one process, and what each found, in one commit with its end."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from attrs import fields

from hermes_core.database import READ, StoreBroker, TablesTransaction, made
from hermes_core.types import Principal
from hermes_tool_kit.units import unit
from hermes_tool_lessons.rows import add, after_replay
from hermes_tool_lessons.staying import plan_replay
from hermes_tool_lessons.tables import CHANGED, events, is_frozen, reviews, select_events, whose, write_event
from hermes_tool_lessons.values import REPLAY, Draft, Event, Review, lesson_of

__all__ = ["Queue"]

_MARK = ("holder", "place", "pid", "beat")
_DAY = 86_400.0


class Queue:
    """The reviews of everybody."""

    def __init__(self, store: StoreBroker) -> None:
        self.store = store

    @unit()
    def plan(
        self, tx: TablesTransaction, owner: Principal, session: str, reason: str, wait: float, *, asked: bool = False
    ) -> str:
        """Have a session reviewed after a while; one that waits already waits as long again. Its id."""
        tx.alone(CHANGED)
        due = tx.clock() + wait
        there = tx.execute(sa.select(reviews).where(reviews.c.session == session).order_by(reviews.c.number.desc()))
        if there and there[0]["state"] == "due":
            row = there[0]
            if not row["fork"]:  # else it is under way, and what came since is for the next one
                values: dict[str, Any] = {"due": due, "asked": int(asked or row["asked"])}
                if reason and reason not in row["reason"]:
                    values["reason"] = "; ".join(filter(None, (row["reason"], reason)))[:400]
                tx.execute(sa.update(reviews).where(reviews.c.id == row["id"]).values(**values))
            return str(row["id"])
        if not reason:
            return ""
        number = int(there[0]["number"]) + 1 if there else 1
        values = {"id": f"{session}#{number}", "profile": owner.profile, "person": owner.person, "session": session}
        values |= {"reason": reason[:400], "state": "due", "number": number, "due": due, "asked": int(asked)}
        tx.execute(sa.insert(reviews).values(**values, created=tx.clock()))
        tx.tell(CHANGED)
        return str(values["id"])

    @unit(READ)
    def open(self, tx: TablesTransaction) -> Sequence[Review]:
        """Return the reviews of which something is to be done, the first that is due first."""
        return _reviews(tx, sa.or_(reviews.c.state == "due", reviews.c.fork != ""))

    @unit(READ)
    def get(self, tx: TablesTransaction, review: str) -> Review | None:
        """Return one by its id."""
        return next(iter(_reviews(tx, reviews.c.id == review)), None)

    @unit(READ)
    def list(self, tx: TablesTransaction, owner: Principal) -> Sequence[Review]:
        """Return those of somebody."""
        return _reviews(tx, whose(reviews, owner))

    @unit(READ)
    def last(self, tx: TablesTransaction, session: str) -> float:
        """Return when a session was reviewed last; 0 where it never was."""
        wanted = sa.select(sa.func.max(reviews.c.ended).label("at")).where(reviews.c.session == session)
        return float(tx.execute(wanted)[0]["at"] or 0.0)

    @unit(READ)
    def now(self, tx: TablesTransaction) -> float:
        """Return the time that all go by."""
        return tx.clock()

    @unit(READ)
    def used(self, tx: TablesTransaction, owner: Principal) -> tuple[int, float, float]:
        """Return the reviews of somebody's last day, and the tokens that reviews and turns used in their last week."""
        now = tx.clock()
        mine = whose(reviews, owner)
        day = (
            sa.select(sa.func.count().label("n"))
            .select_from(reviews)
            .where(mine, reviews.c.session != "", reviews.c.ended > now - _DAY)
        )
        week = sa.select(sa.func.sum(reviews.c.tokens).label("n")).where(mine, reviews.c.ended > now - 7 * _DAY)
        turns = sa.select(sa.func.sum(events.c.value).label("n")).where(
            whose(events, owner), events.c.kind == "turn", events.c.at > now - 7 * _DAY
        )
        return tuple(tx.execute(one)[0]["n"] or 0 for one in (day, week, turns))  # type: ignore[return-value]

    @unit()
    def claim(self, tx: TablesTransaction, review: str, holder: str) -> bool:
        """Let a holder look at a review alone, or go on to; False while another one lives."""
        tx.alone("reviews")
        rows = tx.execute(sa.select(*(reviews.c[name] for name in _MARK)).where(reviews.c.id == review))
        if not rows or (rows[0]["holder"] not in ("", holder) and tx.lives(rows[0])):
            return False
        tx.execute(sa.update(reviews).where(reviews.c.id == review).values(holder=holder, **tx.mark()))
        return True

    @unit()
    def leave(self, tx: TablesTransaction, review: str, holder: str, wait: float = 0.0) -> None:
        """Look at it no longer, or not for a while."""
        values = {"holder": "", **({"due": tx.clock() + wait} if wait else {})}
        tx.execute(sa.update(reviews).where(reviews.c.id == review, reviews.c.holder == holder).values(**values))

    @unit()
    def forked(self, tx: TablesTransaction, review: str, fork: str) -> None:
        """Write down in which hidden session a review is, or that this is gone."""
        tx.execute(sa.update(reviews).where(reviews.c.id == review).values(fork=fork))

    @unit()
    def ended(
        self, tx: TablesTransaction, review: Review, drafts: Sequence[Draft], *, why: str, tokens: int, money: float,
        mode: str, most: int,
    ) -> int | None:  # fmt: skip
        """Close a review with what it found, in one commit; how many lessons are new. None where it is closed."""
        closed = {"state": "failed" if why else "done", "why": why[:400], "tokens": tokens, "money": money}
        wanted = sa.and_(reviews.c.id == review.id, reviews.c.state == "due")
        if not tx.execute(sa.update(reviews).where(wanted).values(**closed, ended=tx.clock())).changed:
            return None
        new = 0
        for number, draft in enumerate([] if is_frozen(tx, review.owner) else drafts):
            lesson, refused = add(tx, review.owner, draft, mode=mode, most=most, author="review", replays=True)
            new += lesson is not None
            if lesson and lesson.asks == REPLAY:
                plan_replay(tx, lesson)
            event = Event(
                id=f"{review.id}/{number}", kind="learned" if lesson else "refused", session=review.session,
                lesson=lesson.id if lesson else "", text=lesson.why if lesson else refused,
            )  # fmt: skip
            write_event(tx, review.owner, event)
        tx.execute(sa.update(reviews).where(reviews.c.id == review.id).values(found=new))
        return new

    @unit()
    def plan_weeks(
        self, tx: TablesTransaction, owner: Principal, names: Sequence[str], *, asked: bool
    ) -> Sequence[str]:
        """Have summaries of weeks made, those that were not yet, nor taken back; the names of those that wait."""
        tx.alone(CHANGED)
        rows = tx.execute(sa.select(reviews.c.id, reviews.c.state).where(reviews.c.id.in_(names))) if names else ()
        there = {row["id"]: row["state"] for row in rows}
        for name in names:
            if name not in there:
                values = {"id": name, "profile": owner.profile, "person": owner.person, "asked": int(asked)}
                values |= {"reason": "its week is over", "state": "due", "number": 1}
                tx.execute(sa.insert(reviews).values(**values, due=tx.clock(), created=tx.clock()))
        return [name for name in names if there.get(name, "due") == "due"]

    @unit()
    def week_made(
        self, tx: TablesTransaction, review: Review, session: str, sources: Sequence[str], *, tokens: int, money: float
    ) -> None:
        """Close a week with its summary and what it was made of, in one commit."""
        closed = {"state": "done", "why": "", "tokens": tokens, "money": money, "ended": tx.clock()}
        wanted = sa.and_(reviews.c.id == review.id, reviews.c.state == "due", reviews.c.number == review.number)
        if tx.execute(sa.update(reviews).where(wanted).values(**closed, found=int(bool(session)))).changed and session:
            for one in sources:
                event = Event(id=f"{session}/{one}", kind="week", session=one, turn=session, lesson=review.id)
                write_event(tx, review.owner, event)

    @unit(READ)
    def weeks_of(self, tx: TablesTransaction, session: str) -> Sequence[tuple[str, str]]:
        """Return the weeks that a session is a source of, by their rows and the sessions that they became."""
        rows = select_events(tx, sa.and_(events.c.session == session, events.c.kind == "week"))
        return [(one.lesson, one.turn) for one in rows]

    @unit()
    def week_again(self, tx: TablesTransaction, review: str, session: str) -> None:
        """Have a week made anew; ``session``, which it became before, is deleted by then."""
        values = {"state": "due", "why": session, "due": tx.clock(), "number": reviews.c.number + 1}
        tx.execute(sa.update(reviews).where(reviews.c.id == review).values(**values))
        tx.execute(sa.delete(events).where(events.c.turn == session, events.c.kind == "week"))

    @unit()
    def billed(self, tx: TablesTransaction, review: Review, money: float) -> None:
        """Add what a part of a replay cost, in US dollars: it may go on later, and in another process."""
        more = {"money": reviews.c.money + money}
        tx.execute(sa.update(reviews).where(reviews.c.id == review.id).values(**more))

    @unit()
    def replayed(
        self, tx: TablesTransaction, review: Review, *, mode: str, most: int, broke: str, kept: int, tokens: int = 0
    ) -> None:
        """Close a replay with what follows for its lesson, in one commit."""
        closed = {"state": "done", "why": broke[:400], "tokens": tokens, "ended": tx.clock()}
        wanted = sa.and_(reviews.c.id == review.id, reviews.c.state == "due")
        if tx.execute(sa.update(reviews).where(wanted).values(**closed)).changed:
            after_replay(tx, lesson_of(review), mode=mode, most=most, broke=broke, kept=kept)


def _reviews(tx: TablesTransaction, where: sa.ColumnElement[bool]) -> list[Review]:
    own = [reviews.c[field.name] for field in fields(Review)]
    rows = tx.execute(sa.select(*own).where(where).order_by(reviews.c.due, reviews.c.id))
    return [made(Review, row, asked=bool(row["asked"])) for row in map(dict, rows)]
