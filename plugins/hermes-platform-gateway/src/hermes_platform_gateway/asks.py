"""Questions to people who read later: a message with buttons, and an answer that may come from anywhere.

A question is a row before it is sent, and whoever answers first has answered: with a button or in words, in the chat or
in a terminal, or, after a death, to the same question put again.
"""

import asyncio
import contextlib
import hashlib
from collections.abc import Callable

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.errors import StoreError, UserError
from hermes_core.types import Approval, Button, Buttons, Envelope, Message, Principal, Question, Verdict
from hermes_core.values import frozen
from hermes_platform_gateway.outward.outgoing import answer_to, said
from hermes_platform_gateway.people.admins import admin_chats
from hermes_platform_gateway.rows.kept import rows_of
from hermes_platform_gateway.turns import Turns

__all__ = ["Asked", "Asks", "put", "question_key"]

_PLACE = ("platform", "account", "chat", "thread", "kind")
_MOST = 50  # open questions of one person that are looked through
_ALL = 1000
_LOOK = 0.5  # seconds between two looks at whether it was answered
_LABELS = {"once": "Yes, once", "session": "Yes, in this conversation", "always": "Yes, always", "deny": "No"}
_LONGEST = 3000  # characters of what is asked about that are shown; all of it is in `hermes approvals show`


@frozen(kw_only=True)
class Asked:
    """Of which turn a question is: where it came from, and whose it is. Of what a plugin ordered it is ``unasked``."""

    address: Envelope
    owner: Principal
    session_id: str
    trace: str = ""
    unasked: bool = False


class Asks:
    """Puts the questions of turns into chats, and lets messages answer them."""

    def __init__(self, ctx: PluginContext, turns: Turns, wake: Callable[[Envelope], None]) -> None:
        self._ctx, self._turns, self._wake = ctx, turns, wake
        self._seconds = ctx.host.section("policy").ask_seconds

    async def ask(self, of: Asked, question: Question) -> Verdict | None:
        """Ask, and wait for the answer; None when none came in time. A cancelled question stays in the chat."""
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
            async with asyncio.timeout(self._seconds):
                while True:
                    row = await self._ctx.approvals.find(of.owner, number)
                    if row.state != "open":
                        return row.answer if row.state == "answered" else None
                    await asyncio.sleep(_LOOK)
        except TimeoutError:
            with contextlib.suppress(UserError):  # somebody answered at the last moment
                await self._ctx.approvals.settle(of.owner, number, Verdict(outcome="deny"), expired=True)
            return None

    async def is_open(self, owner: Principal, session_id: str) -> bool:
        """Whether a question for a yes of a session waits for its answer; so it is taken while nobody can tell."""
        try:
            rows = await self._ctx.approvals.list(owner, limit=_ALL, admin=True)
        except StoreError:
            return True
        return any(row.kind == "approval" and row.session_id == session_id for row in rows)

    async def waits(self, owner: Principal, session_id: str) -> Approval | None:
        """The question that waits for words in a session: of a turn that runs, or was cut off and is to go on."""
        if not await self._turns.busy(session_id, owner) and await self._ctx.host.turns.cut(session_id) is None:
            return None
        open_ones = await self._ctx.approvals.list(owner, limit=_MOST)
        rows = [row for row in open_ones if row.session_id == session_id and row.kind != "approval"]
        return rows[-1] if rows else None  # the one asked first

    async def answer(self, row: Approval, owner: Principal, text: str, by: str) -> None:
        """Let words answer a question; a number means the choice of that number."""
        number = int(text) if text.isdecimal() and len(text) < 4 else 0
        choice = row.choices[number - 1] if 0 < number <= len(row.choices) else text
        verdict = Verdict(outcome="allow", choice=choice, by=by)
        with contextlib.suppress(UserError):  # the first answer counts
            await self._ctx.approvals.settle(owner, row.id, verdict)

    async def _put(self, of: Asked, question: Question) -> None:
        for address in await put(self._ctx, of, question):
            self._wake(address)


async def put(ctx: PluginContext, of: Asked, question: Question) -> list[Envelope]:
    """Put a question into the outbox, once for its id, for its person or the admins; where it goes."""
    key, went = question_key(of.address, question.id), []
    kinds = {"kind": "question", "trace": of.trace, "session_id": of.session_id}
    outbox, shown = rows_of(ctx).outbox, _shown(question)
    if question.to == "admin":
        name = of.address.sender_name or of.address.sender
        asks = said(f"{name} ({of.owner.person}) asks on {of.address.platform}:", *shown.parts)
        for chat in await admin_chats(ctx):
            to = Envelope(**{n: getattr(chat, n) for n in _PLACE}, event_id="", sender="", message=asks)
            # It is the admin's message: whose call it is about says the text, and nothing else of theirs.
            theirs = f"{key}:{chat.owner.person}"
            question_to = answer_to(to, chat.owner, asks, key=theirs, kind="question")
            await outbox.send_later(evolve(question_to, unasked=True))
            went.append(to)
        shown = said(f"This needs the yes of an admin, who was asked:\n\n{_fenced(question.subject[:_LONGEST])}")
    await outbox.send_later(evolve(answer_to(of.address, of.owner, shown, key=key, **kinds), unasked=of.unasked))
    return [*went, of.address]


def question_key(address: Envelope, question: str) -> str:
    """The key of the message that asks a question where an envelope came from."""
    return f"question:{address.platform}:{question}"


def _shown(question: Question) -> Message:
    """A question as people read it, with the choices as buttons and the way to answer in words."""
    if question.kind == "text":
        return said(f"{question.subject}\n\nAnswer with your next message.")
    if question.kind == "choice":
        listed = "\n".join(f"{number}. {choice}" for number, choice in enumerate(question.choices, 1))
        buttons = tuple(Button(label=choice[:40], says=str(n)) for n, choice in enumerate(question.choices, 1))
        return said(
            f"{question.subject}\n\n{listed}\n\nAnswer with a number, or in your own words.", Buttons(buttons=buttons)
        )
    subject = question.subject if len(question.subject) <= _LONGEST else f"{question.subject[:_LONGEST]}…"
    lines = ["**May I do this?**", _fenced(subject), question.risk]
    lasting = [choice for choice in question.choices if choice in ("session", "always")]
    if question.covers and lasting:
        lines.append(f"Beyond this once it would allow: {question.covers}")
    words = "|".join(choice for choice in question.choices if choice != "deny")
    lines.append(f"`/approve {question.id} {words}` or `/deny {question.id}`, and behind it what to do instead")
    says = {c: f"/deny {question.id}" if c == "deny" else f"/approve {question.id} {c}" for c in question.choices}
    buttons = tuple(Button(label=_LABELS.get(choice, choice), says=words) for choice, words in says.items())
    return said("\n\n".join(filter(None, lines)), Buttons(buttons=buttons))


def _fenced(text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"
