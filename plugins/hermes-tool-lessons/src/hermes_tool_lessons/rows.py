"""Lessons and their versions: proposed, let in, let go of, taken back. Each method is one transaction."""

import json
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from attrs import evolve

from hermes_core.codec import clean
from hermes_core.database import READ, StoreBroker, TablesTransaction, made
from hermes_core.errors import UnknownName, UserError
from hermes_core.types import Principal
from hermes_core.values import frozen as frozen_value
from hermes_tool_kit.units import unit
from hermes_tool_lessons import gates
from hermes_tool_lessons.chances import helps, verdict
from hermes_tool_lessons.staying import promote, rests
from hermes_tool_lessons.tables import (
    CHANGED,
    alike_to,
    events,
    found,
    frozen,
    is_frozen,
    lessons,
    next_rev,
    rates,
    rates_of,
    remove,
    reviews,
    save,
    versions,
    whose,
)
from hermes_tool_lessons.values import LIVE, REPLAY, Draft, Lesson, State, Version, lesson_id

__all__ = ["Lessons", "add", "after_replay"]

_TRIED = 24  # lessons of one trigger that are tried by turns


@frozen_value(kw_only=True)
class Told:
    """What changed for somebody since a change: lessons that are told, and that are told no more. ``rev``: the last."""

    rev: int
    at: float
    live: Sequence[Lesson] = ()
    gone: Sequence[Lesson] = ()


class Lessons:
    """The lessons of everybody."""

    def __init__(self, store: StoreBroker) -> None:
        self.store = store

    @unit()
    def propose(
        self, tx: TablesTransaction, owner: Principal, draft: Draft, *, mode: str, most: int, author: str,
        replays: bool = False,
    ) -> tuple[Lesson | None, str]:  # fmt: skip
        """Keep what somebody proposes, as far as the gates let it; the lesson, or why there is none."""
        return add(tx, owner, draft, mode=mode, most=most, author=author, replays=replays)

    @unit()
    def replayed(
        self, tx: TablesTransaction, lesson: str, *, mode: str, most: int, broke: str, kept: int
    ) -> Lesson | None:
        """Let a lesson go on after the old tasks were done again with it; one that broke a task waits for a person."""
        return after_replay(tx, lesson, mode=mode, most=most, broke=broke, kept=kept)

    @unit(READ)
    def get(self, tx: TablesTransaction, lesson: str) -> Lesson | None:
        """Return a lesson by its whole id, whoever's it is."""
        return next(iter(found(tx, lessons.c.id == lesson)), None)

    @unit(READ)
    def list(self, tx: TablesTransaction, owner: Principal, states: Sequence[State] = ()) -> Sequence[Lesson]:
        """Return the lessons of somebody, newest first."""
        return found(tx, sa.and_(whose(lessons, owner), lessons.c.state.in_(states) if states else sa.true()))

    @unit(READ)
    def find(self, tx: TablesTransaction, owner: Principal, name: str) -> Lesson:
        """Return the lesson that somebody names by the beginning of its id. Raises UnknownName, UserError."""
        return _named(tx, owner, name)

    @unit(READ)
    def versions(self, tx: TablesTransaction, lesson: str) -> Sequence[Version]:
        """Return all that a lesson ever was, oldest first."""
        wanted = sa.select(versions).where(versions.c.lesson == lesson).order_by(versions.c.number)
        return [made(Version, row) for row in map(dict, tx.execute(wanted))]

    @unit(READ)
    def told(self, tx: TablesTransaction, owner: Principal, rev: int, at: float) -> Told | None:
        """Return the lessons of somebody's conversations that changed after ``rev``, and which are told no more.

        None where that change, which was made ``at`` an instant, is gone: where one was erased, its number is given
        again. Those of a chat are for whoever speaks there: a group has its own name, and who wrote one for it has
        another. Where nothing changed at all that is known by one row.
        """
        last = sa.select(versions.c.rev, versions.c.at).order_by(versions.c.rev.desc(), versions.c.at.desc()).limit(1)
        newest = next(((row["rev"], row["at"]) for row in tx.execute(last)), (0, 0.0))
        if newest == (rev, at):
            return Told(rev=rev, at=at)
        if rev and not any(
            row["at"] == at for row in tx.execute(sa.select(versions.c.at).where(versions.c.rev == rev))
        ):
            return None
        of_all = sa.and_(lessons.c.profile == clean(owner.profile), lessons.c.scope.in_(("everybody", "chat")))
        own = sa.or_(whose(lessons, owner), of_all)
        changed = found(tx, sa.and_(lessons.c.rev > rev, own))
        live = [one for one in changed if one.state in LIVE]
        return Told(rev=newest[0], at=newest[1], live=live, gone=[one for one in changed if one.state not in LIVE])

    @unit()
    def settle(self, tx: TablesTransaction, owner: Principal, name: str, state: State, why: str) -> Lesson:
        """Let a lesson in, or let go of it, as a person says. Raises UnknownName, UserError."""
        lesson = _named(tx, owner, name)
        if state in LIVE and (no := gates.refusal(_draft(lesson))):
            raise UserError(f"The lesson {lesson.id} cannot be let in: {no}.")
        if lesson.state == state:
            return lesson
        fresh = (
            {"recent": "", "uses": 0, "wins": 0, "offered": 0} if state in LIVE and lesson.state == "retired" else {}
        )
        lesson = save(tx, evolve(lesson, state=state, asks="", **fresh), why, "person")  # type: ignore[arg-type]
        if state == "active":
            _replace(tx, lesson, "person")
        return lesson

    @unit()
    def revert(self, tx: TablesTransaction, owner: Principal, name: str, number: int = 0) -> Lesson:
        """Make a lesson what it was at a version, by default the one before. Raises UnknownName, UserError."""
        lesson = _named(tx, owner, name)
        number = number or lesson.version - 1
        wanted = sa.select(versions).where(versions.c.lesson == lesson.id, versions.c.number == number)
        rows = tx.execute(wanted) if number <= lesson.version else []
        if not rows:
            hint = "It never was anything else." if lesson.version == 1 else f"There are 1 to {lesson.version}."
            raise UserError(f"The lesson {lesson.id} has no version {number}.", hint=hint)
        return save(tx, _as_it_was(lesson, rows[0]["content"]), f"as it was at version {number}", "person")

    @unit()
    def restore(self, tx: TablesTransaction, owner: Principal, rev: int) -> int:
        """Make all lessons of somebody what they were at a change; those that came later are retired. How many."""
        changed, rev = 0, min(rev, next_rev(tx) - 1)
        for lesson in found(tx, whose(lessons, owner)):
            wanted = sa.select(versions).where(versions.c.lesson == lesson.id, versions.c.rev <= rev)
            rows = tx.execute(wanted.order_by(versions.c.number.desc()).limit(1))
            was = _as_it_was(lesson, rows[0]["content"]) if rows else evolve(lesson, state="retired")
            if was != lesson:
                save(tx, was, f"as it was at change {rev}", "person")
                changed += 1
        return changed

    @unit()
    def pin(self, tx: TablesTransaction, owner: Principal, name: str, *, pinned: bool) -> Lesson:
        """Keep a lesson as it is, whatever comes of it, or no longer. Raises UnknownName, UserError."""
        lesson = _named(tx, owner, name)
        why = "frozen by a person" if pinned else "free again"
        return lesson if lesson.pinned == pinned else save(tx, evolve(lesson, pinned=pinned), why, "person")

    @unit()
    def freeze(self, tx: TablesTransaction, owner: Principal, *, on: bool) -> None:
        """Have nothing of somebody change by itself, or again."""
        name = f"{owner.profile}/{owner.person}"
        tx.execute(sa.delete(frozen).where(frozen.c.id == name))
        if on:
            values = {"id": name, "profile": owner.profile, "person": owner.person, "at": tx.clock()}
            tx.execute(sa.insert(frozen).values(**values))

    @unit(READ)
    def rests(self, tx: TablesTransaction, owner: Principal) -> bool:
        """Tell whether somebody's lessons are frozen."""
        return is_frozen(tx, owner)

    @unit(READ)
    def rev(self, tx: TablesTransaction) -> int:
        """Return the number of the last change."""
        return int(tx.execute(sa.select(sa.func.max(versions.c.rev).label("rev")))[0]["rev"] or 0)

    @unit(READ)
    def export(self, tx: TablesTransaction, owner: Principal) -> Sequence[dict[str, Any]]:
        """Return all that is kept of somebody: lessons, versions, what happened, reviews."""
        made_of: list[dict[str, Any]] = []
        for kind, table in (("lesson", lessons), ("version", versions), ("event", events), ("review", reviews)):
            made_of += ({"kept": kind, **row} for row in tx.execute(sa.select(table).where(whose(table, owner))))
        return made_of

    @unit()
    def erase(self, tx: TablesTransaction, owner: Principal) -> int:
        """Delete all that is kept of somebody; how many lessons it was."""
        many = tx.execute(sa.delete(lessons).where(whose(lessons, owner))).changed
        for table in (versions, events, reviews, frozen, rates):
            tx.execute(sa.delete(table).where(whose(table, owner)))
        tx.tell(CHANGED)
        return many

    @unit()
    def forget_session(self, tx: TablesTransaction, session: str, *, erased: bool) -> None:
        """Forget what happened in a session that is gone; where no byte is to stay, what was learned there, too."""
        if erased:
            remove(tx, [one.id for one in found(tx, lessons.c.session == session)])
        tx.execute(sa.delete(events).where(events.c.session == session))
        tx.execute(sa.delete(events).where(events.c.turn == session, events.c.kind == "week"))
        tx.execute(sa.delete(reviews).where(reviews.c.session == session))

    @unit()
    def tidy(self, tx: TablesTransaction, owner: Principal, before: float) -> int:
        """Let go of what nobody was told since an instant; how many. A frozen one stays."""
        if is_frozen(tx, owner):
            return 0
        old = sa.and_(whose(lessons, owner), lessons.c.state.in_(LIVE), lessons.c.pinned == 0,
                      lessons.c.last < before, lessons.c.changed < before)  # fmt: skip
        there = found(tx, old)
        for lesson in there:
            save(tx, evolve(lesson, state="retired"), "nothing called for it for a long time", "tidying")
        return len(there)


def add(
    tx: TablesTransaction, owner: Principal, draft: Draft, *, mode: str, most: int, author: str, replays: bool = False
) -> tuple[Lesson | None, str]:
    """Keep a draft in an open transaction: see ``Lessons.propose``.

    What a person writes is let in by that. Of two drafts with the same words the second adds its sources. With
    ``replays`` what needs no person waits until the old tasks were done again with it.
    """
    if why := gates.refusal(draft):
        return None, why
    name = lesson_id(owner, draft.scope, draft.place, draft.trigger, draft.text)
    there = found(tx, lessons.c.id == name)
    if there:
        return _again(tx, there[0], draft, mode, most, author)
    by_person = author == "person"
    asks = "" if by_person else gates.needs_person(draft) or (REPLAY if replays else "")
    state: State = "active" if by_person else "trial" if mode in ("trial", "auto") and not asks else "candidate"
    why = (
        "a person wrote it" if by_person else asks or ("it waits for a yes" if state == "candidate" else "it is tried")
    )
    if state == "trial" and (wait := _waits(tx, owner, draft, most, author)):
        state, why = "candidate", wait
    if state == "candidate" and _many(tx, owner, "candidate") >= most:
        return None, f"{most} lessons wait already"
    lesson = Lesson(
        id=name, profile=owner.profile, person=owner.person, trigger=" ".join(draft.trigger.split()),
        text=" ".join(draft.text.split()), state=state, scope=draft.scope, place=draft.place, asks=asks,
        sources=tuple(draft.sources), session=draft.session, replaces=draft.replaces, tainted=draft.tainted,
    )  # fmt: skip
    lesson = save(tx, lesson, why, author)
    if by_person:
        _replace(tx, lesson, author)
    return lesson, ""


def after_replay(tx: TablesTransaction, lesson: str, *, mode: str, most: int, broke: str, kept: int) -> Lesson | None:
    """Let a lesson go on in an open transaction: see ``Lessons.replayed``. None where a person decided meanwhile."""
    there = next(iter(found(tx, lessons.c.id == lesson)), None)
    if there is None or there.state not in ("candidate", "trial") or there.asks != REPLAY:
        return None
    if broke:
        return save(tx, evolve(there, asks=broke), broke, "replay")
    tasks = "1 solved task was" if kept == 1 else f"{kept} solved tasks were"
    why = f"{tasks} done again with it: it broke none" if kept else "no solved task says anything of it"
    if there.state == "trial":
        return _proven(tx, there, mode, why)
    if mode not in ("trial", "auto"):
        return save(tx, evolve(there, asks=""), f"it waits for a yes; {why}", "replay")
    wait = _waits(tx, there.owner, _draft(there), most, "replay")
    return save(tx, evolve(there, asks="", state="candidate" if wait else "trial"), wait or why, "replay")


def _proven(tx: TablesTransaction, lesson: Lesson, mode: str, why: str) -> Lesson | None:
    """Keep a lesson that helped, once old tasks were done again with it, unless something speaks against it by now."""
    if rests(tx, lesson):
        return None
    if mode != "auto" or verdict(lesson, rates_of(tx, lesson.owner)) != "helps":
        return save(tx, evolve(lesson, asks=""), f"it is tried on; {why}", "replay")
    return promote(tx, lesson, f"{lesson.recent.count('1')} of its last {len(lesson.recent)} uses went well; {why}")


def _again(
    tx: TablesTransaction, lesson: Lesson, draft: Draft, mode: str, most: int, author: str
) -> tuple[Lesson | None, str]:
    """Add to a lesson that is there what taught it once more. One that was let go of comes back by a person only."""
    if author == "person" and lesson.state != "active":
        return save(tx, evolve(lesson, state="active", asks="", recent="", uses=0, wins=0, offered=0),
                    "a person wrote it", author), ""  # fmt: skip
    sources = tuple(dict.fromkeys((*lesson.sources, *draft.sources)))[-20:]
    if sources != lesson.sources:
        tx.execute(
            sa.update(lessons).where(lessons.c.id == lesson.id).values(sources=json.dumps(sources, ensure_ascii=False))
        )
        lesson = evolve(lesson, sources=sources)
        waits = lesson.state != "candidate" or lesson.asks or mode not in ("trial", "auto")
        if not waits and not lesson.uses and not _waits(tx, lesson.owner, draft, most, author):
            lesson = save(tx, evolve(lesson, state="trial"), "it was taught again", author)
    return None, f"it is there already, as {lesson.id}, which is {lesson.state}"


def _replace(tx: TablesTransaction, lesson: Lesson, author: str) -> None:
    """Let go of what a lesson replaces."""
    for old in (
        found(tx, sa.and_(lessons.c.id == lesson.replaces, lessons.c.state.in_(LIVE))) if lesson.replaces else ()
    ):
        if not old.pinned:
            save(tx, evolve(old, state="retired"), f"{lesson.id} took its place", author)


def _waits(tx: TablesTransaction, owner: Principal, draft: Draft, most: int, author: str) -> str:
    """Say why a lesson is not tried yet; empty where it is: also in the place of one that did no good so far."""
    if is_frozen(tx, owner):
        return "nothing changes by itself now"
    if _many(tx, owner, *LIVE) >= most:
        return f"there are {most} lessons already"
    there = alike_to(tx, owner, draft.trigger, *LIVE)
    if any(one.state == "active" and one.id != draft.replaces and not one.recent.endswith("00") for one in there):
        return "another one works"
    tried = [one for one in there if one.state == "trial"]
    if len(tried) < _TRIED:
        return ""
    known = [one for one in tried if one.offered and not one.pinned]
    if not known:
        return "others are tried first"
    about = rates_of(tx, owner)
    worst = min(known, key=lambda one: (helps(one, about), -one.offered))
    if helps(worst, about) > about.once:
        return "others are tried first"
    save(tx, evolve(worst, state="candidate"), "it waits, as newer ones are tried", author)
    return ""


def _many(tx: TablesTransaction, owner: Principal, *states: str) -> int:
    mine = sa.and_(whose(lessons, owner), lessons.c.state.in_(states))
    wanted = sa.select(sa.func.count().label("many")).select_from(lessons).where(mine)
    return int(tx.execute(wanted)[0]["many"])


def _named(tx: TablesTransaction, owner: Principal, name: str) -> Lesson:
    start = "".join(one for one in name.strip() if one.isalnum())
    rows = found(tx, sa.and_(whose(lessons, owner), lessons.c.id.startswith(start))) if start else []
    if not rows:
        raise UnknownName("lesson", name)
    if len(rows) > 1:
        raise UserError(f"{len(rows)} lessons begin with {name}.", hint="Give more of the id.")
    return rows[0]


def _as_it_was(lesson: Lesson, content: str) -> Lesson:
    return evolve(lesson, **json.loads(content))


def _draft(lesson: Lesson) -> Draft:
    return Draft(trigger=lesson.trigger, text=lesson.text, tainted=lesson.tainted, replaces=lesson.replaces)
