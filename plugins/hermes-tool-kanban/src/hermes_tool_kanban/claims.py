"""Claims of tasks: made, kept alive, taken over from the dead, ended one way or another. Each is one transaction."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from attrs import evolve

from hermes_core.codec import clean
from hermes_core.database import READ, StoreBroker, TablesTransaction, made
from hermes_core.errors import UserError
from hermes_core.values import frozen
from hermes_tool_kanban import moving
from hermes_tool_kanban.schema import dispatchers, notices, runs, tasks
from hermes_tool_kanban.values import ALIVE, HAND, PERSON, Run, Task
from hermes_tool_kit.units import unit

__all__ = ["Claims", "Dispatching", "Ending", "Hands", "Notice"]

_CANDIDATES = 200  # tasks that are looked at for one claim
_LOST = 900.0  # seconds after which the claim of a dead one goes back, where nobody here can go on with it
_LIMITED = 300.0  # seconds that a task rests when its model has too many requests, which is no failure
_COOL = 60.0  # seconds that a task rests after a failure, for each of them in a row


@frozen(kw_only=True)
class Hands:
    """What a dispatcher has to offer: ``workers`` with how many tasks each may have at once, and for how many in all.

    An empty name is whoever is free: tasks without an assignee. ``place`` is this machine, ``profile`` whose sessions
    it has.
    """

    holder: str
    workers: Mapping[str, int]
    parallel: int
    place: str = ""
    profile: str = ""


@frozen(kw_only=True)
class Ending:
    """How a claim ended. ``limit`` is how many failures in a row are borne, ``again`` how many rejections or blocks.

    ``asks``: it may have done something that another attempt would do once more, so a person says whether there is one.
    """

    outcome: str
    summary: str = ""
    meta: Mapping[str, Any] | None = None
    error: str = ""
    outside: bool = False
    kind: str = ""
    worker: str = ""  # who it is handed to
    limit: int = 2
    again: int = 2
    asks: bool = False


@frozen(kw_only=True)
class Dispatching:
    """A dispatcher that lives, and when it last looked."""

    holder: str
    place: str = ""
    workers: str = ""
    pid: int = 0
    looked: float = 0.0


@frozen(kw_only=True)
class Notice:
    """Something that a target is to be told of a task."""

    id: str
    task: str
    person: str
    target: str
    text: str
    outside: bool = False


class Claims:
    """Who works on what."""

    def __init__(self, store: StoreBroker) -> None:
        self.store = store

    @unit()
    def tend(self, tx: TablesTransaction, hands: Hands) -> Sequence[Run]:
        """Keep own claims alive, and take over those of the dead; what is there to be played by this holder.

        What was scheduled until now, and what waits for nothing any more, can be claimed afterwards.
        """
        tx.alone("tasks")
        now, mark = tx.clock(), dict(tx.mark())
        mine = sa.and_(runs.c.holder == hands.holder, runs.c.state.in_(ALIVE))
        tx.execute(sa.update(runs).where(mine).values(heard=now, **mark))
        _look(tx, hands, now, mark)
        others = runs.c.holder.not_in((hands.holder, HAND))
        for row in tx.execute(sa.select(runs).where(runs.c.state.in_(ALIVE), others)):
            if tx.lives(row):
                continue
            here = row["state"] == "closing" or _reaches(row["worker"], hands, _placed(tx, row["task"]))
            if row["profile"] == hands.profile and here:
                taken = {"holder": hands.holder, "taken": row["taken"] + 1, **mark}
                tx.execute(sa.update(runs).where(runs.c.id == row["id"]).values(**taken))
            elif now - row["heard"] > _LOST:
                _give_back(tx, Run.of(row), now)
        due = sa.and_(tasks.c.status == "scheduled", tasks.c.due <= now)
        for task in moving.tasks_where(tx, due, limit=_CANDIDATES):
            moving.release(tx, task, "promoted", due=0.0)
        return [Run.of(row) for row in tx.execute(sa.select(runs).where(mine).order_by(runs.c.created))]

    @unit()
    def claim(self, tx: TablesTransaction, hands: Hands, busy: Collection[str] = (), most: int = 999) -> Sequence[Run]:
        """Claim what is ready, the most urgent first, as far as there are hands. Of two who do so each gets others.

        ``busy`` are claims that wait for a person, and so take up nobody's hands; ``most`` is how many are claimed.
        """
        tx.alone("tasks")
        now, mark = tx.clock(), dict(tx.mark())
        at_work: dict[str, int] = {}
        mine = sa.and_(runs.c.state.in_(ALIVE), runs.c.holder == hands.holder)  # the turn of one that closes runs yet
        for row in tx.execute(sa.select(runs).where(mine)):
            if row["id"] not in busy:
                at_work[row["worker"]] = at_work.get(row["worker"], 0) + 1
        room, claimed = min(most, hands.parallel - sum(at_work.values())), list[Run]()
        if room <= 0:
            return []
        free = sa.and_(tasks.c.run == "", tasks.c.due <= now)
        free = sa.and_(free, sa.or_(tasks.c.status == "ready", tasks.c.status == "review"))
        for task in _pages(tx, free):
            role = "work" if task.status == "ready" else "review"
            worker = task.assignee if role == "work" else task.options.reviewer
            if (role == "review" and worker in ("", PERSON)) or not _reaches(worker, hands, task.options.place):
                continue
            if at_work.get(worker, 0) >= hands.workers[worker]:
                continue
            run = Run(
                id=f"{task.id}/{task.claims + 1}", task=task.id, board=task.board, person=task.person, role=role,
                worker=worker, profile=hands.profile, holder=hands.holder, created=now, heard=now, **mark,
            )  # fmt: skip
            _taken(tx, task, run)
            at_work[worker] = at_work.get(worker, 0) + 1
            claimed.append(run)
            if len(claimed) >= room:
                break
        return claimed

    @unit()
    def take(self, tx: TablesTransaction, task: Task, worker: str) -> Task:
        """Claim a task by hand, for a person who works on it: nobody else does until they complete or release it.

        Raises UserError where somebody has it, or it cannot be worked on now.
        """
        tx.alone("tasks")
        now = moving.task_of(tx, task.id)
        if now.run:
            raise UserError(f"{now.assignee or 'Somebody'} works on {now.id}.", hint="Reclaim it first.")
        if now.status == "todo":
            raise UserError(f"{now.id} waits for {', '.join(moving.open_parents(tx, now.id))}.")
        if now.status != "ready":
            raise UserError(f"The task {now.id} is {now.status}: only what is ready can be claimed.")
        run = Run(id=f"{now.id}/{now.claims + 1}", task=now.id, board=now.board, person=now.person, worker=worker,
                  holder=HAND, created=tx.clock(), heard=tx.clock())  # fmt: skip
        return _taken(tx, now, run)

    @unit()
    def release(self, tx: TablesTransaction, task: Task) -> Task:
        """Give a task back that was claimed by hand. Raises UserError where it was not."""
        tx.alone("tasks")
        now = moving.task_of(tx, task.id)
        mine = sa.and_(runs.c.id == now.run, runs.c.holder == HAND)
        if not now.run or not tx.execute(sa.select(runs.c.id).where(mine)):
            who = f"{now.assignee or 'a worker'} works on it" if now.run else f"it is {now.status}"
            raise UserError(f"You have not claimed {now.id}: {who}.", hint="Reclaim takes it from a worker.")
        return moving.release(tx, moving.close_run(tx, now, "released"), "released", due=0.0)

    @unit(READ)
    def get(self, tx: TablesTransaction, run: str) -> Run | None:
        """Return a claim."""
        return _run(tx, runs.c.id == run)

    @unit(READ)
    def of_session(self, tx: TablesTransaction, session: str) -> tuple[Run, Task] | None:
        """Return the claim of a session whose turn is not over, with its task; None where there is none."""
        found = _run(tx, sa.and_(runs.c.session == session, runs.c.state.in_(ALIVE))) if session else None
        return (found, moving.task_of(tx, found.task)) if found else None

    @unit()
    def note(self, tx: TablesTransaction, /, run: str, **values: Any) -> Run | None:
        """Keep what is known of a claim: its session, its folder, what its worker says, that it was heard of."""
        said = {name: clean(value)[:2000] if isinstance(value, str) else value for name, value in values.items()}
        tx.execute(sa.update(runs).where(runs.c.id == run).values(heard=tx.clock(), **said))
        if "note" in said:
            tx.tell(moving.CHANGED)
        return _run(tx, runs.c.id == run)

    @unit()
    def end(self, tx: TablesTransaction, run: str, ending: Ending) -> Task | None:
        """End a claim, and let its task go where that leads; None where it ended before, or was taken away.

        Raises UserError for what may not be: then it goes on.
        """
        tx.alone("tasks")
        found = _run(tx, sa.and_(runs.c.id == run, runs.c.state == "open"))
        if found is None:
            return None
        task = moving.task_of(tx, found.task)
        said = {"summary": ending.summary, "error": ending.error, "outcome": ending.outcome}
        values: dict[str, Any] = {name: clean(text)[: moving.LONGEST] for name, text in said.items()}
        values |= {"meta": json.dumps(ending.meta, ensure_ascii=False) if ending.meta else ""}
        values |= {"state": "closing", "outside": int(ending.outside)}
        task = _led(tx, task, found, ending)
        tx.execute(sa.update(runs).where(runs.c.id == run).values(**values))
        moving.change(tx, task, run="")
        return task

    @unit()
    def over(self, tx: TablesTransaction, run: str) -> None:
        """Write down that the turn of a claim is over, too."""
        closing = sa.and_(runs.c.id == run, runs.c.state == "closing")
        tx.execute(sa.update(runs).where(closing).values(state="over", ended=tx.clock()))
        tx.tell(moving.CHANGED)

    @unit(READ)
    def waits(self, tx: TablesTransaction, hands: Hands, known: Collection[str]) -> bool:
        """Tell whether anything is to be done, without writing: ready tasks, a claim taken away, a notice owed."""
        now = tx.clock()
        ready = sa.and_(tasks.c.status.in_(("ready", "review", "scheduled")), tasks.c.due <= now, tasks.c.run == "")
        names = [name for name in hands.workers if len(known) < hands.parallel]
        mine = sa.or_(tasks.c.status != "ready", tasks.c.assignee.in_(names))
        if names and tx.execute(sa.select(tasks.c.id).where(ready, mine, tasks.c.status != "review").limit(1)):
            return True
        reviews = tx.execute(sa.select(tasks.c.id, tasks.c.options).where(ready, tasks.c.status == "review").limit(50))
        if names and any(json.loads(row["options"]).get("reviewer") in names for row in reviews):
            return True
        closing = sa.and_(runs.c.holder == hands.holder, runs.c.state == "closing", runs.c.outcome.in_(_TAKEN_AWAY))
        if tx.execute(sa.select(runs.c.id).where(closing).limit(1)):
            return True
        return bool(tx.execute(sa.select(notices.c.id).where(notices.c.state == "owed").limit(1)))

    @unit(READ)
    def owed(self, tx: TablesTransaction, limit: int = 50) -> Sequence[Notice]:
        """Return what somebody is to be told."""
        wanted = sa.select(notices).where(notices.c.state == "owed").order_by(notices.c.created).limit(limit)
        return [made(Notice, row, outside=bool(row["outside"])) for row in tx.execute(wanted)]

    @unit()
    def told(self, tx: TablesTransaction, notice: str, state: str) -> None:
        """Write down that somebody was told, or why they could not be."""
        tx.execute(sa.update(notices).where(notices.c.id == notice).values(state=clean(state)[:500]))

    @unit(READ)
    def dispatchers(self, tx: TablesTransaction) -> Sequence[Dispatching]:
        """Return the dispatchers that live."""
        return [made(Dispatching, row) for row in tx.execute(sa.select(dispatchers)) if tx.lives(row)]

    @unit()
    def leave(self, tx: TablesTransaction, holder: str) -> None:
        """Dispatch no longer; what is claimed can be taken over at once."""
        tx.execute(sa.delete(dispatchers).where(dispatchers.c.holder == holder))
        tx.execute(sa.update(runs).where(runs.c.holder == holder, runs.c.state.in_(ALIVE)).values(holder=""))


_TAKEN_AWAY = ("withdrawn", "reclaimed")


def _run(tx: TablesTransaction, where: sa.ColumnElement[bool]) -> Run | None:
    return next((Run.of(row) for row in tx.execute(sa.select(runs).where(where).limit(1))), None)


def _reaches(worker: str, hands: Hands, place: str) -> bool:
    return worker in hands.workers and place in ("", hands.place)


def _placed(tx: TablesTransaction, task: str) -> str:
    found = moving.tasks_where(tx, tasks.c.id == task)
    return found[0].options.place if found else ""


def _give_back(tx: TablesTransaction, run: Run, now: float) -> None:
    """Let a task be claimed again whose worker is dead, and which nobody here can go on with where it was."""
    if run.state == "closing":  # of another profile: only its turn was left to be ended
        tx.execute(sa.update(runs).where(runs.c.id == run.id).values(state="over", ended=now))
        return
    task = moving.task_of(tx, run.task)
    if task.run != run.id:
        return
    task = moving.close_run(tx, task, "reclaimed", "nobody who could go on with it was there for too long")
    if task.status == "running":
        moving.release(tx, task, "reclaimed", "its worker is gone")


def _pages(tx: TablesTransaction, where: sa.ColumnElement[bool]) -> Iterator[Task]:
    """Yield tasks some at a time, so that few are read where few can be claimed, and none is hidden by others.

    Those that were yielded may be claimed meanwhile, and do not come again.
    """
    seen: list[str] = []
    while page := moving.tasks_where(tx, where, tasks.c.id.not_in(seen), limit=_CANDIDATES):
        yield from page
        seen += [task.id for task in page]


def _taken(tx: TablesTransaction, task: Task, run: Run) -> Task:
    own = {name: getattr(run, name) for name in runs.c.keys()}  # noqa: SIM118 - columns
    tx.execute(sa.insert(runs).values(**{**own, "outside": 0}))
    values: dict[str, Any] = {"run": run.id, "claims": task.claims + 1}
    if run.role == "work":
        return moving.move(tx, task, "running", "claimed", run.worker, **values)
    task = moving.change(tx, task, **values)
    moving.happen(tx, task, "claimed", f"{run.worker} reviews it")
    return task


def _look(tx: TablesTransaction, hands: Hands, now: float, mark: Mapping[str, Any]) -> None:
    """Say that this dispatcher lives; forget those that do not."""
    values = {"looked": now, "workers": ", ".join(filter(None, hands.workers)), **mark}
    same = dispatchers.c.holder == hands.holder
    if not tx.execute(sa.update(dispatchers).where(same).values(**values)).changed:
        for row in tx.execute(sa.select(dispatchers)):
            if not tx.lives(row):
                tx.execute(sa.delete(dispatchers).where(dispatchers.c.holder == row["holder"]))
        tx.execute(sa.insert(dispatchers).values(holder=hands.holder, **values))


def _led(tx: TablesTransaction, task: Task, run: Run, ending: Ending) -> Task:
    """Let a task go where the end of its claim leads."""
    outcome, now = ending.outcome, tx.clock()
    if outcome == "completed":
        return _completed(tx, task, ending)
    if outcome == "approved":
        task = moving.move(tx, task, "done", "completed", task.result)
        moving.free_children(tx, task)
        return task
    if outcome == "rejected":
        if task.rejections + 1 > ending.again:
            why = f"it was rejected {task.rejections + 1} times, last: {ending.summary}"
            return moving.move(tx, task, "blocked", "blocked", why, error=why, kind="review",
                               rejections=task.rejections + 1)  # fmt: skip
        return moving.release(tx, task, "rejected", ending.summary, rejections=task.rejections + 1,
                              error=ending.summary)  # fmt: skip
    if outcome == "handed_off":
        return moving.release(tx, task, "handed_off", f"to {ending.worker}", assignee=ending.worker)
    if outcome == "blocked":
        return _blocked(tx, task, ending)
    if outcome == "limited":
        rests = {"error": ending.error, "due": now + _LIMITED}
        return (
            moving.release(tx, task, outcome, ending.error, **rests)
            if run.role == "work"
            else moving.change(tx, task, **rests)
        )
    if outcome == "stopped":
        return moving.move(tx, task, "blocked", "blocked", ending.error, error=ending.error, kind="person")
    failures = task.failures + 1
    if ending.asks:
        why = f"{ending.error}; what it did before may be done twice: say whether it begins anew"
        return moving.move(tx, task, "blocked", "blocked", why, error=why, kind="again", failures=failures)
    if failures >= ending.limit:
        why = f"{failures} attempts in a row failed, last: {ending.error}"
        return moving.move(tx, task, "blocked", "gave_up", why, error=why, kind="failures", failures=failures)
    rests = {"failures": failures, "error": ending.error, "due": now + _COOL * failures}
    if run.role == "review":
        task = moving.change(tx, task, **rests)
        moving.happen(tx, task, outcome, ending.error)
        return task
    return moving.release(tx, task, outcome, ending.error, **rests)


def _completed(tx: TablesTransaction, task: Task, ending: Ending) -> Task:
    if waits := moving.open_parents(tx, task.id):
        raise UserError(
            f"The task waits for {', '.join(waits)} by now, and cannot be done before these.",
            hint="Block it with kind dependency: it is taken up again afterwards.",
        )
    values = {"result": ending.summary, "result_outside": ending.outside, "failures": 0}
    if task.options.reviewer:
        return moving.move(tx, task, "review", "review", ending.summary, **values)
    task = moving.move(tx, task, "done", "completed", ending.summary, **values)
    moving.free_children(tx, task)
    return task


def _blocked(tx: TablesTransaction, task: Task, ending: Ending) -> Task:
    """What waits for other tasks is taken up after them; all else waits for a person, as does what does so again."""
    outside = task.result_outside or ending.outside
    if ending.kind == "dependency" and moving.open_parents(tx, task.id):
        return moving.move(tx, task, "todo", "waits", ending.summary, error=ending.summary, result_outside=outside)
    if ending.kind == "transient" and task.blocks < ending.again:
        due = tx.clock() + _COOL * 5
        return moving.release(tx, task, "transient", ending.summary, error=ending.summary, due=due,
                              blocks=task.blocks + 1, result_outside=outside)  # fmt: skip
    task = evolve(task, result_outside=outside)
    return moving.move(tx, task, "blocked", "blocked", ending.summary, error=ending.summary, kind=ending.kind,
                       blocks=task.blocks + 1)  # fmt: skip
