"""A conversation that several screens of one host take part in: its turns, and what carries one screen of it."""

from abc import abstractmethod
from collections.abc import AsyncIterator
from typing import ClassVar

from hermes_core.brokers import TurnsBroker
from hermes_core.kinds import ConsoleDriver, Platform
from hermes_core.types import Event, Question, Verdict
from hermes_core.values import frozen

__all__ = ["Answered", "SharedTurns", "SharingDriver"]


@frozen(kw_only=True)
class Answered:
    """A question is open no longer; ``verdict`` is what a screen answered, None where it was settled elsewhere."""

    question: Question
    verdict: Verdict | None = None


class SharedTurns(TurnsBroker):
    """The turns of a host, as one of its screens has them: they go on when that leaves, and others see them too.

    A question of theirs is put to every screen in the session; ``ask`` of a call is not heard. ``folder`` is where new
    sessions work; who ``stays`` leaves once what they said is answered, as behind a pipe.
    """

    folder: str = ""
    stays: bool = False

    @abstractmethod
    async def join(self, session: str) -> None:
        """Take part in a session: what runs there, and what is asked, is told by ``watch`` from its beginning."""

    @abstractmethod
    def watch(self) -> AsyncIterator[tuple[str, Event | Question | Answered]]:
        """Yield the session and what happens there: events of turns that others began, and questions of all turns."""

    @abstractmethod
    def answer(self, question: str, verdict: Verdict) -> bool:
        """Answer a question; False when somebody else was first."""

    def kept(self, session: str) -> str:
        """Have a session ask as it is set up after a slash command; what is said instead of that one's words.

        Empty where it chose nothing that does not hold, as where another screen is there, too.
        """
        return ""

    @abstractmethod
    def decline(self, question: str) -> None:
        """Say that nobody here can be asked, as behind a pipe; where that is so at every screen, it is a no."""


class SharingDriver(ConsoleDriver):
    """A console driver that carries a screen of a host, too: a platform on which people wait at another process.

    ``front`` names what serves a Fronted platform in a process that has loaded nothing, as ``module:function``; empty:
    nothing does.
    """

    front: ClassVar[str] = ""

    @abstractmethod
    async def share(self, platform: Platform, session: str, turns: SharedTurns) -> None:
        """As ``serve``, with these turns. It changes nothing of this process, such as what becomes of a signal."""
