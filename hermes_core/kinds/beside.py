"""What a plugin may lay beside a conversation: the work that runs for it, and ways to go on typing."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from hermes_core.types import Choice, Job, Session

__all__ = ["Completer", "Jobs"]


class Jobs(ABC):
    """Work that a plugin does beside conversations: child agents, processes in the background."""

    name: str

    @abstractmethod
    async def running(self, session: Session) -> Sequence[Job]:
        """What runs now for a session, oldest first."""

    @abstractmethod
    async def stop(self, session: Session, job: str) -> bool:
        """Stop one by its id; False when it does not run any more."""

    async def output(self, session: Session, job: str) -> str:
        """The last it said, a few thousand characters at most; empty when there is nothing to see."""
        return ""


class Completer(ABC):
    """Says how a word that begins with ``trigger`` may go on, while a person types."""

    name: str
    trigger: str

    @abstractmethod
    async def complete(self, session: Session, word: str) -> Sequence[Choice]:
        """Ways to go on with ``word`` (its trigger is part of it), the likeliest first; ``replaces`` is left out."""
