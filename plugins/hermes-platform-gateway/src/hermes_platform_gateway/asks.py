"""Questions to people who read later: a message with buttons, and an answer that may come from anywhere.

A question is a row before it is sent, and whoever it was put to answers first or never: with a button or in words, in
the chat or in a terminal, or, after a death, to the same question put again.
"""

import asyncio
import contextlib
import hashlib
import time
from collections.abc import Sequence

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, StoreError, UnknownName, UserError
from hermes_core.types import Approval, Envelope, Principal, Question, Verdict
from hermes_platform_gateway.bundles import Bundles, bundle_of
from hermes_platform_gateway.config import gateway_settings
from hermes_platform_gateway.limits import limits_of
from hermes_platform_gateway.outward.outgoing import answer_to, said
from hermes_platform_gateway.outward.senders import Senders
from hermes_platform_gateway.questions import Asked, put
from hermes_platform_gateway.rows.kept import rows_of
from hermes_platform_gateway.rows.values import KnownChat, PutQuestion
from hermes_platform_gateway.turns import Turns
from hermes_platform_gateway.whose import private_chat, speaker

__all__ = ["Asks"]

_MOST = 50  # open questions of one person that are looked through
_ALL = 1000
_HOUR = 3600.0
_WORDS = _HOUR  # that a question for words waits: nothing is allowed by not answering it
_LOOK = 0.5  # seconds between two looks at whether it was answered
_OVER = {"expired": "Nobody answered in time.", "withdrawn": "This is not asked any more."}


class Asks:
    """Puts the questions of turns into chats, and lets messages answer them."""

    def __init__(self, ctx: PluginContext, turns: Turns, senders: Senders) -> None:
        self._ctx, self._turns, self.senders = ctx, turns, senders
        self._limits = limits_of(ctx)
        self.bundles = Bundles(ctx, senders)
        self._tidying: set[asyncio.Task[None]] = set()

    async def ask(self, of: Asked, question: Question) -> Verdict | None:
        """Ask, and wait for the answer. A cancelled question stays in the chat."""
        person = (await speaker(self._ctx, of.address, of.owner)).person
        if not self._limits.asks(person, of.session_id, question.id):
            return await self._too_many(of)
        try:
            return await self._answered(of, question)
        finally:
            self._limits.asked(person, of.session_id, question.id)
            self.tidy_soon(of.session_id)

    async def _too_many(self, of: Asked) -> Verdict:
        """Say no, to the model, and once an hour to the person."""
        most = gateway_settings(self._ctx).limits.questions
        why = f"{most} questions of yours wait for an answer, which is the most; nothing more is asked until then"
        key = f"questions:{of.owner.person}:{of.address.chat}:{time.time() // _HOUR:.0f}"
        told = answer_to(of.address, of.owner, said(f"{why}."), key=key, trace=of.trace)
        await rows_of(self._ctx).outbox.send_later(told)
        self.senders.wake(of.address)
        return Verdict(outcome="deny", reason=why, by="gateway.limits.questions", choice="deny")

    async def _answered(self, of: Asked, question: Question) -> Verdict | None:
        if question.kind == "approval":  # it has its row, and the asker looks out for the answer
            await self._put(of, question)
            await asyncio.Event().wait()
        number = hashlib.sha256(question.id.encode()).hexdigest()[:12]
        question = evolve(question, id=number)
        session = await self._ctx.turns.take_up(of.session_id, owner=of.owner)
        wanted = Approval(id=number, session_id=session.id, turn_id=session.turn, subject=question.subject)
        await self._ctx.approvals.ask(session, evolve(wanted, kind=question.kind, choices=tuple(question.choices)))
        await self._put(of, question)
        try:
            async with asyncio.timeout(_WORDS):
                while True:
                    row = await self._ctx.approvals.find(of.owner, number)
                    if row.state != "open":
                        return row.answer if row.state == "answered" else None
                    await asyncio.sleep(_LOOK)
        except TimeoutError:
            with contextlib.suppress(UserError):  # somebody answered at the last moment
                await self._ctx.approvals.settle(of.owner, number, Verdict(outcome="deny"), expired=True)
            return Verdict(outcome="deny", reason=f"nobody answered within {_WORDS / 60:.0f} minutes", by="gateway")

    async def private_chat(self, person: Principal, envelope: Envelope) -> KnownChat | None:
        """The chat of a person with the same bot where nobody else reads, now; None where they have none."""
        chat = await private_chat(self._ctx, person, envelope)
        return chat if chat and await self.senders.alone(chat) else None

    async def is_open(self, owner: Principal, session_id: str, *, lasting: bool) -> bool:
        """Whether a question of a session waits for its answer, of those for a yes only a ``lasting`` one.

        So it is taken while nobody can tell.
        """
        try:
            rows = await self._ctx.approvals.list(owner, limit=_ALL, admin=True)
        except StoreError:
            return True
        return any(row.session_id == session_id and (lasting or row.kind != "approval") for row in rows)

    async def waits(self, owner: Principal, session_id: str, person: Principal) -> Approval | None:
        """The question that waits for the words of somebody in a session: of a turn that runs, or is to go on."""
        if not await self._turns.busy(session_id, owner) and await self._ctx.host.turns.cut(session_id) is None:
            return None
        open_ones = await self._ctx.approvals.list(owner, limit=_MOST)
        rows = [row for row in open_ones if row.session_id == session_id and row.kind != "approval"]
        theirs = {one.id for one in await rows_of(self._ctx).questions.open_to(person)} if rows else set()
        return next((row for row in reversed(rows) if row.id in theirs), None)  # the one asked first

    async def answer(self, row: Approval, owner: Principal, text: str, by: str) -> str:
        """Let words answer a question; a number means the choice of that number. What they were taken for."""
        number = int(text) if text.isdecimal() and len(text) < 4 else 0
        choice = row.choices[number - 1] if 0 < number <= len(row.choices) else text
        verdict = Verdict(outcome="allow", choice=choice, by=by)
        with contextlib.suppress(UserError):  # the first answer counts
            await self._ctx.approvals.settle(owner, row.id, verdict)
        return choice

    async def close(self, question: PutQuestion, told: str, here: Envelope | None = None, by: str = "settled") -> bool:
        """End a question: its buttons go, and below it stands what became of it; whether that is seen ``here``."""
        await rows_of(self._ctx).questions.close(question.id, by)
        if bundle := bundle_of(question):
            return await self.bundles.show(bundle, here)
        return await self.senders.closed(question.keys, told, here)

    def tidy_soon(self, session_id: str) -> None:
        """Do ``tidy`` beside whatever goes on."""
        task = asyncio.ensure_future(self.tidy(session_id))
        self._tidying.add(task)
        task.add_done_callback(self._tidying.discard)

    async def rest(self) -> None:
        """Wait for what is tidied."""
        await asyncio.gather(*self._tidying, return_exceptions=True)

    async def tidy(self, session_id: str) -> None:
        """Take the buttons from questions of a session that are not open any more, however they were answered."""
        with contextlib.suppress(HermesError):  # they say that they are settled, when they are pressed
            for one in await rows_of(self._ctx).questions.open_in(session_id):
                if one.kind == "command":
                    continue
                try:
                    row = await self._ctx.approvals.find(one.whose, one.id, admin=True)
                except UnknownName:
                    continue
                if row.state != "open":
                    settled = row.summary.partition(": ")[2] if row.kind == "approval" else row.answer.choice
                    await self.close(one, _OVER.get(row.state) or f"Settled: {settled}.")

    async def close_all(self, bundle: PutQuestion, settled: Sequence[str], here: Envelope | None) -> bool:
        """The same for questions of a bundle."""
        for number in settled:
            await rows_of(self._ctx).questions.close(number, "settled")
        return await self.bundles.show(bundle.id, here)

    async def _put(self, of: Asked, question: Question) -> None:
        if self.bundles.takes(question):
            return await self.bundles.add(of, question)
        for address in await put(self._ctx, of, question, self.senders.alone):
            self.senders.wake(address)
        return None
