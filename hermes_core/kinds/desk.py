"""What the kernel does for a platform.

A chat service hands in envelopes and is told what to send. A platform whose clients keep the conversations themselves
(an HTTP API, an editor) runs turns and looks into sessions through the same desk, in the name of the person it serves.
Persons are names; an empty one is the owner of this Hermes. What belongs to one person is not there for another.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from typing import TypeAlias

from hermes_core.types import (
    Choice,
    Envelope,
    Event,
    Hit,
    Job,
    Message,
    ModelRow,
    PastTurn,
    ProviderRow,
    Question,
    Session,
    SessionRow,
    SlashCommand,
    UsageRow,
    Verdict,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.control import SettingsBroker

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

    @abstractmethod
    async def search(self, words: str, person: str = "", *, limit: int = 20) -> Sequence[Hit]:
        """Messages that hold all the words, the best first."""


class Desk(ABC):
    """What the kernel tells a platform, and what a platform may ask of it. ``sessions`` are those of its persons."""

    sessions: SessionDesk

    @property
    @abstractmethod
    def settings(self) -> "SettingsBroker":
        """The settings of this Hermes. Needs ``settings.write``."""

    @property
    @abstractmethod
    def commands(self) -> Sequence[SlashCommand]:
        """The slash commands that work in a conversation, for completion and menus. The kernel runs them."""

    @abstractmethod
    def status(self, chat: str) -> Mapping[str, str]:
        """What to show about a chat: ``session``, ``title``, ``provider``, ``model``, ``cwd``, ``mode``, ``notice``.

        Who answers is empty before ``prepare``.
        """

    @abstractmethod
    async def prepare(self) -> None:
        """Find who answers and open the store: what every turn needs, and a first screen does not. Raises HermesError.

        A turn does so itself; a platform calls it when it wants to show who answers, or to be quick when it comes.
        """

    @abstractmethod
    async def open(self, chat: str, session: str) -> Session:
        """Let a chat go on in an earlier session. Raises UnknownName. Needs ``sessions.read``."""

    @abstractmethod
    async def complete(self, chat: str, line: str) -> Sequence[Choice]:
        """Ways to go on with a line that was typed up to the cursor: commands, what may follow them, ``@`` words."""

    @abstractmethod
    async def providers(self) -> Sequence[ProviderRow]:
        """The providers that are installed, in the order in which they are chosen. Needs ``turns.run``."""

    @abstractmethod
    async def models(self, provider: str = "") -> Sequence[ModelRow]:
        """The models of a provider, asked now; of the one that answers when none is named. Raises HermesError.

        Needs ``turns.run``.
        """

    @abstractmethod
    async def usage(self, *, person: str = "", days: int = 30) -> Sequence[UsageRow]:
        """What was used on each of the last days, by model and task. Needs ``sessions.read``."""

    @abstractmethod
    async def jobs(self, chat: str) -> Sequence[Job]:
        """What runs beside a chat: child agents, processes in the background. Needs ``sessions.read``."""

    @abstractmethod
    async def job_output(self, chat: str, job: str) -> str:
        """The last that one of them said. Needs ``sessions.read``."""

    @abstractmethod
    async def stop_job(self, chat: str, job: str) -> bool:
        """Stop one of them; False when it does not run any more. Needs ``turns.run``."""

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
    async def settle(self, question: str, verdict: Verdict, *, person: str = "") -> bool:
        """Answer one by its id; False when it was answered before. Needs ``turns.run``. Raises UnknownName."""

    @abstractmethod
    def toolsets(self) -> Mapping[str, Mapping[str, str]]:
        """The tools that are switched on: toolset -> tool -> what it does. Raises HermesError."""

    @abstractmethod
    async def ready(self) -> Mapping[str, str]:
        """What a turn needs, each ``ok`` or what is wrong with it: ``store``, ``model``."""
