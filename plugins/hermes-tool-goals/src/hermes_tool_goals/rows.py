"""The rows of goals, their rounds and the evidence. Each method is one transaction."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from attrs import asdict, evolve

from hermes_core.codec import clean
from hermes_core.database import READ, StoreBroker, TablesTransaction
from hermes_core.errors import UserError
from hermes_core.types import PastTurn, Principal
from hermes_tool_goals.values import LIVE, Check, Evidence, Goal, Round, check_event
from hermes_tool_kit.units import unit

__all__ = ["CHANGED", "Goals"]

CHANGED = "goals"  # what is told when a goal changed
_ANSWER, _TEXT = 8_000, 40_000  # characters that are kept of an answer, and of any other text
_JSON = ("checks", "speaker", "bounds")


def _table(name: str, *columns: str) -> sa.Table:
    return sa.Table(f"tool_goals__{name}", sa.MetaData(), *(sa.Column(column) for column in columns))


_OWN = (
    *("id", "profile", "person", "session", "text", "checks", "state", "phase", "why", "left", "until", "folder"),
    *(
        "door",
        "chat",
        "speaker",
        "bounds",
        "interval",
        "money",
        "seconds",
        "used_money",
        "used_seconds",
        "at",
        "created",
    ),
    *("changed", "round", "version", "turns", "used_turns", "failures", "garbage", "owed", "reports", "report"),
)
_MARK = ("holder", "place", "pid", "beat")
goals = _table("goals", *_OWN, *_MARK)
rounds = _table(
    "rounds",
    *("id", "goal", "person", "number", "said", "outside", "turn", "answer", "verdict", "why", "left", "proof"),
    *("acts", "files", "money", "seconds", "created", "ended"),
)
evidence = _table(
    "evidence",
    *("id", "goal", "person", "round", "number", "kind", "what", "passed", "status", "output", "at", "seconds"),
    *("outside", "session"),
)
# What a look at a round changes of its goal, and what of the round.
_AFTER = (
    *("state", "phase", "why", "left", "round", "failures", "garbage", "at", "owed", "reports", "used_money"),
    "used_seconds",
)
_CLOSED = ("verdict", "why", "left", "proof", "acts", "files", "money", "seconds")


class Goals:
    """The goals of everybody."""

    def __init__(self, store: StoreBroker) -> None:
        self.store = store

    @unit()
    def add(self, tx: TablesTransaction, goal: Goal, said: str, keep: int) -> Goal:
        """Keep a new goal, with what begins its first turn. Raises UserError: its session has one."""
        tx.alone("goals")
        if there := _live(tx, goal.session):
            what = "loop" if there.is_loop else "goal"
            hint = "/loop stop" if there.is_loop else "/goal clear takes it away, /goal edit TEXT changes it."
            raise UserError(f"This conversation has a {what} already: {_short(there.text)}", hint=hint)
        now = tx.clock()
        goal = evolve(goal, created=now, changed=now)
        tx.execute(sa.insert(goals).values(**_row(goal)))
        _plan(tx, goal, said, outside=False)
        _trim(tx, goal, keep)
        tx.tell(CHANGED)
        return goal

    @unit(READ)
    def live(self, tx: TablesTransaction, session: str) -> Goal | None:
        """Return the goal of a session that is active or paused."""
        return _live(tx, session)

    @unit(READ)
    def get(self, tx: TablesTransaction, goal: str) -> Goal | None:
        """Return a goal by its id."""
        return next(iter(_goals(tx, goals.c.id == clean(goal))), None)

    @unit(READ)
    def list(self, tx: TablesTransaction, owner: Principal | None = None) -> Sequence[Goal]:
        """Return the goals of somebody, or of everybody, newest first."""
        whose = sa.true() if owner is None else _whose(owner)
        return _goals(tx, whose)

    @unit(READ)
    def open(self, tx: TablesTransaction) -> Sequence[Goal]:
        """Return the goals of which something is to be done."""
        return _goals(tx, sa.or_(goals.c.state == "active", goals.c.owed > 0))

    @unit(READ)
    def reported(self, tx: TablesTransaction, since: float, most: int) -> Sequence[Goal]:
        """Return the goals of which a look found since an instant that they are over or rest, the oldest look first."""
        over = sa.and_(goals.c.state.in_(("done", "ended", "paused")), goals.c.reports > 0, goals.c.changed >= since)
        own = [goals.c[name] for name in _OWN]
        return [_goal(row) for row in tx.execute(sa.select(*own).where(over).order_by(goals.c.changed).limit(most))]

    @unit(READ)
    def now(self, tx: TablesTransaction) -> float:
        """Return the time that all go by."""
        return tx.clock()

    @unit()
    def change(self, tx: TablesTransaction, /, goal: str, states: Sequence[str], **values: Any) -> Goal | None:
        """Change a goal that is in one of these states; None where it is in none."""
        values = {**values, "changed": tx.clock()}
        wanted = sa.and_(goals.c.id == goal, goals.c.state.in_(states))
        if not tx.execute(sa.update(goals).where(wanted).values(**_values(values))).changed:
            return None
        tx.tell(CHANGED)
        return next(iter(_goals(tx, goals.c.id == goal)), None)

    @unit()
    def replan(self, tx: TablesTransaction, goal: Goal, said: str) -> None:
        """Say another thing at the beginning of the turn that is planned next."""
        wanted = sa.and_(rounds.c.id == f"{goal.id}/{goal.round}", rounds.c.ended == 0)
        tx.execute(sa.update(rounds).where(wanted).values(said=clean(said)[:_TEXT]))

    @unit(READ)
    def looked(self, tx: TablesTransaction, goal: str = "", session: str = "") -> Sequence[tuple[str, str, Principal]]:
        """Return the sessions in which checks ran that nobody needs any more, each with its evidence and whose it is.

        Of one goal, of all goals of a session, also those of a round that is not closed, or of everybody.
        """
        wanted = sa.select(evidence.c.id, evidence.c.session, goals.c.profile, goals.c.person).where(
            evidence.c.goal == goals.c.id, evidence.c.session != ""
        )
        if session:
            wanted = wanted.where(goals.c.session == clean(session))
        else:
            closed = sa.select(rounds.c.id).where(
                rounds.c.goal == evidence.c.goal, rounds.c.number == evidence.c.round, rounds.c.ended > 0
            )
            wanted = wanted.where(closed.exists())
        wanted = wanted.where(goals.c.id == goal) if goal else wanted
        found = tx.execute(wanted.limit(1000))
        return [(r["id"], r["session"], Principal(profile=r["profile"], person=r["person"])) for r in found]

    @unit()
    def cleared(self, tx: TablesTransaction, one: str) -> None:
        """Write down that the session of a check is gone; what it found stays."""
        tx.execute(sa.update(evidence).where(evidence.c.id == one).values(session=""))

    @unit()
    def remove_session(self, tx: TablesTransaction, session: str) -> None:
        """Take the goals of a session away, with all that was found."""
        _delete(tx, [row["id"] for row in tx.execute(sa.select(goals.c.id).where(goals.c.session == session))])

    # --- who works on it ---------------------------------------------------------------------------------------------

    @unit()
    def claim(self, tx: TablesTransaction, goal: str, holder: str) -> bool:
        """Let a holder look at a round alone, or go on to; False while another one lives."""
        tx.alone("goals")
        rows = tx.execute(sa.select(*(goals.c[name] for name in _MARK)).where(goals.c.id == goal))
        if not rows or (rows[0]["holder"] not in ("", holder) and tx.lives(rows[0])):
            return False
        tx.execute(sa.update(goals).where(goals.c.id == goal).values(holder=holder, **tx.mark()))
        return True

    @unit()
    def leave(self, tx: TablesTransaction, goal: str, holder: str) -> None:
        """Look at it no longer."""
        tx.execute(sa.update(goals).where(goals.c.id == goal, goals.c.holder == holder).values(holder=""))

    # --- rounds ------------------------------------------------------------------------------------------------------

    @unit(READ)
    def round(self, tx: TablesTransaction, goal: str, number: int) -> Round | None:
        """Return one round, with its evidence."""
        return next(iter(_rounds(tx, goal, rounds.c.number == number)), None)

    @unit(READ)
    def rounds(self, tx: TablesTransaction, goal: str, limit: int = 1000) -> Sequence[Round]:
        """Return the last rounds, oldest first, with their evidence."""
        return _rounds(tx, goal, sa.true(), limit)

    @unit()
    def ended(self, tx: TablesTransaction, goal: Goal, past: PastTurn) -> Goal | None:
        """Write down that the turn of a round is over and what it used; None where that stands there."""
        took, now = max(0.0, past.ended - past.started), tx.clock()
        wanted = sa.and_(goals.c.id == goal.id, goals.c.round == goal.round, goals.c.phase == "turn")
        values = {
            "phase": "check",
            "used_turns": goals.c.used_turns + 1,
            "used_money": goals.c.used_money + past.usage.cost,
            "used_seconds": goals.c.used_seconds + took,
            "changed": now,
        }
        if not tx.execute(sa.update(goals).where(wanted).values(**values)).changed:
            return None
        tx.execute(
            sa.update(rounds)
            .where(rounds.c.id == f"{goal.id}/{goal.round}")
            .values(turn=past.turn_id, answer=clean(past.answer)[:_ANSWER], money=past.usage.cost, seconds=took)
        )
        tx.tell(CHANGED)
        return next(iter(_goals(tx, goals.c.id == goal.id)), None)

    @unit()
    def found(self, tx: TablesTransaction, goal: Goal, one: Evidence) -> None:
        """Keep what a check found; the first that is written stands."""
        name = check_event(one.goal, one.round, one.number, one.what)
        if tx.execute(sa.select(evidence.c.id).where(evidence.c.id == name)):
            return
        values = {**asdict(one), "id": name, "person": goal.person, "passed": int(one.passed)}
        values = {**values, "outside": int(one.outside), "at": one.at or tx.clock()}
        tx.execute(sa.insert(evidence).values(**_values(values)))

    @unit()
    def judged(self, tx: TablesTransaction, before: Goal, after: Goal, done: Round, said: str, outside: bool) -> bool:
        """Close a round: what it came to, how the goal goes on, and what begins the next turn, in one commit.

        False where somebody was faster, or the person changed the goal meanwhile: then nothing happened.
        """
        now = tx.clock()
        wanted = sa.and_(
            goals.c.id == before.id,
            goals.c.round == before.round,
            goals.c.phase == "check",
            goals.c.state == before.state,
            goals.c.version == before.version,
        )
        values = {name: getattr(after, name) for name in _AFTER}
        if not tx.execute(sa.update(goals).where(wanted).values(**_values({**values, "changed": now}))).changed:
            return False
        values = {name: getattr(done, name) for name in _CLOSED}
        tx.execute(sa.update(rounds).where(rounds.c.id == f"{done.goal}/{done.number}").values(
            **_values({**values, "ended": now})))  # fmt: skip
        if after.phase == "turn" and after.round > before.round:
            _plan(tx, after, said, outside=outside)
        tx.tell(CHANGED)
        return True

    @unit()
    def told(self, tx: TablesTransaction, goal: Goal) -> None:
        """Write down that the person was told."""
        tx.execute(sa.update(goals).where(goals.c.id == goal.id, goals.c.owed == goal.owed).values(owed=0))


def _whose(owner: Principal) -> sa.ColumnElement[bool]:
    return sa.and_(goals.c.profile == clean(owner.profile), goals.c.person == clean(owner.person))


def _live(tx: TablesTransaction, session: str) -> Goal | None:
    return next(iter(_goals(tx, sa.and_(goals.c.session == clean(session), goals.c.state.in_(LIVE)))), None)


def _goals(tx: TablesTransaction, where: sa.ColumnElement[bool]) -> list[Goal]:
    own = [goals.c[name] for name in _OWN]
    return [_goal(row) for row in tx.execute(sa.select(*own).where(where).order_by(goals.c.created.desc()))]


def _goal(row: Mapping[str, Any]) -> Goal:
    checks = tuple(Check(**one) for one in json.loads(row["checks"] or "[]"))
    speaker, bounds = (json.loads(row[name]) if row[name] else None for name in ("speaker", "bounds"))
    return Goal(**{**row, "checks": checks, "speaker": speaker, "bounds": bounds})


def _row(goal: Goal) -> dict[str, Any]:
    values = {name: getattr(goal, name) for name in _OWN}
    return _values({**values, "checks": goal.checks})


def _values(values: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(values)
    if "checks" in found:
        found["checks"] = json.dumps([asdict(one) for one in found["checks"]], ensure_ascii=False)
    for name in ("speaker", "bounds"):
        if name in found:
            found[name] = json.dumps(found[name], ensure_ascii=False) if found[name] else ""
    return {name: _kept(name, value) if isinstance(value, str) else value for name, value in found.items()}


def _kept(name: str, text: str) -> str:
    return clean(text) if name in _JSON else clean(text)[:_TEXT]


def _plan(tx: TablesTransaction, goal: Goal, said: str, *, outside: bool) -> None:
    values = {"id": f"{goal.id}/{goal.round}", "goal": goal.id, "person": goal.person, "number": goal.round}
    tx.execute(sa.insert(rounds).values(
        **_values({**values, "said": said, "outside": int(outside), "created": tx.clock()})))  # fmt: skip


def _rounds(tx: TablesTransaction, goal: str, where: sa.ColumnElement[bool], limit: int = 1) -> list[Round]:
    wanted = sa.select(rounds).where(rounds.c.goal == goal, where).order_by(rounds.c.number.desc()).limit(limit)
    rows = tx.execute(wanted)[::-1]
    numbers = [row["number"] for row in rows]
    found: dict[int, list[Evidence]] = {number: [] for number in numbers}
    seen = sa.select(evidence).where(evidence.c.goal == goal, evidence.c.round.in_(numbers)).order_by(evidence.c.number)
    for row in tx.execute(seen) if numbers else ():
        kept = {name: value for name, value in row.items() if name not in ("id", "person")}
        found[row["round"]].append(Evidence(**{**kept, "passed": bool(row["passed"]), "outside": bool(row["outside"])}))
    return [
        Round(
            **{
                **{name: value for name, value in row.items() if name not in ("id", "person")},
                "outside": bool(row["outside"]),
                "evidence": tuple(found[row["number"]]),
            }
        )
        for row in rows
    ]


def _trim(tx: TablesTransaction, goal: Goal, keep: int) -> None:
    """Forget the oldest goals of a person that are over, beyond those that are kept."""
    over = sa.and_(
        goals.c.profile == goal.profile, goals.c.person == goal.person, goals.c.state.not_in(LIVE), goals.c.owed == 0
    )
    rows = tx.execute(sa.select(goals.c.id).where(over).order_by(goals.c.created.desc()).offset(keep))
    _delete(tx, [row["id"] for row in rows])


def _delete(tx: TablesTransaction, ids: Sequence[str]) -> None:
    for table, column in ((evidence, evidence.c.goal), (rounds, rounds.c.goal), (goals, goals.c.id)):
        if ids:
            tx.execute(sa.delete(table).where(column.in_(ids)))


def _short(text: str) -> str:
    return f"{' '.join(text.split())[:100]}{'…' if len(text) > 100 else ''}"
