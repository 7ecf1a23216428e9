"""Putting questions of one turn to a person, one at a time."""

import asyncio
from collections.abc import Callable

from hermes_core.agent.policy.judge import AskPerson
from hermes_core.plugins.dispatch import Dispatch
from hermes_core.types import Asked, Event, Question, Session, Verdict

__all__ = ["Asker"]


class Asker:
    """Asks the person of a turn, else the surfaces of plugins. Of one turn only: a question that was given up with
    its turn holds up nobody else's."""

    def __init__(self, dispatch: Dispatch, person: AskPerson | None, emit: Callable[[Event], None]) -> None:
        self._dispatch, self._person, self._emit = dispatch, person, emit
        self._one = asyncio.Lock()

    async def ask(self, session: Session, question: Question) -> Verdict | None:
        """The answer, or None when nobody is there."""
        async with self._one:
            verdict = await self._person(question) if self._person else None
            if verdict is None:
                verdict = await self._dispatch.ask("approve", session=session, question=question)
        if verdict is not None:
            self._emit(Asked(question=question, verdict=verdict))
        return verdict
