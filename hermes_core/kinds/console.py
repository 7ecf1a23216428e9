"""What a platform may ask about the conversations that it carries."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol, TypeAlias

from hermes_core.errors import UserError
from hermes_core.types import JSON, Choice, Job, Question, Session, SlashCommand, Verdict, Wall

__all__ = ["AskPerson", "Console", "Returns"]

AskPerson: TypeAlias = Callable[[Question], Awaitable[Verdict | None]]


class Returns(Protocol):
    """What an answer has to be: JSON of a ``schema``. What does not fit is asked for anew, outside of the dialogue."""

    schema: Mapping[str, JSON]
    tries: int  # how many answers a model may give

    def misfit(self, text: str) -> str:
        """Say what is wrong with an answer, for the model; empty where nothing is."""


class Console:
    """The way back to the kernel for a platform whose person waits: a terminal. Each of its chats is a conversation.

    Elsewhere it has ``commands`` and knows of nothing else. They are the slash commands that work in a conversation,
    for completion and menus; the kernel runs them. All else is asked of the brokers in the plugin's context.
    """

    def __init__(self, commands: Sequence[SlashCommand] = ()) -> None:
        self._commands = tuple(commands)

    @property
    def commands(self) -> Sequence[SlashCommand]:
        """The slash commands."""
        return self._commands

    def status(self, chat: str) -> Mapping[str, str]:
        """Say what to show of a chat: ``session``, ``title``, ``provider``, ``model``, ``cwd``, ``mode``, ``notice``.

        Who answers is empty before ``prepare``.
        """
        return {}

    async def wall(self, chat: str) -> Wall | None:
        """Return what bounds the commands of a chat; None where nobody can tell before one ran."""
        return None

    async def prepare(self) -> None:
        """Find who answers and open the store: what every turn needs, and a first screen does not. Raises HermesError.

        A turn does so itself; a platform calls it when it wants to show who answers, or to be quick when it comes.
        """

    async def open(self, chat: str, session: str) -> Session:
        """Let a chat go on in an earlier session. Raises UnknownName. Needs ``sessions.read``."""
        raise UserError("No earlier session can be opened here.")

    async def complete(self, chat: str, line: str) -> Sequence[Choice]:
        """Return ways to go on with a line typed up to the cursor: commands, what may follow them, ``@`` words."""
        return ()

    async def jobs(self, chat: str) -> Sequence[Job]:
        """Return what runs beside a chat: child agents, processes in the background. Needs ``sessions.read``."""
        return ()

    async def job_output(self, chat: str, job: str) -> str:
        """Return the last that one of them said. Needs ``sessions.read``."""
        return ""

    async def stop_job(self, chat: str, job: str) -> bool:
        """Stop one of them; False when it does not run any more. Needs ``turns.run``."""
        return False

    async def interrupt(self, chat: str) -> bool:
        """Stop the running turn of a chat; False when none runs."""
        return False
