"""What a board holds: tasks, what became of each claim of one, and which ways a task may go."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import Factory, asdict

from hermes_core.errors import UserError
from hermes_core.values import frozen

__all__ = [
    "AGAIN", "ALIVE", "BLOCKS", "HAND", "MOVES", "PERSON", "STATUSES", "Attachment", "Board", "Comment", "Happening",
    "Options", "Run", "Task", "check_move",
]  # fmt: skip

STATUSES = ("triage", "todo", "scheduled", "ready", "running", "blocked", "review", "done", "archived")
BLOCKS = ("dependency", "needs_input", "capability", "transient")
AGAIN = ("ask", "once", "always")
ALIVE = ("open", "closing")  # of runs: it works, or has said how it ended and its turn is not over
PERSON = "person"  # who reviews where it is no agent
HAND = "by hand"  # who holds the claim of a person: no process, so it never dies

# Where a task may go from each status. Everything else is refused, whoever asks for it.
MOVES: Mapping[str, frozenset[str]] = {
    "triage": frozenset({"todo", "ready", "blocked", "archived"}),
    "todo": frozenset({"triage", "scheduled", "ready", "blocked", "done", "archived"}),
    "scheduled": frozenset({"triage", "todo", "ready", "blocked", "done", "archived"}),
    "ready": frozenset({"triage", "todo", "scheduled", "running", "blocked", "done", "archived"}),
    "running": frozenset({"todo", "ready", "blocked", "review", "done", "archived"}),
    "blocked": frozenset({"triage", "todo", "scheduled", "ready", "done", "archived"}),
    "review": frozenset({"todo", "ready", "blocked", "done", "archived"}),
    "done": frozenset({"todo", "ready", "archived"}),
    "archived": frozenset({"todo", "ready"}),
}


def check_move(task: "Task", status: str) -> None:
    """Refuse a way that a task may not go. Raises UserError."""
    if status not in MOVES[task.status]:
        ways = ", ".join(one for one in STATUSES if one in MOVES[task.status])
        raise UserError(f"The task {task.id} is {task.status}, and cannot become {status}.", hint=f"It can be: {ways}.")


@frozen(kw_only=True)
class Board:
    """A board of a person. ``folder`` is where its tasks work that name no other; ``current``: usually meant."""

    id: str
    person: str
    slug: str
    name: str = ""
    folder: str = ""
    current: bool = False
    archived: bool = False
    created: float = 0.0

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Board":
        """Return what a row says."""
        return cls(**{**row, "current": bool(row["current"]), "archived": bool(row["archived"])})


@frozen(kw_only=True)
class Options:
    """How a task is worked on.

    ``workspace`` is scratch, a new empty folder; folder, the one named in ``folder``; or worktree, a tree and a branch
    of its own of the repository there. ``seconds`` and ``calls`` bound one attempt, 0 as the settings have it.
    ``retries`` is how many attempts may fail in a row before a person is told. ``reviewer`` says yes to it before it is
    done: a worker, or ``person``. ``level`` is how many tasks stand above it, each made while the one above was done.
    ``grants`` are rules as in ``policy.allow``; only whose Hermes it is gives any. ``again`` says whether an attempt
    that broke off is followed by another: ``ask`` has a person say so where its process died and it had done something,
    ``once`` wherever it broke off, ``always`` never. ``tenant`` is for whom it is done, where a board serves several:
    who works on a task sees no task of another one.
    """

    workspace: str = "scratch"
    folder: str = ""
    place: str = ""  # the machine whose folder that is
    skills: Sequence[str] = ()
    model: str = ""
    effort: str = ""
    seconds: int = 0
    calls: int = 0
    retries: int = 0
    reviewer: str = ""
    grants: Sequence[str] = ()
    deliver: Sequence[str] = ()
    level: int = 0
    again: str = "ask"
    tenant: str = ""

    @classmethod
    def read(cls, text: str) -> "Options":
        """Return what a row keeps; what a later version added is left out."""
        said, known = json.loads(text or "{}"), set(asdict(_PLAIN))
        return cls(**{name: value for name, value in said.items() if name in known})


_PLAIN = Options()


@frozen(kw_only=True)
class Task:
    """Something to be done. ``number`` grows with each change, ``claims`` counts how often it was claimed.

    ``outside``: its words come from outside in part. ``run`` is the claim that stands now. ``due`` is when it may
    begin: what is scheduled, or rests after a failure. ``completed`` is not 0 once it was done, also when archived.
    """

    id: str
    board: str
    person: str
    title: str
    body: str = ""
    assignee: str = ""
    status: str = "todo"
    priority: int = 0
    maker: str = ""
    outside: bool = False
    options: Options = Factory(Options)
    mark: str = ""  # who makes it again under the same mark finds this one
    run: str = ""
    result: str = ""
    result_outside: bool = False
    error: str = ""
    kind: str = ""  # of what blocks it
    failures: int = 0
    blocks: int = 0
    rejections: int = 0
    claims: int = 0
    due: float = 0.0
    created: float = 0.0
    started: float = 0.0
    completed: float = 0.0
    number: int = 1

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Task":
        """Return what a row says."""
        flags = {name: bool(row[name]) for name in ("outside", "result_outside")}
        mark = "" if row["mark"] == row["id"] else row["mark"]
        return cls(**{**row, **flags, "mark": mark, "options": Options.read(row["options"])})

    def row(self) -> dict[str, Any]:
        """Return its row. A mark is unique on its board; who has none has its id there."""
        values = asdict(self, recurse=False)
        values["options"] = json.dumps(asdict(self.options), ensure_ascii=False)
        values |= {"outside": int(self.outside), "result_outside": int(self.result_outside)}
        return {**values, "mark": self.mark or self.id}


@frozen(kw_only=True)
class Run:
    """One claim of a task, and what became of it. ``id`` is the task and the number of its claim: there is one of each.

    ``role`` is work or review. ``state`` is open, closing (how it ended is known, its turn is not over) or over.
    ``profile`` is whose sessions it is worked on in, ``holder`` the dispatcher that plays it, ``taken`` how often
    another took it over; ``beat`` proves that it lives.
    """

    id: str
    task: str
    board: str
    person: str
    role: str = "work"
    worker: str = ""
    session: str = ""
    folder: str = ""
    state: str = "open"
    outcome: str = ""
    summary: str = ""
    meta: str = ""
    error: str = ""
    note: str = ""
    outside: bool = False
    nudges: int = 0
    taken: int = 0
    profile: str = ""
    holder: str = ""
    place: str = ""
    pid: int = 0
    beat: float = 0.0
    created: float = 0.0
    heard: float = 0.0
    ended: float = 0.0

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Run":
        """Return what a row says."""
        return cls(**{**row, "outside": bool(row["outside"])})


@frozen(kw_only=True)
class Comment:
    """A remark about a task. ``author`` is a person, or the worker who made it in a run."""

    id: str
    task: str
    person: str
    author: str
    text: str
    written: bool = False  # by a person
    outside: bool = False
    created: float = 0.0

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Comment":
        """Return what a row says."""
        return cls(**{**row, "written": bool(row["written"]), "outside": bool(row["outside"])})


@frozen(kw_only=True)
class Happening:
    """Something that happened to a task; numbers grow."""

    id: int
    board: str
    task: str
    person: str
    kind: str
    text: str
    at: float


@frozen(kw_only=True)
class Attachment:
    """A file of a task, without its bytes."""

    id: str
    task: str
    person: str
    name: str
    media: str
    size: int
    author: str
    outside: bool = False
    created: float = 0.0

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Attachment":
        """Return what a row says."""
        return cls(**{**row, "outside": bool(row["outside"])})
