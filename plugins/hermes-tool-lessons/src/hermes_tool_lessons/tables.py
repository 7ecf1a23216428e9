"""The tables, and what every unit of work over them shares: whose a row is, and how a change becomes a version."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from attrs import evolve, fields

from hermes_core.codec import clean
from hermes_core.database import TablesTransaction
from hermes_core.types import Principal
from hermes_tool_lessons.chances import Rates
from hermes_tool_lessons.matching import alike, words_of
from hermes_tool_lessons.values import REPLAYS, Event, Lesson, Review, Version

__all__ = [
    "CHANGED", "alike_to", "content_of", "events", "found", "frozen", "is_frozen", "lessons", "next_rev", "rates",
    "rates_of", "remove", "reviews", "save", "select_events", "versions", "whose", "write_event",
]  # fmt: skip

CHANGED = "lessons"  # what is told when a lesson changed, and the name under which changes come one after the other
_CONTENT = ("trigger", "text", "state", "scope", "place", "replaces", "asks", "tainted", "pinned")
_TEXT = 4000  # characters that are kept of an event


def _table(name: str, *columns: str) -> sa.Table:
    return sa.Table(f"tool_lessons__{name}", sa.MetaData(), *(sa.Column(column) for column in columns))


_OWN = tuple(field.name for field in fields(Lesson))
_REVIEW = tuple(field.name for field in fields(Review))
lessons = _table("lessons", *_OWN)
versions = _table("versions", "id", "profile", "person", *(field.name for field in fields(Version)))
events = _table("events", "profile", "person", *(field.name for field in fields(Event)))
reviews = _table("reviews", *_REVIEW, "holder", "place", "pid", "beat")
frozen = _table("frozen", "id", "profile", "person", "at")
rates = _table("rates", "id", "profile", "person", *(field.name for field in fields(Rates)))


def whose(table: sa.Table, owner: Principal) -> sa.ColumnElement[bool]:
    """Return what picks the rows of somebody."""
    return sa.and_(table.c.profile == clean(owner.profile), table.c.person == clean(owner.person))


def found(tx: TablesTransaction, where: sa.ColumnElement[bool], limit: int | None = None) -> list[Lesson]:
    """Return lessons, the newest first."""
    wanted = sa.select(lessons).where(where).order_by(lessons.c.created.desc(), lessons.c.rev.desc())
    return [_lesson(row) for row in tx.execute(wanted.limit(limit) if limit is not None else wanted)]


def alike_to(tx: TablesTransaction, owner: Principal, trigger: str, *states: str) -> list[Lesson]:
    """Return the lessons of somebody that are called for by the same messages as this trigger, the oldest first."""
    words = words_of(trigger)
    mine = sa.and_(whose(lessons, owner), lessons.c.state.in_(states))
    rows = tx.execute(sa.select(lessons.c.id, lessons.c.trigger).where(mine))
    ids = [row["id"] for row in rows if alike(words, words_of(row["trigger"]))]
    return found(tx, lessons.c.id.in_(ids[:400]))[::-1] if ids else []


def next_rev(tx: TablesTransaction) -> int:
    """Return the number of the next change of any lesson. No other transaction changes one until the commit."""
    tx.alone(CHANGED)
    return int(tx.execute(sa.select(sa.func.max(versions.c.rev).label("rev")))[0]["rev"] or 0) + 1


def save(tx: TablesTransaction, lesson: Lesson, why: str, author: str) -> Lesson:
    """Write a lesson as it is from now on, and the version that it is with that: one never without the other."""
    rev, now = next_rev(tx), tx.clock()
    there = tx.execute(sa.select(sa.func.max(versions.c.number).label("number")).where(versions.c.lesson == lesson.id))[
        0
    ]["number"]
    number = int(there or 0) + 1
    kept = evolve(lesson, version=number, rev=rev, why=why, changed=now, created=lesson.created or now)
    row = _row(kept)
    if there:
        tx.execute(sa.update(lessons).where(lessons.c.id == kept.id).values(**row))
    else:
        tx.execute(sa.insert(lessons).values(**row))
    version = {"id": f"{kept.id}/{number}", "lesson": kept.id, "number": number, "rev": rev, "at": now, "why": why}
    owner = {"profile": row["profile"], "person": row["person"]}
    tx.execute(sa.insert(versions).values(**version, **owner, content=content_of(kept), author=author))
    tx.tell(CHANGED)
    return kept


def content_of(lesson: Lesson) -> str:
    """Return what a version keeps of a lesson: equal for equal ones, byte for byte."""
    values = {name: getattr(lesson, name) for name in _CONTENT}
    return clean(json.dumps(values, ensure_ascii=False, sort_keys=True))


def remove(tx: TablesTransaction, ids: Sequence[str]) -> None:
    """Take lessons away with all that they ever were."""
    for at in range(0, len(ids), 400):
        some = ids[at : at + 400]
        tx.execute(sa.delete(versions).where(versions.c.lesson.in_(some)))
        tx.execute(sa.delete(events).where(events.c.lesson.in_(some)))
        tx.execute(sa.delete(lessons).where(lessons.c.id.in_(some)))
    for one in ids:  # else one of the same words could not be tried on old tasks again
        tx.execute(sa.delete(events).where(events.c.lesson.startswith(f"{REPLAYS}{one}:")))
        tx.execute(sa.delete(reviews).where(reviews.c.id.startswith(f"{REPLAYS}{one}:")))
    tx.tell(CHANGED)


def write_event(tx: TablesTransaction, owner: Principal, event: Event) -> bool:
    """Write down what happened, once for its id; False where it stands there already."""
    if tx.execute(sa.select(events.c.id).where(events.c.id == event.id)):
        return False
    values = {field.name: getattr(event, field.name) for field in fields(Event)}
    values |= {"text": clean(event.text)[:_TEXT], "at": event.at or tx.clock()}
    tx.execute(sa.insert(events).values(**values, profile=clean(owner.profile), person=clean(owner.person)))
    return True


def select_events(tx: TablesTransaction, where: sa.ColumnElement[bool], limit: int = 100_000) -> list[Event]:
    """Return events, the oldest first; of more than ``limit`` the newest."""
    names = [field.name for field in fields(Event)]
    wanted = sa.select(*(events.c[name] for name in names)).where(where).order_by(events.c.at.desc(), events.c.id)
    return [Event(**row) for row in tx.execute(wanted.limit(limit))][::-1]


def rates_of(tx: TablesTransaction, owner: Principal) -> Rates:
    """Return what is known of somebody's turns; what is assumed of everybody's, where that is nothing."""
    rows = tx.execute(sa.select(*(rates.c[field.name] for field in fields(Rates))).where(whose(rates, owner)))
    return Rates(**rows[0]) if rows else Rates()


def is_frozen(tx: TablesTransaction, owner: Principal) -> bool:
    """Tell whether somebody wants nothing to change by itself."""
    return bool(tx.execute(sa.select(frozen.c.id).where(frozen.c.id == f"{owner.profile}/{owner.person}")))


def _lesson(row: Mapping[str, Any]) -> Lesson:
    sources = tuple(json.loads(row["sources"] or "[]"))
    return Lesson(**{**row, "sources": sources, "tainted": bool(row["tainted"]), "pinned": bool(row["pinned"])})


def _row(lesson: Lesson) -> dict[str, Any]:
    values = {name: getattr(lesson, name) for name in _OWN}
    values |= {"sources": json.dumps(list(lesson.sources), ensure_ascii=False)}
    values |= {"tainted": int(lesson.tainted), "pinned": int(lesson.pinned)}
    return {name: clean(value) if isinstance(value, str) else value for name, value in values.items()}
