"""Boards and the tasks on them, as people and models make and change them. Each method is one transaction."""

import secrets
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from attrs import evolve

from hermes_core.codec import clean
from hermes_core.database import READ, StoreBroker, TablesTransaction
from hermes_core.errors import UnknownName, UserError
from hermes_tool_kanban import moving
from hermes_tool_kanban.schema import boards, comments, contents, events, files, links, notices, runs, tasks
from hermes_tool_kanban.values import Attachment, Board, Comment, Happening, Run, Task
from hermes_tool_kit.units import unit

__all__ = ["Boards", "Tasks", "new_id"]


def new_id(prefix: str) -> str:
    """Return an id that nothing has."""
    return f"{prefix}_{secrets.token_hex(5)}"


class Boards:
    """The boards of everybody. A person has one from the first task on, called ``default``."""

    def __init__(self, store: StoreBroker) -> None:
        self.store = store

    @unit()
    def take(self, tx: TablesTransaction, person: str, slug: str = "") -> Board:
        """Return a board by its name, or the one that is usually meant, made where none was. Raises UnknownName."""
        tx.alone("tasks")
        there = _boards(tx, person)
        if slug:
            found = next((one for one in there if slug in (one.slug, one.id)), None)
            if found is None:
                raise UnknownName("board", slug, [one.slug for one in there])
            return found
        usual = next((one for one in there if one.current), None) or next(iter(there), None)
        return usual or _make(tx, Board(id="", person=person, slug="default", current=True))

    @unit(READ)
    def list(self, tx: TablesTransaction, person: str, *, archived: bool = False) -> Sequence[Board]:
        """Return the boards of somebody."""
        return _boards(tx, person, archived=archived)

    @unit()
    def create(self, tx: TablesTransaction, board: Board, *, switch: bool = False) -> Board:
        """Make a board. Raises UserError when its name is taken."""
        tx.alone("tasks")
        there = _boards(tx, board.person, archived=True)
        if any(one.slug == board.slug for one in there):
            raise UserError(f"There is a board {board.slug!r} by now.", hint="Give it another name.")
        made = _make(tx, evolve(board, current=not there))
        return _switch(tx, made) if switch else made

    @unit()
    def change(self, tx: TablesTransaction, /, board: Board, **values: Any) -> Board:
        """Keep what is new of a board: its name, its folder, whether it is archived."""
        tx.alone("tasks")
        if values.get("archived"):
            busy = sa.and_(tasks.c.board == board.id, tasks.c.status == "running")
            if tx.execute(sa.select(tasks.c.id).where(busy).limit(1)):
                raise UserError(f"Tasks of the board {board.slug} run.", hint="Archive or reclaim them first.")
            values["current"] = 0
        said = {name: clean(value) if isinstance(value, str) else int(value) for name, value in values.items()}
        tx.execute(sa.update(boards).where(boards.c.id == board.id).values(**said))
        return evolve(board, **values)

    @unit()
    def switch(self, tx: TablesTransaction, board: Board) -> Board:
        """Make a board the one that is meant where none is named. Raises UserError for one that is put away."""
        if board.archived:
            raise UserError(f"The board {board.slug} is put away: it is not the usual one.")
        return _switch(tx, board)

    @unit(READ)
    def state(self, tx: TablesTransaction, board: str) -> tuple[int, int]:
        """Return what is another as soon as any task of a board is: how many there are, and how often they changed."""
        whole = sa.select(sa.func.count().label("many"), sa.func.sum(tasks.c.number).label("changes"))
        row = tx.execute(whole.where(tasks.c.board == board))[0]
        return int(row["many"]), int(row["changes"] or 0)


class Tasks:
    """The tasks of everybody, their links, remarks, files and what happened to them."""

    def __init__(self, store: StoreBroker) -> None:
        self.store = store

    @unit()
    def add(
        self, tx: TablesTransaction, task: Task, parents: Sequence[str] = (), most: int = 5000
    ) -> tuple[Task, bool]:
        """Keep a new task below its parents; one that was made under the same mark is found instead, and said so.

        Raises UserError, UnknownName.
        """
        tx.alone("tasks")
        if task.mark:
            same = sa.and_(tasks.c.board == task.board, tasks.c.mark == clean(task.mark))
            if there := moving.tasks_where(tx, same):
                if there[0].options.tenant != task.options.tenant:
                    raise UserError(f"A task with the mark {task.mark[:80]!r} is done for somebody else.")
                return there[0], False
        _refuse_too_many(tx, task.board, most)
        for parent in parents:
            above = _whole(tx, parent, task.person)
            if above.board != task.board:
                raise UserError(f"{parent} is on another board.")
            _refuse_strange(above, task)
        made = _insert(tx, task, parents)
        return made, True

    @unit()
    def add_all(
        self, tx: TablesTransaction, made: Sequence[Task], below: Sequence[Sequence[int]], root: Task | None = None,
        most: int = 5000,
    ) -> Sequence[Task]:  # fmt: skip
        """Keep several tasks, each below others of them by their numbers; ``root`` waits for all of them then.

        Raises UserError where the root is not as it was: then none is made.
        """
        tx.alone("tasks")
        there = moving.task_of(tx, root.id) if root else None
        if root and there and there.number != root.number:
            raise UserError(f"The task {root.id} was changed a moment ago.", hint="Look at it, and say it again.")
        if there and there.status not in ("triage", "todo", "ready", "blocked"):
            raise UserError(f"The task {there.id} is {there.status}.")
        kept: list[Task] = []
        for task, parents in zip(made, below, strict=True):
            _refuse_too_many(tx, task.board, most)
            kept.append(_insert(tx, task, [kept[number].id for number in parents]))
        if there:
            for one in kept:
                _join(tx, one.id, there)
            if there.status != "todo":
                moving.move(tx, there, "todo", "decomposed", f"into {len(kept)}")
        return kept

    @unit(READ)
    def get(self, tx: TablesTransaction, task: str, person: str) -> Task:
        """Return a task of somebody's by its id, or the start of it. Raises UnknownName."""
        return _whole(tx, task, person)

    @unit(READ)
    def list(
        self, tx: TablesTransaction, board: str, *, status: str = "", assignee: str = "", archived: bool = False,
        tenant: str | None = None,
    ) -> Sequence[Task]:  # fmt: skip
        """Return the tasks of a board; only those of one ``tenant``, or where that is empty of none."""
        where = [tasks.c.board == board]
        if status:
            where.append(tasks.c.status == status)
        elif not archived:
            where.append(tasks.c.status != "archived")
        if assignee:
            where.append(tasks.c.assignee == assignee)
        found = moving.tasks_where(tx, *where)
        return found if tenant is None else [one for one in found if one.options.tenant == tenant]

    @unit(READ)
    def made_for(self, tx: TablesTransaction, task: str) -> int:
        """Return how many tasks were made by who worked on one."""
        mine = tasks.c.maker.endswith(f" of {task}", autoescape=True)
        return int(tx.execute(sa.select(sa.func.count().label("many")).where(mine))[0]["many"])

    @unit(READ)
    def in_triage(self, tx: TablesTransaction, limit: int) -> Sequence[Task]:
        """Return the most urgent tasks of everybody that somebody is to split up."""
        return moving.tasks_where(tx, tasks.c.status == "triage", limit=limit)

    @unit()
    def link(self, tx: TablesTransaction, parent: str, child: str, person: str) -> Task:
        """Have a task wait for another. Raises UserError for a circle, another board or tenant, and what is over."""
        tx.alone("tasks")
        above, below = _whole(tx, parent, person), _whole(tx, child, person)
        if above.board != below.board:
            raise UserError(f"{above.id} and {below.id} are on different boards.")
        _refuse_strange(above, below)
        if below.status in ("done", "archived"):
            raise UserError(f"The task {below.id} is {below.status}: it waits for nothing.")
        if above.id == below.id or below.id in moving.ancestors(tx, above.id):
            raise UserError(f"{above.id} waits for {below.id} itself: neither would ever begin.")
        _join(tx, above.id, below)
        if not above.completed and below.status in ("ready", "review"):
            below = moving.move(tx, moving.close_run(tx, below, "withdrawn"), "todo", "linked", f"waits for {above.id}")
        return below

    @unit()
    def unlink(self, tx: TablesTransaction, parent: str, child: str, person: str) -> Task:
        """Have a task wait for another no longer."""
        tx.alone("tasks")
        above, below = _whole(tx, parent, person), _whole(tx, child, person)
        gone = tx.execute(sa.delete(links).where(links.c.parent == above.id, links.c.child == below.id)).changed
        if not gone:
            raise UserError(f"{below.id} does not wait for {above.id}.")
        moving.happen(tx, below, "unlinked", f"from {above.id}")
        if below.status == "todo" and not moving.open_parents(tx, below.id):
            below = moving.move(tx, below, "ready", "promoted")
        return below

    @unit(READ)
    def family(self, tx: TablesTransaction, task: str) -> tuple[Sequence[Task], Sequence[Task]]:
        """Return what a task waits for, and what waits for it."""
        above = sa.select(links.c.parent).where(links.c.child == task)
        below = sa.select(links.c.child).where(links.c.parent == task)
        return moving.tasks_where(tx, tasks.c.id.in_(above)), moving.tasks_where(tx, tasks.c.id.in_(below))

    @unit(READ)
    def links(self, tx: TablesTransaction, board: str) -> Sequence[tuple[str, str]]:
        """Return all links of a board, parent and child."""
        return [(row["parent"], row["child"]) for row in tx.execute(sa.select(links).where(links.c.board == board))]

    @unit()
    def comment(self, tx: TablesTransaction, comment: Comment) -> Comment:
        """Keep a remark. Raises UnknownName."""
        task = _whole(tx, comment.task, comment.person)
        comment = evolve(comment, id=new_id("c"), task=task.id, created=tx.clock(), text=clean(comment.text))
        values = {name: getattr(comment, name) for name in comments.c.keys()}  # noqa: SIM118 - columns
        flags = {"written": int(comment.written), "outside": int(comment.outside)}
        tx.execute(sa.insert(comments).values(**{**values, **flags}))
        moving.happen(tx, task, "commented", f"by {comment.author}")
        return comment

    @unit(READ)
    def comments(self, tx: TablesTransaction, task: str, limit: int = 1000) -> Sequence[Comment]:
        """Return the last remarks about a task, oldest first."""
        wanted = sa.select(comments).where(comments.c.task == task).order_by(comments.c.created.desc(), comments.c.id)
        return [Comment.of(row) for row in reversed(tx.execute(wanted.limit(limit)))]

    @unit()
    def attach(self, tx: TablesTransaction, file: Attachment, data: bytes, most: int) -> Attachment:
        """Keep a file of a task. Raises UserError where there are too many."""
        tx.alone("tasks")
        task = _whole(tx, file.task, file.person)
        if len(tx.execute(sa.select(files.c.id).where(files.c.task == task.id))) >= most:
            raise UserError(f"The task {task.id} has {most} files: more it may not have.")
        file = evolve(file, id=new_id("a"), task=task.id, size=len(data), created=tx.clock())
        values = {name: getattr(file, name) for name in files.c.keys()}  # noqa: SIM118 - columns
        tx.execute(sa.insert(files).values(**{**values, "outside": int(file.outside)}))
        tx.execute(sa.insert(contents).values(id=file.id, person=file.person, data=data))
        moving.happen(tx, task, "attached", file.name)
        return file

    @unit(READ)
    def files(self, tx: TablesTransaction, task: str) -> Sequence[Attachment]:
        """Return the files of a task."""
        wanted = sa.select(files).where(files.c.task == task).order_by(files.c.created, files.c.id)
        return [Attachment.of(row) for row in tx.execute(wanted)]

    @unit(READ)
    def data(self, tx: TablesTransaction, file: str) -> bytes:
        """Return the bytes of a file. Raises UnknownName."""
        found = tx.execute(sa.select(contents.c.data).where(contents.c.id == file))
        if not found:
            raise UnknownName("file", file, ())
        return bytes(found[0]["data"])

    @unit()
    def happened(self, tx: TablesTransaction, task: Task, kind: str, text: str) -> None:
        """Write down that something happened to a task, which stays where it is."""
        moving.happen(tx, task, kind, text)

    @unit(READ)
    def events(
        self, tx: TablesTransaction, *, board: str = "", task: str = "", after: int = 0, limit: int = 200
    ) -> Sequence[Happening]:
        """Return what happened, the last of it, oldest first; with ``after`` what came since."""
        where = [events.c.id > after]
        where += [events.c.board == board] if board else []
        where += [events.c.task == task] if task else []
        wanted = sa.select(events).where(*where).order_by(events.c.id.desc()).limit(limit)
        return [Happening(**row) for row in reversed(tx.execute(wanted))]

    @unit(READ)
    def told(self, tx: TablesTransaction, since: float, most: int) -> Sequence[Happening]:
        """Return what people want to know of all boards since an instant, oldest first."""
        wanted = sa.select(events).where(events.c.kind.in_(sorted(moving.TOLD)), events.c.at >= since)
        return [Happening(**row) for row in tx.execute(wanted.order_by(events.c.id).limit(most))]

    @unit(READ)
    def runs(self, tx: TablesTransaction, task: str = "", board: str = "", limit: int = 100) -> Sequence[Run]:
        """Return the claims of a task or a board, newest first."""
        where = [runs.c.task == task] if task else [runs.c.board == board]
        wanted = sa.select(runs).where(*where).order_by(runs.c.created.desc(), runs.c.id.desc()).limit(limit)
        return [Run.of(row) for row in tx.execute(wanted)]

    @unit()
    def sweep(self, tx: TablesTransaction, person: str, before: float) -> Sequence[Task]:
        """Forget tasks that were archived before an instant, with all that belongs to them; which those were."""
        tx.alone("tasks")
        last = sa.select(sa.func.max(events.c.at)).where(events.c.task == tasks.c.id).scalar_subquery()
        gone = moving.tasks_where(tx, tasks.c.person == person, tasks.c.status == "archived", last < before)
        alive = {row["task"] for row in tx.execute(sa.select(runs.c.task).where(runs.c.state != "over"))}
        gone = [one for one in gone if one.id not in alive]
        for task in gone:
            mine = sa.select(files.c.id).where(files.c.task == task.id)
            tx.execute(sa.delete(contents).where(contents.c.id.in_(mine)))
            for table in (files, comments, runs, events, notices):
                tx.execute(sa.delete(table).where(table.c.task == task.id))
            tx.execute(sa.delete(links).where(sa.or_(links.c.parent == task.id, links.c.child == task.id)))
            tx.execute(sa.delete(tasks).where(tasks.c.id == task.id))
        return gone


def _whole(tx: TablesTransaction, words: str, person: str) -> Task:
    """Return a task of somebody's by its id, or the only one that begins so."""
    words = clean(words.strip())
    if words:
        whose = tasks.c.person == person
        found = moving.tasks_where(tx, whose, tasks.c.id == words)
        found = found or moving.tasks_where(tx, whose, tasks.c.id.startswith(words, autoescape=True), limit=2)
        if len(found) == 1:
            return found[0]
    raise UnknownName("task", words, ())


def _refuse_strange(above: Task, below: Task) -> None:
    """Refuse that a task waits for one of another tenant: who works on it is told what that came to."""
    if above.options.tenant != below.options.tenant:
        ours, theirs = above.options.tenant or "no tenant", below.options.tenant or "no tenant"
        raise UserError(f"{above.id} is done for {ours}, and what is done for {theirs} does not wait for it.")


def _refuse_too_many(tx: TablesTransaction, board: str, most: int) -> None:
    there = tx.execute(sa.select(sa.func.count().label("many")).where(tasks.c.board == board))
    if int(there[0]["many"]) >= most:
        raise UserError(
            f"The board has {most} tasks, and more it may not have (kanban.tasks).", hint="hermes kanban gc"
        )


def _insert(tx: TablesTransaction, task: Task, parents: Sequence[str]) -> Task:
    task = evolve(task, id=new_id("t"), created=tx.clock(), title=clean(task.title), body=clean(task.body))
    tx.execute(sa.insert(tasks).values(**task.row()))
    moving.happen(tx, task, "created", f"by {task.maker}")
    for parent in dict.fromkeys(parents):
        tx.execute(sa.insert(links).values(parent=parent, child=task.id, board=task.board, person=task.person))
    if task.status == "todo" and not moving.open_parents(tx, task.id):
        task = moving.move(tx, task, "ready", "promoted")
    return task


def _join(tx: TablesTransaction, parent: str, child: Task) -> None:
    same = sa.and_(links.c.parent == parent, links.c.child == child.id)
    if not tx.execute(sa.select(links).where(same)):
        tx.execute(sa.insert(links).values(parent=parent, child=child.id, board=child.board, person=child.person))
        moving.happen(tx, child, "linked", f"waits for {parent}")


def _boards(tx: TablesTransaction, person: str, *, archived: bool = False) -> list[Board]:
    wanted = sa.select(boards).where(boards.c.person == clean(person)).order_by(boards.c.created, boards.c.id)
    there = [Board.of(row) for row in tx.execute(wanted)]
    return [one for one in there if archived or not one.archived]


def _make(tx: TablesTransaction, board: Board) -> Board:
    board = evolve(board, id=new_id("b"), created=tx.clock(), name=clean(board.name), folder=clean(board.folder))
    values = {name: getattr(board, name) for name in boards.c.keys()}  # noqa: SIM118 - columns
    tx.execute(sa.insert(boards).values(**{**values, "current": int(board.current), "archived": 0}))
    tx.tell(moving.CHANGED)
    return board


def _switch(tx: TablesTransaction, board: Board) -> Board:
    tx.execute(sa.update(boards).where(boards.c.person == board.person).values(current=0))
    tx.execute(sa.update(boards).where(boards.c.id == board.id).values(current=1))
    return evolve(board, current=True)
