"""What the kernel does for a platform.

A chat service hands in envelopes and is told what to send. A platform whose clients keep the conversations themselves
(an HTTP API, an editor) runs turns and looks into sessions through the same desk, in the name of the person it serves.
Persons are names; an empty one is the owner of this Hermes. What belongs to one person is not there for another.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from typing import TypeAlias

from hermes_core.types import Envelope, Event, Message, PastTurn, Question, Session, SessionRow, SlashCommand, Verdict

__all__ = ["AskPerson", "Desk", "SessionDesk"]

AskPerson: TypeAlias = Callable[[Question], Awaitable[Verdict | None]]


class SessionDesk(ABC):
    """The sessions of each person. Reading needs ``sessions.read``, changing ``sessions.write``.

    Every method raises UnknownName for a session that is not there, or not that person's.
    """

    @abstractmethod
    async def list(self, person: str = "", *, limit: int = 20) -> Sequence[SessionRow]:
        """The sessions last used, newest first; not those of child agents."""

    @abstractmethod
    async def get(self, session: str, person: str = "") -> Session:
        """One session."""

    @abstractmethod
    async def create(self, person: str = "", *, session: str = "", title: str = "", system: str = "") -> Session:
        """A new session, stored; ``system`` is added to its prompt. Raises UserError when id or title is taken."""

    @abstractmethod
    async def rename(self, session: str, title: str, person: str = "") -> Session:
        """Give it another title. Raises UserError when another one has it."""

    @abstractmethod
    async def delete(self, session: str, person: str = "") -> None:
        """Delete it with all it holds. Raises UserError while a turn runs in it."""

    @abstractmethod
    async def fork(self, session: str, person: str = "", *, upto: str = "", title: str = "") -> Session:
        """A new session with the same prompt and history, until the end of the turn ``upto`` when that is given."""

    @abstractmethod
    async def messages(
        self, session: str, person: str = "", *, around: int = 0, window: int = 10
    ) -> Sequence[tuple[int, Message]]:
        """Messages with their numbers: ``window`` on each side of message ``around``, or the last ones when it is 0."""


class Desk(ABC):
    """What the kernel tells a platform, and what a platform may ask of it. ``sessions`` are those of its persons."""

    sessions: SessionDesk

    @property
    @abstractmethod
    def commands(self) -> Sequence[SlashCommand]:
        """The slash commands that work in a conversation, for completion and menus. The kernel runs them."""

    @abstractmethod
    def status(self, chat: str) -> Mapping[str, str]:
        """What to show about a chat: ``session``, ``title``, ``provider``, ``model``, ``cwd``, ``mode``, ``notice``."""

    @abstractmethod
    async def interrupt(self, chat: str) -> bool:
        """Stop the running turn of a chat; False when none runs."""

    @abstractmethod
    def turn(
        self,
        envelope: Envelope,
        *,
        person: str = "",
        session: str = "",
        history: Sequence[Message] = (),
        system: str = "",
        model: str = "",
        ask: AskPerson | None = None,
        stored: Callable[[], Awaitable[None]] | None = None,
    ) -> AsyncGenerator[Event, None]:
        """Answer a message; yields events, an Ended last. Closing it interrupts the turn. Needs ``turns.run``.

        Without ``session`` it plays where ``history`` was said: in the session of that person that ended with exactly
        this, else in a new one that begins with it. ``system`` becomes part of a new session's prompt, once; a session
        that has another prompt hears it with the message. ``model`` (or ``provider:model``) answers this turn.
        ``ask`` puts questions to the person; without it nobody is there, and what needs a yes is refused. ``stored``
        is called when the message has its row. An event that came before is not played: see ``past``.
        """

    @abstractmethod
    def resume(self, session: str, *, person: str = "", ask: AskPerson | None = None) -> AsyncGenerator[Event, None]:
        """Finish the turn that a dead process left open; yields as ``turn`` does, or nothing. Needs ``turns.run``."""

    @abstractmethod
    async def past(self, event_id: str, *, person: str = "") -> PastTurn | None:
        """What became of a message of this platform and person; None when none came. Needs ``sessions.read``."""

    @abstractmethod
    async def forget(self, event_id: str, *, person: str = "") -> bool:
        """Forget that it came; what was said stays in its session. False when none came. Needs ``sessions.write``.

        Raises UserError while its turn runs.
        """

    @abstractmethod
    async def questions(self, *, person: str = "") -> Sequence[tuple[str, Question]]:
        """The questions that wait for a yes, newest first, each with its session. Needs ``sessions.read``."""

    @abstractmethod
    async def settle(self, question: str, verdict: Verdict, *, person: str = "") -> bool:
        """Answer one by its id; False when it was answered before. Needs ``turns.run``. Raises UnknownName."""

    @abstractmethod
    def toolsets(self) -> Mapping[str, Mapping[str, str]]:
        """The tools that are switched on: toolset -> tool -> what it does. Raises HermesError."""

    @abstractmethod
    async def ready(self) -> Mapping[str, str]:
        """What a turn needs, each ``ok`` or what is wrong with it: ``store``, ``model``."""
