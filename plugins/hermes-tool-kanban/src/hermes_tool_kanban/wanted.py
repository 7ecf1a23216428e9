"""What a model says when it calls the tools of boards."""

from typing import Any, Literal

from attrs import Factory, field

from hermes_core.values import frozen

__all__ = [
    "Answer",
    "Blocking",
    "Completing",
    "File",
    "Handing",
    "Linking",
    "Listing",
    "New",
    "Note",
    "Reading",
    "Remark",
    "Reviewing",
    "Which",
]


def _help(text: str, default: Any = "") -> Any:
    return field(default=default, metadata={"help": text})


@frozen(kw_only=True)
class Which:
    """One task."""

    task: str = _help("its id; without, yours")


@frozen(kw_only=True)
class Listing:
    """Which tasks."""

    status: str = ""
    assignee: str = ""
    board: str = ""
    tenant: str = ""


@frozen(kw_only=True)
class Completing:
    """How it was done."""

    summary: str = field(metadata={"help": "what you did, where it lies, what is left"})
    metadata: dict[str, Any] | None = _help("facts for who goes on, such as paths and numbers", None)
    created: list[str] = _help("ids of tasks you made for it", Factory(list))


@frozen(kw_only=True)
class Blocking:
    """Why it cannot be done now."""

    reason: str
    kind: Literal["dependency", "needs_input", "capability", "transient"] = "needs_input"


@frozen(kw_only=True)
class Handing:
    """Who goes on."""

    assignee: str
    note: str


@frozen(kw_only=True)
class Reviewing:
    """What you think of it."""

    verdict: Literal["approve", "reject"]
    reason: str = ""


@frozen(kw_only=True)
class Note:
    """How far it is."""

    note: str = ""


@frozen(kw_only=True)
class Remark:
    """Something to remark."""

    text: str
    task: str = _help("its id; without, yours")


@frozen(kw_only=True)
class New:
    """A new task."""

    title: str
    body: str = _help("complete: who does it knows nothing else")
    assignee: str = ""
    parents: list[str] = _help("ids of tasks to wait for", Factory(list))
    board: str = ""
    priority: int = 0
    reviewer: str = _help("a worker, or person")
    skills: list[str] = Factory(list)
    seconds: int = _help("the longest it may take", 0)
    mark: str = _help("the same mark makes it only once")
    tenant: str = _help("for whom it is done")
    triage: bool = _help("a person or a planner looks at it first", default=False)


@frozen(kw_only=True)
class Linking:
    """Which waits for which."""

    parent: str = field(metadata={"help": "done first"})
    child: str = _help("waits; without, yours")


@frozen(kw_only=True)
class Answer:
    """What lets it go on."""

    task: str
    text: str = _help("the answer to what it asked")


@frozen(kw_only=True)
class File:
    """A file to keep."""

    name: str
    content: str
    base64: bool = False
    task: str = _help("its id; without, yours")


@frozen(kw_only=True)
class Reading:
    """Which files."""

    task: str = _help("its id; without, yours")
    file: str = _help("an id: then it is opened")
