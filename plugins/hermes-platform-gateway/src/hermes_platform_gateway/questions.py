"""How a question is put into chats: to whom, where, with which buttons, and how it reads.

To whom it is put is a row before anybody sees it, and each button names the row. In a group a question for a yes goes
to its person's private chat, where there is one, and the group is told no more than that.
"""

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.types import Button, Buttons, Envelope, Message, Principal, Question
from hermes_core.values import frozen
from hermes_platform_gateway.names import called, plain_name, without_marks
from hermes_platform_gateway.outward.outgoing import answer_to, envelope_of, said
from hermes_platform_gateway.people.admins import admin_chats
from hermes_platform_gateway.rows.kept import rows_of
from hermes_platform_gateway.rows.values import KnownChat, Outgoing, PutQuestion
from hermes_platform_gateway.whose import is_shared, private_chat, speaker

__all__ = ["Alone", "Asked", "fenced", "put", "question_key"]

Alone: TypeAlias = Callable[[KnownChat], Awaitable[bool]]
_LABELS = {"once": "Yes, once", "session": "Yes, in this conversation", "always": "Yes, always", "deny": "No"}
_LONGEST = 3000  # characters of what is asked about that are shown; all of it is in `hermes approvals show`
_NEEDS_ADMIN = "This needs the yes of an admin, who was asked"


@frozen(kw_only=True)
class Asked:
    """Of which turn a question is: where it came from, and whose it is. Of what a plugin ordered it is ``unasked``."""

    address: Envelope
    owner: Principal
    session_id: str
    trace: str = ""
    unasked: bool = False


async def put(ctx: PluginContext, of: Asked, question: Question, alone: Alone) -> list[Envelope]:
    """Put a question into the outbox, once for its id, for its person or the admins; where it goes.

    ``alone`` looks whether a private chat still is one: on some services others can come into it.
    """
    rows, here = rows_of(ctx), of.address
    to = await speaker(ctx, here, of.owner)
    public = here.kind != "dm"
    beside = question.kind != "approval" and not await rows.routes.routes_of(of.session_id)
    if question.to == "admin":
        sent = await _to_admins(ctx, of, question, alone)
    elif public and question.kind == "approval" and (chat := await private_chat(ctx, to, here)) and await alone(chat):
        sent = [_privately(of, question, chat)]
    else:
        sent = []
    key = question_key(here, question.id)
    nobodys = public and to == of.owner and is_shared(of.owner, here)  # ordered there, and asked of no one of them
    row = PutQuestion(
        id=question.id,
        to=to,
        owner=of.owner.person,
        session_id=of.session_id,
        kind=question.kind,
        addressee="admin" if question.to == "admin" or nobodys else "",
        keys=(key, *(one.key for one in sent)),
        **{name: getattr(here, name) for name in ("platform", "account", "chat", "thread")},
    )
    await rows.questions.put(row)
    kinds: dict[str, Any] = {"kind": "question", "trace": of.trace, "session_id": of.session_id}
    if sent or question.to == "admin":
        shown = _told(of, question)
    else:
        whom = f"{called(here)}, only you can answer this.\n\n" if public and not nobodys else ""
        shown = _shown(question, whom, beside=beside)
    await rows.outbox.send_later(answer_to(here, of.owner, shown, key=key, unasked=of.unasked, **kinds))
    for one in sent:  # behind what says so: who answers at once finds it there to be closed
        await rows.outbox.send_later(one)
    return [*(_where(one, here) for one in sent), here]


def question_key(address: Envelope, question: str) -> str:
    """The key of the message that asks a question where an envelope came from."""
    return f"question:{address.platform}:{question}"


async def _to_admins(ctx: PluginContext, of: Asked, question: Question, alone: Alone) -> list[Outgoing]:
    """The messages that ask the admins, each in their private chat: whose call it is, and nothing else of theirs."""
    head = f"{called(of.address)} ({without_marks(of.owner.person)}) asks on {of.address.platform}:"
    asks, found = said(head, *_shown(question).parts), []
    for chat in [chat for chat in await admin_chats(ctx) if await alone(chat)]:
        key = f"{question_key(of.address, question.id)}:{chat.owner.person}"
        found.append(answer_to(envelope_of(chat), chat.owner, asks, key=key, kind="question", unasked=True))
    return found


def _privately(of: Asked, question: Question, chat: KnownChat) -> Outgoing:
    """The message that asks somebody in their private chat what their words in a group would do."""
    where = plain_name(of.address.chat_name) or of.address.chat
    asks = said(f"Of what you said in {where}:", *_shown(question).parts)
    key = f"{question_key(of.address, question.id)}:private"
    known: dict[str, Any] = {"kind": "question", "trace": of.trace, "unasked": of.unasked}
    return answer_to(envelope_of(chat), chat.owner, asks, key=key, **known)


def _where(outgoing: Outgoing, here: Envelope) -> Envelope:
    chat = outgoing.chat
    return evolve(
        here, platform=outgoing.platform, account=outgoing.account, chat=chat.id, thread=chat.thread, kind="dm"
    )


def _told(of: Asked, question: Question) -> Message:
    """What is said where the call was made, when somebody is asked elsewhere."""
    if of.address.kind != "dm":
        return said(f"{_NEEDS_ADMIN}." if question.to == "admin" else f"{called(of.address)} is asked privately.")
    return said(f"{_NEEDS_ADMIN}:\n\n{fenced(question.subject[:_LONGEST])}")


def _shown(question: Question, whom: str = "", *, beside: bool = False) -> Message:
    """A question as people read it, with the choices as buttons and the way to answer in words.

    What is asked ``beside`` a conversation takes no words of it.
    """
    asked = whom + without_marks(question.subject)
    if question.kind == "text":
        way = f"Answer with `/answer {question.id}` and your words." if beside else "Answer with your next message."
        return said(f"{asked}\n\n{way}")
    if question.kind == "choice":
        listed = "\n".join(f"{number}. {without_marks(choice)}" for number, choice in enumerate(question.choices, 1))
        buttons = tuple(_button(choice, f"/answer {question.id} {n}") for n, choice in enumerate(question.choices, 1))
        way = f"`/answer {question.id}` and" if beside else ""
        text = f"{asked}\n\n{listed}\n\nAnswer with {way} a number, or in your own words.".replace("  ", " ")
        return said(text, Buttons(buttons=buttons))
    subject = question.subject if len(question.subject) <= _LONGEST else f"{question.subject[:_LONGEST]}…"
    lines = [f"{whom}**May I do this?**", fenced(subject), without_marks(question.risk)]
    lasting = [choice for choice in question.choices if choice in ("session", "always")]
    if question.covers and lasting:
        lines.append(f"Beyond this once it would allow: {without_marks(question.covers)}")
    words = "|".join(choice for choice in question.choices if choice != "deny")
    lines.append(f"`/approve {question.id} {words}` or `/deny {question.id}`, and behind it what to do instead")
    says = {c: f"/deny {question.id}" if c == "deny" else f"/approve {question.id} {c}" for c in question.choices}
    buttons = tuple(Button(label=_LABELS.get(choice, choice), says=words) for choice, words in says.items())
    return said("\n\n".join(filter(None, lines)), Buttons(buttons=buttons))


def _button(choice: str, says: str) -> Button:
    return Button(label=without_marks(choice)[:40], says=says)


def fenced(text: str) -> str:
    """A text as it is, between fences that are not in it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"
