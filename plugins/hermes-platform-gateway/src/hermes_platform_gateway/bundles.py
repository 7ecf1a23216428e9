"""Several questions of one person to the admins, as one message for each admin.

What is asked within a moment is held until it is over. The message lists the calls, each with its id and buttons, and
has one yes and one no for all of them; whatever becomes of one of them is shown in the same message. It shows each call
whole: what is too long for that is asked alone. That they are bundled, the messages, and to whom they were put are one
commit, so a death before it asks again, and one after it finds what was asked.
"""

import asyncio
import hashlib
import time

from attrs import Factory

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName
from hermes_core.types import Approval, Button, Buttons, Envelope, Message, Part, Question
from hermes_core.values import define
from hermes_platform_gateway.names import called, without_marks
from hermes_platform_gateway.outward.outgoing import answer_to, envelope_of, said
from hermes_platform_gateway.outward.senders import Senders
from hermes_platform_gateway.people.admins import admin_chats
from hermes_platform_gateway.questions import Asked, fenced, put
from hermes_platform_gateway.rows.kept import rows_of
from hermes_platform_gateway.rows.values import Outgoing, PutQuestion
from hermes_platform_gateway.whose import speaker

__all__ = ["BUNDLE", "Bundles", "bundle_of"]

BUNDLE = "bundle"  # the kind of the row that stands for all, and how the keys of its messages begin
_QUIET, _LONGEST = 0.7, 3.0  # seconds without another question, or altogether, after which what is held is put
_MOST = 12  # questions of one message
_SHORT = 260  # characters of one: so many are shown whole, and all of them fit into a message
_STATES = {"expired": "nobody answered in time", "withdrawn": "not asked any more"}


@define(eq=False)
class _Held:
    """What one person asks from one place, until it is put."""

    questions: dict[str, tuple[Asked, Question]] = Factory(dict)
    since: float = Factory(time.monotonic)
    last: float = Factory(time.monotonic)
    putting: "asyncio.Task[None] | None" = None


class Bundles:
    """Questions to the admins that are held, and the messages that list them."""

    def __init__(self, ctx: PluginContext, senders: Senders) -> None:
        self._ctx, self._senders = ctx, senders
        self._held: dict[tuple[object, ...], _Held] = {}

    @staticmethod
    def takes(question: Question) -> bool:
        """Whether a question may stand among others."""
        short = len(question.subject) + len(question.risk) <= _SHORT
        return question.to == "admin" and question.kind == "approval" and short

    async def add(self, of: Asked, question: Question) -> None:
        """Put a question with what its person asks in the same moment; returns when it is put. Raises StoreError."""
        here = of.address
        place = (of.owner, here.platform, here.account, here.chat, here.thread, here.sender)
        held = self._held.get(place)
        if held is None or len(held.questions) >= _MOST:
            held = self._held[place] = _Held()
            held.putting = asyncio.create_task(self._put(place, held))
        held.questions[question.id], held.last = (of, question), time.monotonic()
        assert held.putting
        try:
            await asyncio.shield(held.putting)
        except asyncio.CancelledError:  # answered elsewhere, or the turn is over
            held.questions.pop(question.id, None)
            raise

    async def show(self, bundle: str, here: Envelope | None = None) -> bool:
        """Show in the messages of a bundle what became of its questions; whether that is seen ``here``."""
        rows = rows_of(self._ctx)
        found = await rows.questions.get(bundle)
        if found is None:
            return False
        asked = await self._asked(found)
        if all(one.state != "open" for one in asked):
            await rows.questions.close(bundle, "settled")
        seen = False
        for key in found.keys:
            message = _listed(found.says[-1], bundle, asked) if key.endswith("+") else _line(asked)
            seen = await self._senders.replaced(key, message, here) or seen
        return seen

    async def open(self, bundle: PutQuestion) -> list[Approval]:
        """The questions of a bundle that nobody answered yet."""
        return [one for one in await self._asked(bundle) if one.state == "open"]

    async def _asked(self, bundle: PutQuestion) -> list[Approval]:
        found = []
        for number in bundle.says[:-1]:
            try:
                found.append(await self._ctx.approvals.find(bundle.whose, number, admin=True))
            except UnknownName:  # its session was deleted
                continue
        return found

    async def _put(self, place: tuple[object, ...], held: _Held) -> None:
        try:
            while (left := min(held.last + _QUIET, held.since + _LONGEST) - time.monotonic()) > 0:
                if len(held.questions) >= _MOST:
                    break
                await asyncio.sleep(left)
        finally:
            if self._held.get(place) is held:
                del self._held[place]
        rows = [await rows_of(self._ctx).questions.get(number) for number in held.questions]
        put_before = {one.id: bundle_of(one) for one in rows if one}  # by a turn that a death cut off, mostly
        new = [asked for number, asked in held.questions.items() if number not in put_before]
        went = await self._together(new) if len(new) > 1 else []
        alone = [asked for number, asked in held.questions.items() if put_before.get(number) == ""]
        for of, question in [*alone, *(new if len(new) == 1 else ())]:
            went += await put(self._ctx, of, question, self._senders.alone)
        for address in went:
            self._senders.wake(address)

    async def _together(self, asked: list[tuple[Asked, Question]]) -> list[Envelope]:
        """Put several as one; where they go."""
        of, rows = asked[0][0], rows_of(self._ctx)
        here, to = of.address, await speaker(self._ctx, of.address, of.owner)
        bundle = hashlib.sha256(" ".join(sorted(question.id for _, question in asked)).encode()).hexdigest()[:12]
        head = f"{called(here)} ({without_marks(of.owner.person)}) asks on {here.platform}"
        shown = [Approval(id=q.id, session_id="", subject=q.subject, risk=q.risk) for _, q in asked]
        chats = [chat for chat in await admin_chats(self._ctx) if await self._senders.alone(chat)]
        messages: list[Outgoing] = []
        for chat in chats:
            key = f"{BUNDLE}:{bundle}:{chat.owner.person}+"
            messages.append(
                answer_to(envelope_of(chat), chat.owner, _listed(head, bundle, shown), key=key, kind="question")
            )
        line = answer_to(here, of.owner, _line(shown), key=f"{BUNDLE}:{bundle}:", kind="question", trace=of.trace)
        keys = (*(one.key for one in messages), line.key)
        place = {name: getattr(here, name) for name in ("platform", "account", "chat", "thread")}
        known = {"to": to, "owner": of.owner.person, "addressee": "admin", "keys": keys, **place}
        says = (*(question.id for _, question in asked), head)
        together = [PutQuestion(id=bundle, kind=BUNDLE, says=says, **known)]
        together += [PutQuestion(id=question.id, session_id=its.session_id, **known) for its, question in asked]
        await rows.questions.put_together(together, [*messages, line])
        return [*(envelope_of(chat) for chat in chats), here]


def bundle_of(question: PutQuestion) -> str:
    """The bundle that a question was put in; empty where it was put alone."""
    kind, _, rest = (question.keys[0] if question.keys else "").partition(":")
    return rest.partition(":")[0] if kind == BUNDLE else ""


def _listed(head: str, bundle: str, asked: list[Approval]) -> Message:
    """The message of an admin: every call, what became of it, and the ways to answer."""
    lines, buttons = [f"{head}, for {len(asked)} calls:"], list[Button]()
    for number, one in enumerate(asked, 1):
        if one.state != "open":
            lines.append(f"{number}. {_state(one)}: `{_first_line(one)}`")
            continue
        risk = f"\n{without_marks(one.risk)}" if one.risk else ""
        lines.append(f"{number}. `{one.id}`\n{fenced(one.subject)}{risk}")
        buttons.append(Button(label=f"{number}: yes", says=f"/approve {one.id} once"))
        buttons.append(Button(label=f"{number}: no", says=f"/deny {one.id}"))
    parts: list[Part] = []
    if buttons:
        lines.append(f"`/approve ID` or `/deny ID` for one of them, `/approve {bundle}` or `/deny {bundle}` for all")
        both = (Button(label="All: yes", says=f"/approve {bundle}"), Button(label="All: no", says=f"/deny {bundle}"))
        parts.append(Buttons(buttons=(*buttons, *both)))
    return said("\n\n".join(lines), *parts)


def _line(asked: list[Approval]) -> Message:
    """What the person is told whose calls they are."""
    states = [_state(one) for one in asked if one.state != "open"]
    left = len(asked) - len(states)
    many = ", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(states))
    told = f" So far: {many}, {left} open." if states and left else f" {many.capitalize()}." if states else ""
    return said(f"{len(asked)} calls need the yes of an admin, who was asked.{told}")


def _state(one: Approval) -> str:
    if one.state == "answered":
        return "allowed" if one.verdict == "allow" else "denied"
    return _STATES.get(one.state, one.state)


def _first_line(one: Approval) -> str:
    first = one.subject.strip().partition("\n")[0].replace("`", "'")
    return first if len(first) <= 80 else f"{first[:80]}…"
