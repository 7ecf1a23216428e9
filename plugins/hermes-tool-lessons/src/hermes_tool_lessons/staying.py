"""What follows when a lesson stays, or is let go of; and that old tasks are done again before either is for good."""

from typing import Any

import sqlalchemy as sa
from attrs import evolve

from hermes_core.database import TablesTransaction
from hermes_tool_lessons.chances import helps
from hermes_tool_lessons.tables import alike_to, found, is_frozen, lessons, rates_of, reviews, save
from hermes_tool_lessons.values import REPLAY, REPLAYS, Lesson, replay_id

__all__ = ["plan_again", "plan_replay", "promote", "rests", "retire"]


def rests(tx: TablesTransaction, lesson: Lesson) -> bool:
    """Whether a person wants it as it is."""
    return lesson.pinned or is_frozen(tx, lesson.owner)


def retire(tx: TablesTransaction, lesson: Lesson, why: str, mode: str = "") -> None:
    """Let go of a lesson, and try the next that waits for its place."""
    if rests(tx, lesson):
        return
    save(tx, evolve(lesson, state="retired"), why, "outcomes")
    known = rates_of(tx, lesson.owner)
    waiting = alike_to(tx, lesson.owner, lesson.trigger, "candidate") if mode in ("trial", "auto") else []
    clean = sorted((one for one in waiting if not one.asks), key=lambda one: (helps(one, known), -one.offered))
    for one in clean[-1:]:
        save(tx, evolve(one, state="trial"), f"it is tried in the place of {lesson.id}", "outcomes")


def promote(tx: TablesTransaction, lesson: Lesson, why: str) -> Lesson:
    """Keep a lesson, and let go of what that makes needless: what it replaces, and what was tried and did worse."""
    lesson = save(tx, evolve(lesson, state="active", asks=""), why, "outcomes")
    for one in found(tx, lessons.c.id == lesson.replaces) if lesson.replaces else ():
        retire(tx, one, f"{lesson.id} does it better")
    for one in alike_to(tx, lesson.owner, lesson.trigger, "trial"):
        if not rests(tx, one):
            save(tx, evolve(one, state="candidate"), f"it waits, as {lesson.id} works", "outcomes")
    return lesson


def plan_replay(tx: TablesTransaction, lesson: Lesson) -> None:
    """Have old tasks done again with a lesson as it is now, in the commit that says it waits for that."""
    values: dict[str, Any] = {"id": replay_id(lesson), "profile": lesson.profile, "person": lesson.person}
    values |= {"reason": REPLAY, "state": "due", "due": tx.clock(), "created": tx.clock()}
    tx.execute(sa.insert(reviews).values(**values))


def plan_again(tx: TablesTransaction, lesson: Lesson, why: str) -> None:
    """Have the tasks since it was let in done again with a lesson that helps, before it stays; once at a time.

    One that broke a task says so in ``asks``, and is not done again by itself. Where a person took back a version
    that waited for a replay which is over, another is planned.
    """
    if lesson.asks not in ("", REPLAY):
        return
    mine = sa.and_(reviews.c.id.startswith(f"{REPLAYS}{lesson.id}:"), reviews.c.state == "due")
    if not tx.execute(sa.select(reviews.c.id).where(mine)):
        plan_replay(tx, save(tx, evolve(lesson, asks=REPLAY), f"{why}; {REPLAY}", "outcomes"))
