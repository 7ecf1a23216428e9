"""The conversation a slash command was typed into, in a terminal or in a chat."""

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from hermes_core.types import ConversationState, Envelope, Job, Message, Rights, Session, SlashCommand, ToolRow

__all__ = ["Conversation", "ConversationJobs", "ConversationModel", "ConversationQueue", "ConversationTurn"]


class ConversationTurn(Protocol):
    """The turn that runs in a conversation."""

    async def interrupt(self) -> bool:
        """Stop it; False when none runs."""

    async def steer(self, text: str) -> str | Message:
        """Say something to it. Return what this gives: it is the answer to the command."""

    async def beside(self, text: str) -> str:
        """Have something done in a session of its own; its id. The answer is told here when it is there."""


class ConversationQueue(Protocol):
    """What waits for its turn in a conversation."""

    async def add(self, text: str) -> str | Message:
        """Say something that has its turn after the running one. Return what this gives, as of ``turn.steer``."""

    async def list(self) -> Sequence[tuple[Literal["queue", "steer"], Message]]:
        """Return what waits, and how it came to wait, first come first."""

    async def clear(self) -> int:
        """Give up what waits; how much that was."""


class ConversationModel(Protocol):
    """Who answers in a conversation."""

    async def current(self) -> tuple[str, str]:
        """Return the provider and the model, also of no choice."""

    async def choose(self, wanted: str, *, span: Literal["session", "once", "global"] = "session") -> tuple[str, str]:
        """Choose who answers here, ``[provider:]model`` or ``default``; the provider and the model.

        ``once`` is for the next message only. With ``global`` the choice is only checked where a chat has its own; who
        wants it kept sets the settings. Raises UnknownName, and UserError for what cannot be chosen.
        """

    async def effort(self, wanted: str = "") -> str:
        """Choose how hard the model thinks here; what is in force, empty for the model's own. Raises UserError.

        ``default`` takes the choice back where a chat has its own.
        """


class ConversationJobs(Protocol):
    """What runs or is open beside a conversation in this process."""

    async def list(self) -> Sequence[Job]:
        """Return all of it, oldest first; the id of each says who runs it. A plugin that fails to say adds none."""

    async def stop(self, job: str) -> bool:
        """Stop one by its id; False when it does not run any more."""

    async def output(self, job: str) -> str:
        """Return the last that one of them said, with secrets masked; empty where nobody runs it."""


class Conversation(Protocol):
    """What a slash command may do where it was typed. ``ctx.conversation(session)`` gives it; the kernel makes it.

    Everything is done for the person who typed the command: what they may not do raises UserError, whatever the
    command thought.
    """

    place: Literal["terminal", "chat", "api"]  # what kind of way in the command came
    session: Session  # what the command was typed into, whatever the conversation goes on in after it
    role: Literal["admin", "user"]  # what the person may ask for; who types in a terminal is an admin
    who: str  # who the person is here, in words
    envelope: Envelope | None  # the message that holds the command, where a chat service brought it
    turn: ConversationTurn  # the one that runs
    queue: ConversationQueue  # what waits for its turn
    model: ConversationModel  # who answers
    jobs: ConversationJobs  # what runs beside it

    def rights(self) -> Rights:
        """Return what its person may do now."""

    def need_person(self, *, admin: bool = False) -> None:
        """Need a person. Raises UserError when a tool of Hermes types here; with ``admin`` also for who is none."""

    async def state(self) -> ConversationState:
        """Say how the conversation is. Raises UserError when nobody can answer in it."""

    async def switch(self, session_id: str = "") -> Session:
        """Go on in an earlier session of the same owner, or in a new one. Raises UnknownName."""

    async def branch(self, title: str = "") -> Session:
        """Go on in a copy of the session. Raises UnknownName while nothing was said, UserError for a taken title."""

    async def rename(self, title: str) -> Session:
        """Give the session another title. Raises UserError when another one has it."""

    async def undo(self, exchanges: int = 1) -> Sequence[Message]:
        """Take back the last exchanges: no model is told of them any more. What the person said in them, in order."""

    async def last_said(self) -> Message | None:
        """Return the last message of the person, answered or not."""

    def mode(self, wanted: str = "") -> str:
        """Choose what needs a yes: ``ask``, ``smart``, ``off``; what is in force. Raises UserError for who may not."""

    def busy(self, wanted: str = "") -> str:
        """Choose what becomes of what is said during a turn: ``queue``, ``steer``, ``interrupt``; what is in force."""

    def commands(self) -> Mapping[str, SlashCommand]:
        """Return the slash commands that its person may use here, by name, in the order in which help lists them."""

    async def tools(self) -> Sequence[ToolRow]:
        """Return the tools there are, as a conversation that begins here now would be told of them."""

    async def configure(self, key: str, text: str) -> str:
        """Write a setting for good, and let it hold here as far as that goes; in words, how it stands and from when.

        Raises UserError for who is no admin, and as ``SettingsBroker.set`` does.
        """

    def reload(self) -> Sequence[str]:
        """Read settings and secrets again; the sections that need a new start. Raises UserError for who is no admin."""

    async def budget(self) -> Mapping[str, float]:
        """Say what is left of each budget that binds the session."""
