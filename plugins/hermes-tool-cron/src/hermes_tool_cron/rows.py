"""The rows of jobs and of their instants. Each method is one transaction."""

import json
import secrets
from collections.abc import Callable, Collection, Sequence
from typing import Any

import sqlalchemy as sa
from attrs import asdict, evolve

from hermes_core.codec import clean
from hermes_core.database import READ, StoreBroker, TablesTransaction, made
from hermes_core.errors import Conflict, UserError
from hermes_core.values import frozen
from hermes_tool_cron.advance import advance, begun, jitter_of, schedule_of
from hermes_tool_cron.values import OPEN, OVER, Job, Options, Run
from hermes_tool_kit.units import unit

__all__ = ["CHANGED", "Clock", "Glance", "Jobs", "Looked", "shows"]


CHANGED = "jobs"  # what is told when a job or a run changed
_JOBS_AT_ONCE = 200
_LONGEST = 200_000  # characters of an answer that are kept


def _table(name: str, *columns: str) -> sa.Table:
    return sa.Table(f"tool_cron__{name}", sa.MetaData(), *(sa.Column(column) for column in columns))


jobs = _table(
    "jobs",
    *(
        "id",
        "person",
        "name",
        "schedule",
        "zone",
        "prompt",
        "options",
        "state",
        "why",
        "created",
        "anchor",
        "due",
        "at",
    ),
    *("number", "fired"),
)
runs = _table(
    "runs",
    *("id", "job", "name", "person", "due", "state", "why", "session", "created", "started", "ended", "said", "answer"),
    *("shown", "outside", "delivery"),
)
clocks = _table("clocks", "holder", "place", "pid", "beat", "looked")


@frozen(kw_only=True)
class Looked:
    """What a look at the clock found: instants that were written down, and when to look again, 0 for no job."""

    written: Sequence[Run] = ()
    again: float = 0.0
    now: float = 0.0
    broken: Sequence[str] = ()


@frozen(kw_only=True)
class Glance:
    """Whether a job is due, and the runs that wait for who plays them."""

    is_due: bool = False
    waiting: frozenset[str] = frozenset()


@frozen(kw_only=True)
class Clock:
    """Who looks at the clock, and when it last did."""

    holder: str
    place: str = ""
    pid: int = 0
    looked: float = 0.0


class Jobs:
    """The jobs of everybody. ``clock`` takes the place of the store's in tests."""

    def __init__(self, store: StoreBroker, clock: Callable[[], float] | None = None) -> None:
        self.store, self._clock = store, clock

    def _now(self, tx: TablesTransaction) -> float:
        return self._clock() if self._clock else tx.clock()

    @unit(READ)
    def now(self, tx: TablesTransaction) -> float:
        """Return the time that all schedulers go by."""
        return self._now(tx)

    @unit()
    def add(self, tx: TablesTransaction, job: Job, most: int) -> Job:
        """Keep a new job, which counts from now. Raises UserError: its name is taken, there are too many."""
        tx.alone("jobs")
        now, mine = self._now(tx), _jobs(tx, jobs.c.person == clean(job.person))
        if len([one for one in mine if one.state != "done"]) >= most:
            raise UserError(f"There are {most} jobs, and more nobody may have (cron.jobs).", hint="Remove some first.")
        if any(one.name == job.name for one in mine):
            raise UserError(f"There is a job {job.name!r} by now.", hint="Give it another name, or edit that one.")
        job = evolve(job, id=secrets.token_hex(4), created=now, anchor=float(int(now)))
        job = job if job.state == "proposed" else begun(job, now)
        tx.execute(sa.insert(jobs).values(**_row(job)))
        tx.tell(CHANGED)
        return job

    @unit()
    def change(self, tx: TablesTransaction, job: Job, *, anew: bool = False) -> Job:
        """Keep a changed job; ``anew`` it waits for its first instant after now. Raises UserError."""
        tx.alone("jobs")
        if (there := _one(tx, job.id)) is None or there.number != job.number:
            raise UserError(f"The job {job.name!r} was changed a moment ago.", hint="Look at it, and say it again.")
        now = self._now(tx)
        if anew:
            job = begun(evolve(job, anchor=float(int(now)) if job.schedule != there.schedule else job.anchor), now)
        job = evolve(job, number=job.number + 1)
        try:
            tx.execute(sa.update(jobs).where(jobs.c.id == job.id).values(**_row(job)))
        except Conflict:
            raise UserError(f"There is a job {job.name!r} by now.", hint="Give it another name.") from None
        if job.name != there.name:
            tx.execute(sa.update(runs).where(runs.c.job == job.id).values(name=clean(job.name)))
        tx.tell(CHANGED)
        return job

    @unit()
    def remove(self, tx: TablesTransaction, job: str) -> None:
        """Take a job away, with its history. What runs is not waited for, and not told."""
        tx.alone("jobs")
        tx.execute(sa.delete(runs).where(runs.c.job == job))
        tx.execute(sa.delete(jobs).where(jobs.c.id == job))
        tx.tell(CHANGED)

    @unit(READ)
    def list(self, tx: TablesTransaction, person: str = "") -> Sequence[Job]:
        """Return the jobs of somebody, or of everybody, oldest first."""
        return _jobs(tx, jobs.c.person == clean(person) if person else sa.true())

    @unit(READ)
    def get(self, tx: TablesTransaction, job: str) -> Job | None:
        """Return a job by its id."""
        return _one(tx, job)

    @unit()
    def look(self, tx: TablesTransaction, holder: str = "", keep: int = 1000) -> Looked:
        """Write down every instant that has come, and what becomes of it; then its job waits for the next.

        Both are one commit: whoever dies here has done nothing, and of two who look at once the second finds it done.
        """
        tx.alone("jobs")
        now, written, broken, more = self._now(tx), list[Run](), list[str](), False
        due = _jobs(tx, sa.and_(jobs.c.state == "active", jobs.c.at <= now, jobs.c.at > 0), _JOBS_AT_ONCE)
        ids = [one.id for one in due]
        open_runs = sa.select(runs.c.job).where(runs.c.state.in_(OPEN), runs.c.job.in_(ids))
        busy = {row["job"] for row in tx.execute(open_runs)} if ids else set()
        for job in due:
            try:
                left, came = advance(job, now, busy=job.id in busy)
            except UserError as error:  # its time zone is known no more
                broken.append(f"{job.name}: {error.text}")
                tx.execute(sa.update(jobs).where(jobs.c.id == job.id).values(state="paused", why=error.text))
                continue
            tx.execute(sa.update(jobs).where(jobs.c.id == job.id).values(**_row(left)))
            made_now = [self._run(job, instant, state, why, now) for instant, state, why in came]
            written += _insert(tx, made_now)
            more = more or bool(left.at and left.at <= now)
            _trim(tx, job.id, keep)
        if holder:
            _beat(tx, holder, now)
        if written:
            tx.tell(CHANGED)
        waits = tx.execute(sa.select(sa.func.min(jobs.c.at).label("at")).where(jobs.c.state == "active", jobs.c.at > 0))
        again = (waits[0]["at"] if waits else None) or 0.0
        return Looked(written=written, again=now if more else float(again), now=now, broken=broken)

    @unit(READ)
    def newest(self, tx: TablesTransaction) -> float:
        """Return when anything was looked at last, as far as the rows say: later than now where the clock went back.

        An instant that ran, or did not, is not later than the look that wrote it down. The runs, of which
        there may be many, are asked by the ends of an index.
        """
        asked = [sa.select(sa.func.max(jobs.c.created).label("at"))]
        asked += [sa.select(sa.func.max(runs.c.due).label("at")).where(runs.c.state == one) for one in (*OPEN, *OVER)]
        return max(float(found[0]["at"] or 0.0) for found in map(tx.execute, asked) if found)

    @unit()
    def replan(self, tx: TablesTransaction) -> None:
        """Let every job wait for its next instant after now that has no row: for a clock that was set back.

        Without it nothing would come until the clock is where it was. What ran before is neither run again nor counted.
        """
        tx.alone("jobs")
        now = self._now(tx)
        for job in _jobs(tx, sa.and_(jobs.c.state == "active", jobs.c.due > now)):
            sooner = evolve(job, anchor=min(job.anchor, float(int(now))))
            try:
                schedule = schedule_of(sooner)
            except UserError:  # a look says so
                continue
            there = {row["due"] for row in tx.execute(sa.select(runs.c.due).where(runs.c.job == job.id))}
            due = schedule.after(now)
            while due in there and due < job.due:
                due = schedule.after(due)
            if 0 < due < job.due:
                left = evolve(sooner, due=due, at=due + jitter_of(job, due), number=job.number + 1)
                tx.execute(sa.update(jobs).where(jobs.c.id == job.id).values(**_row(left)))

    @unit(READ)
    def next(self, tx: TablesTransaction) -> tuple[int, Job | None]:
        """Return how many jobs wait for an instant, and the one that is next."""
        waits = sa.and_(jobs.c.state == "active", jobs.c.at > 0)
        many = int(tx.execute(sa.select(sa.func.count().label("many")).where(waits))[0]["many"])
        return many, next(iter(_jobs(tx, waits, 1)), None)

    @unit(READ)
    def peek(self, tx: TablesTransaction) -> Glance:
        """Return whether anything is to be done, without writing or waiting."""
        waits = tx.execute(sa.select(sa.func.min(jobs.c.at).label("at")).where(jobs.c.state == "active", jobs.c.at > 0))
        at = (waits[0]["at"] if waits else None) or 0.0
        due = tx.execute(sa.select(runs.c.id).where(runs.c.state == "due").limit(100))
        return Glance(is_due=bool(at and at <= self._now(tx)), waiting=frozenset(str(row["id"]) for row in due))

    def _run(self, job: Job, instant: float, state: str, why: str, now: float) -> Run:
        over = 0.0 if state == "due" else now
        told = "owed" if state == "missed" and schedule_of(job).kind == "once" else ""  # nothing comes after it
        return Run(
            id=f"{job.id}@{instant:.0f}", job=job.id, name=job.name, person=job.person, due=instant, state=state,
            why=why, created=now, ended=over, delivery=told,
        )  # fmt: skip

    @unit()
    def ask_for(self, tx: TablesTransaction, job: Job) -> Run:
        """Write down that a person wants a job run now. Raises UserError while it runs."""
        tx.alone("jobs")
        now = self._now(tx)
        there = tx.execute(sa.select(runs.c.id).where(runs.c.job == job.id, runs.c.state.in_(OPEN)))
        if there:
            raise UserError(f"The job {job.name!r} runs, or is about to.")
        run = Run(id=f"{job.id}@{now:.6f}", job=job.id, name=job.name, person=job.person, due=now, state="due",
                  why="a person asked for it", created=now)  # fmt: skip
        _insert(tx, [run])
        tx.tell(CHANGED)
        return run

    @unit(READ)
    def pending(self, tx: TablesTransaction, limit: int = 200, but: Collection[str] = ()) -> Sequence[Run]:
        """Return the runs that are not over, and those of which somebody is to be told, oldest first.

        ``but``: those that are known, as they are played here. However many they are, they hide no others.
        """
        wanted = sa.or_(runs.c.state.in_(OPEN), runs.c.delivery == "owed")
        return _runs(tx, sa.select(runs).where(wanted, runs.c.id.not_in(but)).order_by(runs.c.due).limit(limit))

    @unit(READ)
    def these(self, tx: TablesTransaction, ids: Collection[str]) -> Sequence[Run]:
        """Return runs by their ids."""
        return _runs(tx, sa.select(runs).where(runs.c.id.in_(ids)))

    @unit(READ)
    def runs(
        self, tx: TablesTransaction, person: str, job: str = "", limit: int = 20, *, since: float = 0.0
    ) -> Sequence[Run]:
        """Return what became of instants of somebody, newest first; ``since`` an instant without what was said."""
        whose = sa.and_(runs.c.person == clean(person), runs.c.job == job if job else sa.true(), runs.c.due >= since)
        told = () if not since else ("said", "answer", "shown")
        shown = [sa.literal("").label(one.name) if one.name in told else one for one in runs.c]
        return _runs(tx, sa.select(*shown).where(whose).order_by(runs.c.due.desc()).limit(limit))

    @unit(READ)
    def failures(self, tx: TablesTransaction, since: float, most: int) -> Sequence[Run]:
        """Return the runs that failed or were stopped since an instant, oldest first, and what was missed for good."""
        bad = sa.or_(
            runs.c.state.in_(("failed", "interrupted")), sa.and_(runs.c.state == "missed", runs.c.delivery != "")
        )
        return _runs(tx, sa.select(runs).where(bad, runs.c.ended >= since).order_by(runs.c.ended).limit(most))

    @unit(READ)
    def last_done(self, tx: TablesTransaction, person: str, name: str) -> Run | None:
        """Return the last run of a job of somebody's that said something."""
        whose = sa.and_(runs.c.person == clean(person), runs.c.name == clean(name), runs.c.state == "done")
        return next(iter(_runs(tx, sa.select(runs).where(whose).order_by(runs.c.due.desc()).limit(1))), None)

    @unit()
    def step(self, tx: TablesTransaction, /, run: Run, state: str, **more: Any) -> Run | None:
        """Move a run from its state to another; None where somebody was faster, or its job is gone."""
        now = self._now(tx)
        values = {name: clean(value)[:_LONGEST] if isinstance(value, str) else value for name, value in more.items()}
        values["state"] = state
        if state in OPEN:
            values.setdefault("started", run.started or now)
        elif run.state in OPEN:
            values.setdefault("ended", now)
        if "outside" in values:
            values["outside"] = int(values["outside"])
        same = sa.and_(runs.c.id == run.id, runs.c.state == run.state, runs.c.delivery == run.delivery)
        if not tx.execute(sa.update(runs).where(same).values(**values)).changed:
            return None
        if state not in OPEN:
            tx.tell(CHANGED)
        return next(iter(_runs(tx, sa.select(runs).where(runs.c.id == run.id))), None)

    @unit(READ)
    def clocks(self, tx: TablesTransaction) -> Sequence[Clock]:
        """Return who looks at the clock now."""
        return [made(Clock, row) for row in tx.execute(sa.select(clocks)) if tx.lives(row)]

    @unit()
    def leave(self, tx: TablesTransaction, holder: str) -> None:
        """Look at the clock no longer."""
        tx.execute(sa.delete(clocks).where(clocks.c.holder == holder))


def shows(run: Run, answer: str) -> Callable[[TablesTransaction], object]:
    """Return what keeps an answer as it may be shown, for the commit that ends its turn."""
    kept = sa.update(runs).where(runs.c.id == run.id).values(shown=clean(answer)[:_LONGEST])
    return lambda tx: tx.execute(kept)


def _row(job: Job) -> dict[str, Any]:
    values = asdict(job, recurse=False)
    values["options"] = json.dumps(asdict(job.options), ensure_ascii=False)
    return {name: clean(value) if isinstance(value, str) else value for name, value in values.items()}


def _jobs(tx: TablesTransaction, where: sa.ColumnElement[bool], limit: int = 0) -> list[Job]:
    wanted = sa.select(jobs).where(where).order_by(jobs.c.at if limit else jobs.c.created, jobs.c.id)
    found = tx.execute(wanted.limit(limit) if limit else wanted)
    return [Job(**{**row, "options": _options(row["options"])}) for row in found]


def _options(text: str) -> Options:
    said = json.loads(text or "{}")
    known = set(asdict(Options()))
    return Options(**{name: value for name, value in said.items() if name in known})


def _one(tx: TablesTransaction, job: str) -> Job | None:
    return next(iter(_jobs(tx, jobs.c.id == clean(job))), None)


def _runs(tx: TablesTransaction, wanted: "sa.Select[Any]") -> list[Run]:
    return [Run.of(row) for row in tx.execute(wanted)]


def _insert(tx: TablesTransaction, came: Sequence[Run]) -> list[Run]:
    """Write down what is not there yet, and say what that was."""
    if not came:
        return []
    there = {row["id"] for row in tx.execute(sa.select(runs.c.id).where(runs.c.id.in_([one.id for one in came])))}
    new = [one for one in came if one.id not in there]
    if new:
        tx.execute(sa.insert(runs), [{**asdict(one), "outside": int(one.outside)} for one in new])
    return new


def _trim(tx: TablesTransaction, job: str, keep: int) -> None:
    """Forget what is older than the newest instants that are kept; never what is not over, or not told."""
    oldest = tx.execute(
        sa.select(runs.c.due).where(runs.c.job == job).order_by(runs.c.due.desc()).offset(keep).limit(1)
    )
    if oldest:
        past = sa.and_(runs.c.job == job, runs.c.due <= oldest[0]["due"], runs.c.state.not_in(OPEN))
        tx.execute(sa.delete(runs).where(past, runs.c.delivery != "owed"))


def _beat(tx: TablesTransaction, holder: str, now: float) -> None:
    mark = dict(tx.mark())
    if not tx.execute(sa.update(clocks).where(clocks.c.holder == holder).values(looked=now, **mark)).changed:
        for row in tx.execute(sa.select(clocks)):
            if not tx.lives(row):
                tx.execute(sa.delete(clocks).where(clocks.c.holder == row["holder"]))
        tx.execute(sa.insert(clocks).values(holder=holder, looked=now, **mark))
