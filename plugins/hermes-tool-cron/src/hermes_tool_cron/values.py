"""What a job is, and what became of one of its instants."""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import Factory

from hermes_core.values import frozen

__all__ = ["OPEN", "OVER", "Job", "Options", "Run"]

OPEN = ("due", "script", "agent")  # it is to be run, or runs
OVER = ("done", "silent", "failed", "interrupted", "refused", "missed", "coalesced", "skipped")


@frozen(kw_only=True)
class Options:
    """How a job runs, and where what comes of it goes.

    ``deliver`` are targets, as ``ctx.messages`` knows them; none, or ``local``, is the history alone. ``script`` is a
    command for the tool ``terminal``; with ``no_agent`` what it prints is all there is, else it is told to the model,
    and its last line may say that there is nothing to do. ``context`` are jobs whose last answers are told, too.
    ``tools`` are toolsets, None for all that its person has. ``mode`` bounds the mode it runs in, ``grants`` are rules
    as in ``policy.allow``. ``repeat`` is how often it runs at most, ``jitter`` by how many seconds it may be later, and
    ``grace`` how late an instant still counts, in seconds; 0 leaves that to its period. With ``thread`` an answer to
    what it told goes on in the session of that run.
    """

    deliver: Sequence[str] = ()
    skills: Sequence[str] = ()
    context: Sequence[str] = ()
    tools: Sequence[str] | None = None
    folder: str = ""
    model: str = ""
    effort: str = ""
    script: str = ""
    no_agent: bool = False
    thread: bool = False
    mode: str = "ask"
    grants: Sequence[str] = ()
    calls: int = 0
    money: float = 0.0
    repeat: int = 0
    jitter: int = 0
    grace: int = 0


@frozen(kw_only=True)
class Job:
    """Something that is done at its times for a ``person``.

    ``state`` is active, paused, done (no instant is left) or proposed. ``due`` is its next instant and ``at`` when it
    is looked at, later by its jitter; ``anchor`` is what delays and periods count from. ``number`` grows with each
    change, and ``fired`` counts what was run.
    """

    id: str
    person: str
    name: str
    schedule: str
    zone: str
    prompt: str = ""
    options: Options = Factory(Options)
    state: str = "active"
    why: str = ""
    created: float = 0.0
    anchor: float = 0.0
    due: float = 0.0
    at: float = 0.0
    number: int = 1
    fired: int = 0


@frozen(kw_only=True)
class Run:
    """One instant of a job, or one that a person asked for. ``id`` is the job and its instant: there is one of each.

    ``state`` is due, script or agent while it is to be done, else how it ended, and ``why`` says it in words.
    ``answer`` is what its model said, and ``shown`` what plugins let out of that, where whoever played it knows.
    ``delivery`` is empty where nobody is to be told, ``owed``, ``sent``, or why it could not be. ``outside``: what it
    says comes from outside in part.
    """

    id: str
    job: str
    name: str = ""
    person: str
    due: float
    state: str
    why: str = ""
    session: str = ""
    created: float = 0.0
    started: float = 0.0
    ended: float = 0.0
    said: str = ""
    answer: str = ""
    shown: str = ""
    outside: bool = False
    delivery: str = ""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Run":
        """Return what a row says."""
        return cls(**{**row, "outside": bool(row["outside"])})
