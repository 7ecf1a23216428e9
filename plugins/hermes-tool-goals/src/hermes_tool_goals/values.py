"""What a goal is, what its rounds came to, and the evidence that was found."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Literal

from attrs import Factory

from hermes_core.types import JSON
from hermes_core.values import frozen

__all__ = ["LIVE", "QUOTED", "Check", "Evidence", "Goal", "Round", "check_event", "digest", "round_event", "tag"]

QUOTED = "the goal"  # what a message of ours says that it quotes: no person wrote it
LIVE = ("active", "paused")  # a session has one goal that is either


@frozen(kw_only=True)
class Check:
    """What must hold: a ``command`` that ends with 0, a ``file`` that is there, or what a judge is to ``ask``."""

    kind: Literal["command", "file", "ask"]
    what: str


@frozen(kw_only=True)
class Goal:
    """Something that a session is to reach, or, with an ``interval``, a prompt that is repeated in it.

    ``state`` is active, paused, done, cleared or ended (a loop that is over). ``phase`` says what comes next while it
    is active: ``turn`` (the turn of ``round`` is ordered, or to be), or ``check`` (it is over, and looked at). ``why``
    says how it stands in words, and ``left`` what is not done. ``until`` is the condition of a loop. ``turns``,
    ``money`` and ``seconds`` bound one stretch, from when it was set or resumed; 0 is no bound, and ``used_…`` what the
    stretch used. ``version`` grows with each edit, ``failures`` and ``garbage`` count turns that failed and replies of
    the judge that could not be used, each in a row. ``at`` is when it goes on at the earliest. ``owed``: the person is
    to be told how it stands, in the ``report`` of this number. ``door`` is where it was set: a terminal, chat,
    api or command, and ``chat`` the address of that chat.
    """

    id: str
    profile: str
    person: str
    session: str
    text: str
    checks: Sequence[Check] = ()
    state: str = "active"
    phase: str = "turn"
    why: str = ""
    left: str = ""
    until: str = ""
    interval: float = 0.0
    folder: str = ""
    door: str = ""
    chat: str = ""
    round: int = 1
    version: int = 1
    turns: int = 20
    money: float = 0.0
    seconds: float = 0.0
    used_turns: int = 0
    used_money: float = 0.0
    used_seconds: float = 0.0
    failures: int = 0
    garbage: int = 0
    at: float = 0.0
    owed: int = 0
    reports: int = 0
    report: str = ""
    speaker: Mapping[str, JSON] | None = None
    bounds: Mapping[str, JSON] | None = None
    created: float = 0.0
    changed: float = 0.0

    @property
    def is_loop(self) -> bool:
        """Whether it is a prompt that is repeated."""
        return self.interval > 0

    @property
    def asks(self) -> bool:
        """Whether a judge is asked: for a question of the contract, a loop's condition, or as there is no contract."""
        if self.is_loop:
            return bool(self.until) or any(one.kind == "ask" for one in self.checks)
        return not self.checks or any(one.kind == "ask" for one in self.checks)

    @property
    def ends(self) -> bool:
        """Whether anything but its budget can end it."""
        return not self.is_loop or bool(self.checks) or bool(self.until)


@frozen(kw_only=True)
class Evidence:
    """What one look at the truth found. ``output`` are the last lines; ``outside``: they come from outside in part."""

    goal: str
    round: int
    number: int
    kind: str
    what: str
    passed: bool
    status: str
    output: str = ""
    at: float = 0.0
    seconds: float = 0.0
    outside: bool = False
    session: str = ""


@frozen(kw_only=True)
class Round:
    """One turn of a goal, and what came of it. ``said`` is what begins it, planned before it is ordered.

    ``proof``, ``acts`` and ``files`` stand for what failed how, what was done, and how the folder looked: equal ones
    in a row are how a goal is known to be stuck.
    """

    goal: str
    number: int
    said: str = ""
    outside: bool = False
    turn: str = ""
    answer: str = ""
    verdict: str = ""
    why: str = ""
    left: str = ""
    proof: str = ""
    acts: str = ""
    files: str = ""
    money: float = 0.0
    seconds: float = 0.0
    created: float = 0.0
    ended: float = 0.0
    evidence: Sequence[Evidence] = Factory(tuple)


def round_event(goal: str, number: int) -> str:
    """Return the name under which the turn of a round is ordered, once."""
    return f"{goal}/{number}"


def check_event(goal: str, round_number: int, number: int, what: str) -> str:
    """Return the name under which a command of a contract is run for a round, once: another one is run, too."""
    return f"{goal}/{round_number}/check/{number}/{digest(what)}"


def tag(goal: Goal) -> str:
    """Return what a message carries that says the goal as it is now: by it one knows whether a model was told."""
    return f"[goal {goal.id}.{goal.version}]"


def digest(text: str) -> str:
    """Return a short name for a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16] if text else ""
