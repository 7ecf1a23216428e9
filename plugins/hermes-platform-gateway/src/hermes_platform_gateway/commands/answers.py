"""Answers to questions, by button or in words: whose they are, and what they say."""

import re
from contextlib import suppress

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName, UserError
from hermes_core.kinds import Conversation
from hermes_core.types import Approval, Envelope, Principal, Session, Verdict
from hermes_core.values import frozen
from hermes_platform_gateway.asks import Asks
from hermes_platform_gateway.bundles import BUNDLE
from hermes_platform_gateway.names import called
from hermes_platform_gateway.people.access import Access
from hermes_platform_gateway.rows.kept import rows_of
from hermes_platform_gateway.rows.values import PutQuestion
from hermes_platform_gateway.whose import speaker

__all__ = ["Answers"]

# Of a question; a word that only looks like the start of one, as "add" does, is what a person says.
_ID = re.compile(r"(?=.*[0-9])[0-9a-f]{4,64}|[0-9a-f]{12,64}")
_CHOICES = ("once", "session", "always")
_GONE = "There is no such question any more."


@frozen
class _Found:
    """A question that somebody may answer; ``put`` is how this gateway put it, None where it did not."""

    row: Approval
    put: PutQuestion | None


class Answers:
    """The commands that answer."""

    def __init__(self, ctx: PluginContext, asks: Asks) -> None:
        self._ctx, self._asks = ctx, asks

    async def approve(self, session: Session, rest: str) -> str:
        """Say yes to a question, as far as it offers."""
        words = rest.split()
        choice = next((word for word in words if word in _CHOICES), "")
        here, word = self._here(session), next((word for word in words if word != choice), "")
        if bundle := await self._bundle(here, word):
            if choice not in ("", "once"):
                raise UserError("All at once are allowed once; say `session` or `always` of one of them, by its id.")
            return await self._settle_all(here, bundle, Verdict(outcome="allow", choice="once"))
        found = await self._question(here, word)
        offered = [one for one in found.row.choices if one != "deny"]
        if choice and choice not in offered and found.row.state == "open":
            rest = " or ".join(offered)
            raise UserError(f"{choice!r} is not offered for this question, which is still open. Say {rest}.")
        return await self._settle(here, found, Verdict(outcome="allow", choice=choice or "once"))

    async def deny(self, session: Session, rest: str) -> str:
        """Say no to a question, and what is wanted instead."""
        word, _, instead = rest.strip().partition(" ")
        if not _ID.fullmatch(word):
            word, instead = "", rest
        here, no = self._here(session), Verdict.refused("", instead)
        if bundle := await self._bundle(here, word):
            return await self._settle_all(here, bundle, no)
        return await self._settle(here, await self._question(here, word), no)

    async def answer(self, session: Session, rest: str) -> str:
        """Answer a question by its id: with the number of a choice, or in words."""
        word, _, text = rest.strip().partition(" ")
        if not word or not text.strip():
            raise UserError("Say which question, and the answer: /answer ID TEXT")
        here = self._here(session)
        found = await self._named(here, word)
        if found.row.state != "open":
            return f"That is already {found.row.summary}."
        if found.row.kind == "approval":
            raise UserError(f"This needs a yes or no: /approve {found.row.id} or /deny {found.row.id}.")
        assert here.envelope
        taken = await self._asks.answer(found.row, found.row.owner, text.strip(), called(here.envelope))
        return await self._closed(here, found, f"Answered: {taken}")

    async def pressed(self, envelope: Envelope, access: Access, rest: str) -> tuple[PutQuestion, str] | None:
        """What a button below the answer of a command says, once; None where the question is no such one.

        Raises UserError where it is settled, of another chat, or was put to somebody else.
        """
        word, _, number = rest.strip().partition(" ")
        put = await rows_of(self._ctx).questions.get(word)
        if put is None or put.kind != "command":
            return None
        place = (put.platform, put.account, put.chat, put.thread)
        if place != (envelope.platform, envelope.account, envelope.chat, envelope.thread):
            raise UserError(_GONE)
        if put.to != access.principal:
            raise UserError("This was asked of somebody else.")
        number = number.strip()
        if not (number.isdecimal() and 0 < int(number) <= len(put.says)):
            raise UserError(_GONE)
        if not await rows_of(self._ctx).questions.close(put.id, envelope.event_id):
            raise UserError("That was answered before.")
        return put, put.says[int(number) - 1]

    def _here(self, session: Session) -> Conversation:
        return self._ctx.conversation(session)

    async def _settle(self, here: Conversation, found: _Found, said: Verdict) -> str:
        row = found.row
        if row.state != "open":
            return f"That is already {row.summary}."
        assert here.envelope
        by = called(here.envelope)
        settle = self._ctx.approvals.settle
        settled = await settle(row.owner, row.id, evolve(said, by=by), admin=bool(row.addressee))
        told = "Denied."
        if settled.verdict == "allow":
            told = f"Allowed ({settled.choice})." + (
                f" It covers: {settled.covers}" if settled.choice != "once" else ""
            )
        return await self._closed(here, found, told)

    async def _bundle(self, here: Conversation, words: str) -> PutQuestion | None:
        """The questions that an id means together, for who may answer them."""
        found = await rows_of(self._ctx).questions.get(words)
        return found if found and found.kind == BUNDLE and here.role == "admin" else None

    async def _settle_all(self, here: Conversation, bundle: PutQuestion, said: Verdict) -> str:
        assert here.envelope
        settled = []
        for row in await self._asks.bundles.open(bundle):
            with suppress(UserError):  # somebody else answered it at the same moment
                verdict = evolve(said, by=called(here.envelope))
                settled.append((await self._ctx.approvals.settle(row.owner, row.id, verdict, admin=True)).id)
        seen = await self._asks.close_all(bundle, settled, here.envelope)
        if not settled:
            return "All of them are settled already."
        told = "Allowed (once)" if said.outcome == "allow" else "Denied"
        return "" if seen else f"{told}: {len(settled)} calls."

    async def _closed(self, here: Conversation, found: _Found, told: str) -> str:
        """Show it where the question stands; what is left to be said."""
        assert here.envelope
        put = found.put
        seen = put and await self._asks.close(put, f"{told} ({called(here.envelope)})", here.envelope)
        return "" if seen else told

    # --- which question is meant, of those that are theirs ----------------------------------------------------------

    async def _question(self, here: Conversation, words: str) -> _Found:
        """The question that is meant: by its id, or the only one that is open here."""
        if words:
            return await self._named(here, words)
        found = [one for one in await self._open(here) if one.row.kind == "approval"]
        session = here.session.id
        near = [one for one in found if session in (one.row.session_id, one.row.root)] or found
        if not near:
            raise UserError("No question is open.")
        if len(near) > 1:
            shown = "\n".join(f"{one.row.id}  {one.row.subject[:80]}" for one in near)
            raise UserError(f"Several questions are open; say which one:\n{shown}")
        return near[0]

    async def _open(self, here: Conversation) -> list[_Found]:
        """What somebody may answer: what was put to them; what waits for them elsewhere, or for any admin."""
        me, admin = await self._me(here), here.role == "admin"
        put = [one for one in await rows_of(self._ctx).questions.open_to(me) if one.kind != "command"]
        found: dict[str, _Found] = {}
        for one in put:
            if not (one.addressee == "admin" and not admin) and (row := await self._row(one)) and row.state == "open":
                found[row.id] = _Found(row, one)
        for row in await self._ctx.approvals.list(me, admin=admin, limit=50):
            theirs = await rows_of(self._ctx).questions.get(row.id)
            if theirs is None or self._may(here, me, theirs):
                found.setdefault(row.id, _Found(row, theirs))
        return list(found.values())

    async def _named(self, here: Conversation, words: str) -> _Found:
        """Raises UnknownName for one that is not theirs, as for one that is not there; UserError when unclear."""
        me = await self._me(here)
        put = [one for one in await rows_of(self._ctx).questions.named(words) if one.kind != "command"]
        mine = [one for one in put if self._may(here, me, one)]
        exact = [one for one in mine if one.id == words] or mine
        if len(exact) > 1:
            raise UserError(f"{words!r} could be several questions. Give more of the id.")
        if exact and (row := await self._row(exact[0])):
            return _Found(row, exact[0])
        assert here.envelope
        asked_here = [one for one in put if (one.chat, one.platform) == (here.envelope.chat, here.envelope.platform)]
        if asked_here and here.envelope.kind != "dm":
            raise UserError("This question was put to somebody else, who alone can answer it.")
        row = await self._ctx.approvals.find(me, words, admin=here.role == "admin")
        if (theirs := await rows_of(self._ctx).questions.get(row.id)) is not None and not self._may(here, me, theirs):
            raise UnknownName("approval", words)
        return _Found(row, theirs)

    async def _me(self, here: Conversation) -> Principal:
        """Who writes: also where the conversation is everybody's."""
        assert here.envelope
        return await speaker(self._ctx, here.envelope, here.session.owner)

    async def _row(self, put: PutQuestion) -> Approval | None:
        try:
            return await self._ctx.approvals.find(put.whose, put.id, admin=True)
        except UnknownName:
            return None

    @staticmethod
    def _may(here: Conversation, me: Principal, put: PutQuestion) -> bool:
        """Whether somebody may answer: the admins where it is for them, else only whom it was put to."""
        if put.addressee == "admin":
            return here.role == "admin"
        return put.to == me
