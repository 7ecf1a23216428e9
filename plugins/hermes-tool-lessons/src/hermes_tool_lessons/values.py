"""What is learned: a lesson, what happened, and a review that waits."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from hermes_core.types import Principal
from hermes_core.values import frozen

__all__ = [
    "LIVE",
    "LONGEST",
    "QUOTED",
    "REPLAY",
    "REPLAYS",
    "SAYS_NOTHING",
    "TRIGGER",
    "WEEKS",
    "Draft",
    "Event",
    "Lesson",
    "Review",
    "Scope",
    "State",
    "Version",
    "facts_of",
    "lesson_id",
    "lesson_of",
    "replay_id",
]  # fmt: skip

QUOTED = "what was learned"  # what a message of ours says that it quotes: no person wrote it
LONGEST, TRIGGER = 400, 160  # characters of a lesson, and of what calls for it
REPLAY = "what was solved is done again with it first"  # why a lesson waits that no person has to judge
REPLAYS = "replay:"
WEEKS = "week:"  # before the names of rows that are summaries of weeks
SAYS_NOTHING = "nothing"  # what is kept of an old task that says nothing of a lesson
State: TypeAlias = Literal["candidate", "trial", "active", "retired"]
Scope: TypeAlias = Literal["person", "project", "chat", "everybody"]
LIVE: Sequence[State] = ("trial", "active")  # what is told


@frozen(kw_only=True)
class Draft:
    """A lesson that somebody proposes. ``sources`` are the events that taught it; without one it is a person's."""

    trigger: str
    text: str
    sources: Sequence[str] = ()
    scope: Scope = "person"
    place: str = ""
    session: str = ""
    tainted: bool = False
    replaces: str = ""


@frozen(kw_only=True)
class Lesson:
    """One thing that was learned: when ``trigger``, then ``text``.

    ``place`` is the folder or chat that it holds in, where its ``scope`` is one. ``tainted``: text from outside was in
    the conversation that it came of. ``asks`` says why only a person may let it in. ``offered`` counts the turns it was
    told in, ``uses`` those in which it was followed and it is known what came of it, ``wins`` those that went well;
    ``recent`` has the last of them, oldest first. ``held`` counts the turns that called for it and were told nothing,
    to compare, ``held_won`` those that went well. ``last`` is when it was told last.
    """

    id: str
    profile: str
    person: str
    trigger: str
    text: str
    state: State
    scope: Scope = "person"
    place: str = ""
    asks: str = ""
    sources: Sequence[str] = ()
    session: str = ""
    replaces: str = ""
    why: str = ""
    recent: str = ""
    tainted: bool = False
    pinned: bool = False
    version: int = 1
    rev: int = 0
    offered: int = 0
    uses: int = 0
    wins: int = 0
    held: int = 0
    held_won: int = 0
    created: float = 0.0
    changed: float = 0.0
    last: float = 0.0

    @property
    def owner(self) -> Principal:
        """Whose it is."""
        return Principal(profile=self.profile, person=self.person)

    @property
    def line(self) -> str:
        """Say it as a model is told."""
        return f"[{self.id}] {f'When {self.trigger}: ' if self.trigger else ''}{self.text}"


@frozen(kw_only=True)
class Version:
    """What a lesson was after one change, who made that, and why. ``content`` is JSON, as it was written then."""

    lesson: str
    number: int
    rev: int
    content: str
    why: str
    author: str
    at: float


@frozen(kw_only=True)
class Event:
    """Something that happened in a turn. ``value`` is 1 for good and 0 for bad, where it says which."""

    id: str
    kind: str
    session: str = ""
    turn: str = ""
    lesson: str = ""
    text: str = ""
    value: float = 0.0
    at: float = 0.0


@frozen(kw_only=True)
class Review:
    """A look at a conversation that waits, or was made. ``asked``: a person wants it, whatever the budget says."""

    id: str
    profile: str
    person: str
    session: str
    reason: str
    state: Literal["due", "done", "failed"]
    number: int = 1
    fork: str = ""
    why: str = ""
    tokens: int = 0
    found: int = 0
    asked: bool = False
    due: float = 0.0
    created: float = 0.0
    ended: float = 0.0
    money: float = 0.0

    @property
    def owner(self) -> Principal:
        """Whose it is."""
        return Principal(profile=self.profile, person=self.person)


def lesson_id(owner: Principal, scope: str, place: str, trigger: str, text: str) -> str:
    """Return the name of a lesson: that of the same words of the same person is the same."""
    said = "\0".join((owner.profile, owner.person, scope, place, *(" ".join(x.split()) for x in (trigger, text))))
    return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()[:10]


def facts_of(event: Event) -> Mapping[str, Any]:
    """Return what is known of a turn."""
    told: Any = json.loads(event.text or "{}")
    return told if isinstance(told, dict) else {}


def replay_id(lesson: Lesson) -> str:
    """Return the name of the replay of a lesson, among the reviews that wait."""
    return f"{REPLAYS}{lesson.id}:{lesson.version}"


def lesson_of(review: Review) -> str:
    """Return the lesson that a replay is of; empty for a review."""
    return review.id.removeprefix(REPLAYS).partition(":")[0] if review.id.startswith(REPLAYS) else ""
