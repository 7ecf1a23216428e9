"""What a plugin may lay beside a conversation: work that runs for it, what it keeps open, and ways to go on typing."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from hermes_core.kinds.backend import Workspace
from hermes_core.types import Choice, Job, Question, Session, Verdict

__all__ = ["Completer", "Jobs", "Opening", "Resource"]


class Jobs(ABC):
    """Work that a plugin does beside conversations: child agents, processes in the background."""

    name: str

    @abstractmethod
    async def running(self, session: Session) -> Sequence[Job]:
        """Return what runs now for a session, oldest first."""

    @abstractmethod
    async def stop(self, session: Session, job: str) -> bool:
        """Stop one by its id; False when it does not run any more."""

    async def output(self, session: Session, job: str) -> str:
        """Return the last it said, a few thousand characters at most; empty when there is nothing to see."""
        return ""


class Resource(ABC):
    """A way to open a thing that outlives one call: a shell, a browser, a language server. Each session has its own.

    Tools of its plugin get it by ``ToolContext.resource``; of all plugins, where it is ``shared``. It is closed when no
    call used it for ``idle`` seconds and it is not ``busy``, when a person stops it or its session rests, and at exit.
    """

    name: str
    idle: float = 600.0
    shared: bool = False

    @abstractmethod
    async def open(self, session: Session, workspace: Workspace) -> Any:
        """Open one, in the place where the session works and as the calling tool may use it. Raises ToolError.

        When it is cancelled or raises, nothing stays open.
        """

    @abstractmethod
    async def close(self, thing: Any) -> None:
        """Let go of one within five seconds, also of one that is dead. What fails here is recorded, and forgotten."""

    def alive(self, thing: Any) -> bool:
        """Tell whether one can be used, asked before each use; else it is closed, and another opened. No waiting."""
        return True

    def busy(self, thing: Any) -> bool:
        """Tell whether something goes on in one that nobody waits for; then it is not closed as idle. No waiting."""
        return False

    def describe(self, thing: Any) -> str:
        """Say how one is, in a line for the person who looks at what runs. No waiting."""
        return self.name


class Completer(ABC):
    """Says how a word that begins with ``trigger`` may go on, while a person types."""

    name: str
    trigger: str

    @abstractmethod
    async def complete(self, session: Session, word: str) -> Sequence[Choice]:
        """Return ways to go on with ``word`` (its trigger is part of it), likeliest first; ``replaces`` is left out."""


class Opening(ABC):
    """A question to who sits at a terminal, before the first words of a new conversation in a folder."""

    name: str

    @abstractmethod
    async def question(self, folder: str) -> Question | None:
        """Return what to ask about the folder; None where there is nothing to ask."""

    @abstractmethod
    async def answered(self, folder: str, verdict: Verdict | None) -> str:
        """Keep the answer, None when nobody was there; what to tell the person of it, or an empty text."""
