"""Which messages of ours are gone on with, and where: by whom, in which session, in which thread of a chat.

A row says that what a person answers to messages of a session, in a chat, goes on in that session. ``topic`` is what
several of these sessions have in common, such as the job that they are runs of: they share a thread, and what is
written there without a quote goes on in the newest.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from hermes_core.codec import clean, plain_text
from hermes_core.database import READ, Prepared, TablesTransaction
from hermes_core.types import Envelope, Principal
from hermes_platform_gateway.rows.outbox import read, stored
from hermes_platform_gateway.rows.tables import Part, equal, outbox, owned, threads, unit
from hermes_platform_gateway.rows.values import OutboxRow, Outgoing

__all__ = ["Threads"]

_LATELY = 50  # sessions of a chat whose messages are looked at for a quote
_ENOUGH = 12  # letters and digits of a quote that may be the beginning of a message; a shorter one is all of it
_KEPT = 180 * 86_400.0  # seconds for which an answer still finds its session


class Threads(Part):
    """The rows of what is gone on with."""

    async def sending(self, outgoing: Outgoing, topic: str) -> Prepared[bool]:
        """Return what puts a message that is gone on with in its session into the outbox, for a commit of the kernel's.

        It says whether the message is new, and goes to the thread of its topic, where there is one.
        """
        return await self._store.prepare(lambda tx: _send(tx, outgoing, topic))

    @unit()
    def send(self, tx: TablesTransaction, outgoing: Outgoing, topic: str) -> bool:
        """Do so in a commit of its own."""
        return _send(tx, outgoing, topic)

    @unit()
    def taken(self, tx: TablesTransaction, row: OutboxRow) -> OutboxRow | None:
        """Take from a row that it wants a thread, before a service is asked for one: nobody else asks again.

        Returns the row as it is now: in the thread of its topic, if there is one by now. None where it is no more.
        """
        out, here = row.outgoing, _place(row.outgoing)
        mine = sa.and_(outbox.c.id == row.id, outbox.c.state == "waiting", outbox.c.opens != "")
        if not tx.execute(sa.update(outbox).where(mine).values(opens="")).changed:
            return None
        own = sa.select(threads.c.topic).where(equal(threads, **here, session_id=out.session_id))
        same = sa.select(threads.c.thread).where(equal(threads, **here), threads.c.topic.in_(own))
        if found := tx.execute(same.where(threads.c.thread != "").limit(1)):
            _moved(tx, row, str(found[0]["thread"]))
        return next((read(one) for one in tx.execute(sa.select(outbox).where(outbox.c.id == row.id))), None)

    @unit()
    def opened(self, tx: TablesTransaction, row: OutboxRow, thread: str) -> OutboxRow:
        """Note the thread that a service made for a row: its message goes there, and so do others of its topic."""
        _moved(tx, row, thread)
        [changed] = tx.execute(sa.select(outbox).where(outbox.c.id == row.id))
        return read(changed)

    @unit()
    def lost(self, tx: TablesTransaction, row: OutboxRow) -> bool:
        """Let a message wait again for its chat, whose thread is no more; False where that was not of our making."""
        out, here = row.outgoing, _place(row.outgoing)
        there = equal(threads, **here, thread=clean(out.chat.thread)) & (threads.c.thread != "")
        if not tx.execute(sa.update(threads).where(there).values(thread="")).changed:
            return False
        again = {"thread": "", "state": "waiting", "holder": "", "message_id": "", "placeholder": "", "tries": 0}
        tx.execute(sa.update(outbox).where(outbox.c.id == row.id).values(**again, due=0.0))
        return True

    @unit(READ)
    def session(self, tx: TablesTransaction, person: Principal, envelope: Envelope) -> str:
        """Return the session in which a message of a person goes on; empty for one that answers nothing of these.

        That is the one of the message that it quotes, else the newest of the thread that it is in.
        """
        there = _lately(tx, person, envelope)
        if quoted := _quoted(tx, person, envelope, there):
            return quoted.session_id
        found = (row for row in there if envelope.thread and row["thread"] == clean(envelope.thread))
        return next((str(row["session_id"]) for row in found), "")

    @unit(READ)
    def is_own(self, tx: TablesTransaction, person: Principal, envelope: Envelope, session: str) -> bool:
        """Whether a person quotes what this session of theirs told."""
        quoted = _quoted(tx, person, envelope, _lately(tx, person, envelope))
        return quoted is not None and quoted.session_id == session

    @unit()
    def forget(self, tx: TablesTransaction) -> int:
        """Forget what was said so long ago that nobody answers it any more; how many rows that were."""
        return tx.execute(sa.delete(threads).where(threads.c.made < time.time() - _KEPT)).changed


def _send(tx: TablesTransaction, outgoing: Outgoing, topic: str) -> bool:
    here = _place(outgoing)
    known = tx.execute(
        sa.select(threads.c.thread)
        .where(equal(threads, **here, topic=clean(topic)), threads.c.thread != "")
        .order_by(threads.c.id.desc())
        .limit(1)
    )
    thread = str(known[0]["thread"]) if known else ""
    if thread and not outgoing.chat.thread:
        outgoing = outgoing.to(thread)
    if not stored(tx, outgoing):
        return False
    row = {
        **here,
        "thread": "" if outgoing.chat.thread != thread else thread,
        "topic": clean(topic),
        "session_id": outgoing.session_id,
    }
    tx.execute(sa.delete(threads).where(equal(threads, **here, session_id=outgoing.session_id)))
    tx.execute(sa.insert(threads).values(**row, made=time.time()))
    return True


def _lately(tx: TablesTransaction, person: Principal, envelope: Envelope) -> Sequence[Mapping[str, Any]]:
    """Return the newest rows of a person in the chat of a message."""
    here = {name: clean(getattr(envelope, name)) for name in ("platform", "account", "chat")}
    wanted = sa.select(threads).where(equal(threads, **owned(person), **here))
    return list(tx.execute(wanted.order_by(threads.c.id.desc()).limit(_LATELY)))


def _quoted(
    tx: TablesTransaction, person: Principal, envelope: Envelope, there: Sequence[Mapping[str, Any]]
) -> Outgoing | None:
    """Return the newest message of these sessions that a person quotes."""
    if not there or not envelope.quote or envelope.quote_by not in ("", envelope.account):
        return None
    quote = _bare(envelope.quote)
    ours = {name: clean(getattr(envelope, name)) for name in ("platform", "account", "chat")}
    said = sa.select(outbox).where(equal(outbox, **ours), outbox.c.session_id.in_([row["session_id"] for row in there]))
    for row in tx.execute(said.order_by(outbox.c.id.desc()).limit(10 * _LATELY)):
        out = read(row).outgoing
        if out.owner == person and _quotes(quote, _bare(plain_text(out.message.parts))):
            return out
    return None


def _place(outgoing: Outgoing) -> dict[str, str]:
    where = {"platform": outgoing.platform, "account": outgoing.account, "chat": outgoing.chat.id}
    return {**owned(outgoing.owner), **{name: clean(value) for name, value in where.items()}}


def _moved(tx: TablesTransaction, row: OutboxRow, thread: str) -> None:
    here, thread = _place(row.outgoing), clean(thread)
    own = sa.select(threads.c.topic).where(equal(threads, **here, session_id=row.outgoing.session_id))
    topics = [one["topic"] for one in tx.execute(own)]
    tx.execute(sa.update(threads).where(equal(threads, **here), threads.c.topic.in_(topics)).values(thread=thread))
    tx.execute(sa.update(outbox).where(outbox.c.id == row.id).values(thread=thread))


def _bare(text: str) -> str:
    """Return the letters and digits of a text alone: what a service does to marks and blanks does not matter."""
    return "".join(one for one in text.casefold() if one.isalnum())


def _quotes(quoted: str, text: str) -> bool:
    """Whether a quote is of this text: all of it, or, as of what was sent in pieces or cut, enough of it."""
    return bool(quoted) and (quoted == text or (len(quoted) >= _ENOUGH and quoted in text))
