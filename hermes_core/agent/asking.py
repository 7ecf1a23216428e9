"""Putting questions of one turn to a person, one at a time.

A question for a yes is a row before anybody is asked. Whoever answers first has answered: the person of the turn, the
way of a plugin, somebody in another terminal, or, after a death, the same person before.
"""

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Sequence

from attrs import evolve

from hermes_core.errors import HermesError
from hermes_core.kinds.console import AskPerson
from hermes_core.plugins.dispatch import Dispatch
from hermes_core.store.killpoints import die_at
from hermes_core.types import Approval, Asked, Event, Question, Session, Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.agent.policy.grants import LastingOffer
    from hermes_core.agent.policy.judge import Permit
    from hermes_core.store.leases import Turn
    from hermes_core.store.store import Store

__all__ = ["Asker"]

log = logging.getLogger(__name__)
_LOOK = 0.5  # seconds between two looks at whether it was answered elsewhere


class Asker:
    """Asks the person of a turn, else the ways of plugins. Of one turn only: a question that was given up with
    its turn holds up nobody else's.

    ``seconds`` is how long an answer may take; None where somebody else sees to that.
    """

    def __init__(
        self, dispatch: Dispatch, person: AskPerson | None, emit: Callable[[Event], None],
        store: "Callable[[], Awaitable[Store]]", seconds: float | None = None,
    ) -> None:  # fmt: skip
        self._dispatch, self._person, self._emit = dispatch, person, emit
        self._store, self._seconds = store, seconds
        self._one = asyncio.Lock()

    async def ask(self, session: Session, question: Question) -> Verdict | None:
        """Get the answer, or None when nobody is there."""
        if question.kind == "approval":
            return await self._settled(session, question, _row(session, question))
        async with self._one:
            verdict = await self._ways(session, question)
        if verdict is not None:
            self._emit(Asked(question=question, verdict=verdict))
        return verdict

    def permit(self, session: Session, turn: "Turn", call_id: str) -> "Permit":
        """Say how a call of the turn asks for a yes. The same call asks the same question, in whichever process."""

        async def ask(question: Question, lasting: "LastingOffer") -> Verdict | None:
            row = await (await self._store()).journal.call_row(turn, call_id)
            words = f"{turn.id} {row} {question.subject} {question.risk}"
            known = evolve(question, id=hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()[:12])
            rules = [(rule.text(), said, folder) for rule, said, folder in lasting.rules]
            return await self._settled(session, known, _row(session, known, call_id, rules))

        return ask

    async def _settled(self, session: Session, question: Question, wanted: "Approval") -> Verdict | None:
        """Return the answer to a question for a yes, as it was settled."""
        store = await self._store()
        row = await store.approvals.ask(session, wanted)
        die_at("asked")
        if row.state == "open":
            row = await self._wait(session, question, store)
            die_at("approved")
        if row.state == "withdrawn":
            return None
        self._emit(Asked(question=question, verdict=row.answer))
        return row.answer

    async def _wait(self, session: Session, question: Question, store: "Store") -> "Approval":
        """Ask, and look out for an answer from elsewhere meanwhile; the question as it was settled."""
        asking = asyncio.create_task(self._asked(session, question, store))
        elsewhere = asyncio.create_task(_answered(store, session, question.id))
        try:
            await asyncio.wait({asking, elsewhere}, return_when=asyncio.FIRST_COMPLETED)
            if elsewhere.done() and not elsewhere.exception():
                return elsewhere.result()
            return await asking
        finally:
            await _ended(asking, elsewhere)

    async def _asked(self, session: Session, question: Question, store: "Store") -> "Approval":
        """Ask on the ways of this process, and settle the question with what they say."""
        async with self._one:
            row = await store.approvals.get(session.owner, question.id)
            if row is not None and row.state != "open":  # settled while another question was being answered
                return row
            state = "answered"
            try:
                async with asyncio.timeout(self._seconds):
                    verdict = await self._ways(session, question)
            except TimeoutError:
                reason = f"nobody answered within {self._seconds:g} s, so it was not allowed"
                verdict, state = Verdict(outcome="deny", reason=reason, by="policy.ask_seconds"), "expired"
            if verdict is None:
                verdict, state = Verdict(outcome="deny", reason="nobody was there to ask"), "withdrawn"
            return (await store.approvals.settle(session.owner, question.id, verdict, state=state))[0]

    async def _ways(self, session: Session, question: Question) -> Verdict | None:
        """Ask the person of the turn; where there is none, or no longer, the ways of plugins."""
        verdict = None
        if self._person:
            try:
                verdict = await self._person(question)
            except Exception:  # the terminal is gone, the service is down: that is no answer
                log.exception("a question could not be put to the person of the turn")
        if verdict is None and question.to == "admin":  # a plugin's way reaches whose session it is
            return None
        return verdict or await self._dispatch.ask("approve", session=session, question=question)


async def _answered(store: "Store", session: Session, approval_id: str) -> "Approval":
    """Wait for a question to be settled by somebody else. There is nothing that could tell, so it is looked at."""
    while True:
        await asyncio.sleep(_LOOK)
        try:
            row = await store.approvals.get(session.owner, approval_id)
        except HermesError:  # it will be told by whoever writes; a question is not lost to it
            continue
        if row is not None and row.state != "open":
            return row


async def _ended(*tasks: "asyncio.Task[object]") -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _row(
    session: Session, question: Question, call_id: str = "", rules: Sequence[tuple[str, str, str]] = ()
) -> Approval:
    to = "admin" if question.to == "admin" else ""
    return Approval(
        id=question.id, session_id=session.id, turn_id=session.turn, call_id=call_id, subject=question.subject,
        risk=question.risk, choices=tuple(question.choices), covers=question.covers, addressee=to, rules=tuple(rules),
    )  # fmt: skip
