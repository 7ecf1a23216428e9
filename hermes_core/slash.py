"""Slash commands as whoever serves people has them: a terminal, chats, an API. The kernel finds, checks and runs them.

``ctx.slash`` gives them. A host says of each of its conversations what only it knows, as a ``HostSide``.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from hermes_core.errors import UserError
from hermes_core.permissions import needs
from hermes_core.types import Choice, Envelope, Message, Session, SlashCommand, Speaker, Wall

if TYPE_CHECKING:
    from hermes_core.kinds import Conversation
    from hermes_core.kinds.console import AskPerson

__all__ = [
    "QUEUED",
    "STEERED",
    "HostSide",
    "Place",
    "Role",
    "SlashBroker",
    "SlashCommands",
    "may_use",
    "named",
    "usable",
]

Role: TypeAlias = Literal["admin", "user"]
Place: TypeAlias = Literal["terminal", "chat", "api"]
QUEUED = "Queued: it has its turn when this one ends. /steer says it now, /stop ends the turn."
STEERED = "Passed on: the model sees it with the next result, or as the next message."


class HostSide(ABC):
    """What a host knows of one conversation, and does in it. What a person may do is asked before, by the kernel.

    ``speaker`` is who the person is, where that may be another than the owner of the session.
    ``busy`` is what becomes here of a message that comes during a turn, empty where nobody chose; ``last`` the last
    message of the person, None where the history says it; ``event`` names the message that is seen to, where it is
    stored. ``chosen`` is what was chosen for this conversation alone (``model``, ``effort``), and None where its
    people choose for the whole process: then ``once`` is who answers the next message, if somebody was named.
    """

    place: Place = "terminal"
    role: Role = "admin"
    speaker: Speaker | None = None
    envelope: Envelope | None = None
    last: Message | None = None
    event: str = ""
    busy: str = ""
    once: str = ""
    chosen: Mapping[str, str] | None = None

    @property
    @abstractmethod
    def who(self) -> str:
        """Who the person is here, in words."""

    def offered(self, commands: dict[str, SlashCommand]) -> dict[str, SlashCommand]:
        """Return those of the commands that somebody may use which this host offers them, as help shows them."""
        return commands

    @abstractmethod
    async def take_up(self) -> Session:
        """Return the session that it talks to now, made when first needed."""

    @abstractmethod
    async def switch(self, session_id: str = "") -> Session:
        """Go on in an earlier session of the same owner, or in a new one."""

    def renamed(self, session: Session) -> None:
        """Take note of a session that has another title now."""

    @abstractmethod
    async def interrupt(self, session: Session) -> bool:
        """Stop the turn that runs in a session; False when none does."""

    @abstractmethod
    async def working(self, session: Session) -> bool:
        """Tell whether a turn runs in a session."""

    @abstractmethod
    async def steer(self, session: Session, text: str) -> str | Message:
        """Say something to the running turn; what the command answers."""

    @abstractmethod
    async def queue(self, session: Session, text: str) -> str | Message:
        """Say something that has its turn after the running one; what the command answers."""

    @abstractmethod
    async def beside(self, session: Session, text: str) -> str:
        """Have something done in a session of its own; its id."""

    async def choose(self, **chosen: str) -> None:
        """Keep what was chosen for this conversation, where ``chosen`` is not None; an empty text takes it back."""

    def services(self) -> Sequence[str]:
        """Say how each chat service is, for who may know."""
        return ()


class SlashCommands(ABC):
    """The slash commands of one host. ``table`` has them by name; a host may put its own in the place of one."""

    table: dict[str, SlashCommand]

    @abstractmethod
    async def run(self, side: HostSide, name: str, rest: str, ask: "AskPerson | None" = None) -> str | Message:
        """Return what a command answers, or a message of role ``user`` that the model is to hear.

        A command that takes something away asks first: by ``ask``, or without it by an answer with buttons that say
        the command again. Raises UserError when there is no such command for this person, and what it raises.
        """

    @abstractmethod
    async def options(self, side: HostSide, name: str, rest: str) -> Sequence[Choice]:
        """Return what may follow a command; nothing where it fails to say."""

    @abstractmethod
    async def words(self, side: HostSide, word: str) -> Sequence[Choice]:
        """Say how a word may go on that a plugin knows, such as ``@file:``; one that fails to say adds nothing."""

    async def open(self, folder: str, ask: "AskPerson") -> Sequence[str]:
        """Ask what plugins ask before a new conversation begins in a folder; what they say of the answers."""
        return ()

    @abstractmethod
    def conversation(self, side: HostSide, session: Session) -> "Conversation":
        """Return a conversation as commands have it, for its person."""

    @abstractmethod
    def status(self, session: Session | None) -> Mapping[str, str]:
        """Say what to show of a conversation without waiting for anything, as ``Console.status`` says."""

    async def wall(self, session: Session | None) -> Wall | None:
        """Return what bounds the commands of a conversation, as ``Console.wall`` says."""
        return None

    @abstractmethod
    async def prepare(self) -> None:
        """Find who answers and open the store, which a first screen does not need. Raises HermesError."""


@needs("host.serve", "served people")
class SlashBroker:
    """Slash commands for those whom a plugin serves."""

    def commands(self, place: Place, more: Sequence[SlashCommand] = ()) -> SlashCommands:
        """Return all there are at a place, and ``more`` of a platform; plugins are imported for it.

        Those of the program's own plugins come first, then ``more``, those of other plugins, and what the person wrote
        into the settings. None takes a name that is taken.
        """
        raise UserError("Nobody can be served from here.")


def may_use(command: SlashCommand, role: Role, place: Place) -> bool:
    """Tell whether somebody may run a slash command at some place."""
    return place in command.where and (command.who == "everyone" or role == "admin")


def usable(commands: Mapping[str, SlashCommand], role: Role, place: Place) -> dict[str, SlashCommand]:
    """Return the commands that somebody may run; any other is answered as one that is not there."""
    return {name: command for name, command in commands.items() if may_use(command, role, place)}


def named(commands: Mapping[str, SlashCommand], name: str) -> SlashCommand | None:
    """Return the command of a name, or of another name of it."""
    return commands.get(name) or next((one for one in commands.values() if name in one.aliases), None)
