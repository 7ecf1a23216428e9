"""What has to go out: each message a row before it is sent, and a receipt after.

A row is written in the transaction that makes it true (a turn is closed, a command has run), so nothing is said that
did not happen, and nothing that happened goes unsaid. ``sending`` is written before a service is asked: who finds such
a row after a death knows that it may have arrived. Who sends gives a ``holder``; once another has taken a row over, the
marks of the former one meet nothing.
"""

import json
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from hermes_core.codec import clean, dumps, message_from_json, message_to_json
from hermes_core.database import READ, Prepared, TablesTransaction, made
from hermes_core.types import Chat, Message, Principal
from hermes_platform_gateway.rows.chats import revived, seen_dead
from hermes_platform_gateway.rows.quiet import held_until
from hermes_platform_gateway.rows.tables import Part, equal, outbox, owned, unit
from hermes_platform_gateway.rows.values import OutboxRow, Outgoing

__all__ = ["Outbox", "read", "stored"]

_WAKES = "outbox"
_STATES = ("waiting", "sending")


def _in(*states: str) -> sa.ColumnElement[bool]:
    """Whether a row is in one of these states; written so that the index of what waits is used."""
    return outbox.c.state.in_([sa.literal_column(f"'{state}'") for state in states])


def stored(tx: TablesTransaction, outgoing: Outgoing) -> bool:
    """Write down that a message has to go out, or finish its draft; False when its key is there already."""
    held = held_until(tx, outgoing) if outgoing.unasked else 0.0
    values = {**_values(outgoing), "state": "waiting", "held": held, "due": held}
    new = ("body", "state", "reply_to", "created", *(("held", "due") if held else ()))
    known = {name: values[name] for name in new}
    insert = postgresql.insert(outbox).values(values)
    insert = insert.on_conflict_do_update(index_elements=["key"], set_=known, where=_in("draft"))
    is_new = bool(tx.execute(insert).changed)
    tx.tell(_WAKES)
    return is_new


class Outbox(Part):
    """The rows of what has to go out."""

    async def sending(self, outgoing: Sequence[Outgoing]) -> Prepared[bool]:
        """What puts messages into the outbox in a commit of the kernel's; it says whether any was new."""
        return await self._store.prepare(lambda tx: sum(stored(tx, one) for one in outgoing) > 0)

    @unit()
    def send_later(self, tx: TablesTransaction, outgoing: Outgoing) -> bool:
        """Put one message into the outbox, outside of any turn; False when its key is there already."""
        return stored(tx, outgoing)

    @unit()
    def draft(self, tx: TablesTransaction, outgoing: Outgoing) -> OutboxRow:
        """The row of an answer that is still being written, made when it is new. It is sent once it is ``stored``."""
        insert = postgresql.insert(outbox).values({**_values(outgoing), "state": "draft"})
        tx.execute(insert.on_conflict_do_nothing())
        [row] = tx.execute(sa.select(outbox).where(outbox.c.key == clean(outgoing.key)))
        return read(row)

    @unit()
    def mark_draft(self, tx: TablesTransaction, row: int, placeholders: Sequence[str]) -> bool:
        """Note the messages that show an answer while it is written; False when it is being sent by now."""
        untried = (outbox.c.id == row) & _in("draft", "waiting") & (outbox.c.holder == "")
        return _changed(tx, untried, placeholder=_joined(placeholders))

    @unit(READ)
    def waits_before(self, tx: TablesTransaction, row: OutboxRow) -> bool:
        """Whether an older row of the same chat and thread is still to be sent: what is newer would overtake it."""
        out, (chat, thread) = row.outgoing, (clean(row.outgoing.chat.id), clean(row.outgoing.chat.thread))
        here = equal(outbox, platform=out.platform, account=out.account, chat=chat, thread=thread) & _in(*_STATES)
        older = (outbox.c.id < row.id) & (outbox.c.held <= tx.clock())
        return bool(list(tx.execute(sa.select(outbox.c.id).where(here, older).limit(1))))

    @unit(READ)
    def drafts(self, tx: TablesTransaction, platform: str, account: str) -> list[str]:
        """The turns whose answers were shown and are not to be sent yet."""
        shown = equal(outbox, platform=platform, account=account, state="draft") & (outbox.c.placeholder != "")
        return [row["turn_id"] for row in tx.execute(sa.select(outbox.c.turn_id).where(shown))]

    @unit()
    def end_drafts(
        self, tx: TablesTransaction, platform: str, account: str, message: Message, turns: Collection[str]
    ) -> int:
        """Let a message stand for the answers of ``turns`` that were shown and never came."""
        shown = equal(outbox, platform=platform, account=account, state="draft") & (outbox.c.placeholder != "")
        update = sa.update(outbox).where(shown, outbox.c.turn_id.in_(turns))
        return tx.execute(update.values(body=dumps(message_to_json(message)), state="waiting")).changed

    @unit(READ)
    def due(
        self, tx: TablesTransaction, platform: str, account: str, now: float, limit: int = 100, *, holder: str = ""
    ) -> list[OutboxRow]:
        """What may be sent now by an account: of each chat and thread the oldest row that is not done, if it is due.

        A row in ``sending`` is given too, unless ``holder`` is who sends it. One that is held lets others pass.
        """
        first = sa.select(sa.func.min(outbox.c.id)).where(equal(outbox, platform=platform, account=account))
        first = first.where(_in(*_STATES), outbox.c.held <= now).group_by(outbox.c.chat, outbox.c.thread)
        mine = (outbox.c.state == "waiting") | (outbox.c.holder != holder)
        found = sa.select(outbox).where(outbox.c.id.in_(first), outbox.c.due <= now, mine)
        return [read(row) for row in tx.execute(found.order_by(outbox.c.id).limit(limit))]

    async def subscribe(self, call: Callable[[], None]) -> Callable[[], None]:
        """Call back whenever there is something to send, as far as that is heard here; what ends that."""
        return await self._store.subscribe(_WAKES, call)

    @unit(READ)
    def next_due(self, tx: TablesTransaction, platform: str, account: str) -> float | None:
        """When the next row of an account is due; None when none waits."""
        here = equal(outbox, platform=platform, account=account) & _in("waiting")
        [row] = tx.execute(sa.select(sa.func.min(outbox.c.due).label("due")).where(here))
        return None if row["due"] is None else float(row["due"])

    # --- how far it came: each False when somebody else has the row by now --------------------------------------

    @unit()
    def mark_sending(
        self,
        tx: TablesTransaction,
        row: OutboxRow,
        holder: str,
        pieces: Sequence[Message],
        *,
        repeated: int,
        now: float,
    ) -> bool:
        """Before a service is asked: what it will be asked, and that from here on it may have arrived."""
        body = dumps([message_to_json(piece) for piece in pieces])
        values = {"body": body, "holder": holder, "repeated": repeated, "tries": row.tries + 1}
        seen = equal(outbox, id=row.id, state=row.state, holder=row.holder) & _in(*_STATES)
        return _changed(tx, seen, **values, sent=row.sent or now, state="sending", due=0)

    @unit()
    def mark_placeholder(self, tx: TablesTransaction, row: int, holder: str, placeholders: Sequence[str]) -> bool:
        """Note which messages the next pieces are edited into; that is tried for the first time now."""
        return _changed(tx, _held(row, holder), placeholder=_joined(placeholders), tries=1)

    @unit()
    def mark_sent(
        self,
        tx: TablesTransaction,
        row: OutboxRow,
        holder: str,
        receipts: Sequence[str],
        placeholders: Sequence[str] = (),
    ) -> bool:
        """Note the receipts so far. With one for each piece it is sent, and its chat is known to live."""
        done = len(receipts) >= len(row.pieces)
        values = {"message_id": _joined(receipts), "placeholder": _joined(placeholders), "repeated": row.repeated}
        state = {"state": "sent" if done else "waiting", "sent": time.time() if done else 0.0}
        if not _changed(tx, _held(row.id, holder), **values, **state, error="", tries=0, due=0.0):
            return False
        if done:
            revived(tx, row.outgoing)
        return True

    @unit()
    def mark_again(self, tx: TablesTransaction, row: OutboxRow, holder: str, due: float, error: str) -> bool:
        """Send it again later. ``row`` is as it was before the try, if that surely did not arrive, or else as it is."""
        values = {"message_id": _joined(row.receipts), "placeholder": _joined(row.placeholders), "error": clean(error)}
        state = {"state": "waiting", "sent": row.sent, "tries": row.tries, "repeated": row.repeated, "due": due}
        return _changed(tx, _held(row.id, holder), **values, **state)

    @unit()
    def mark_failed(
        self, tx: TablesTransaction, row: OutboxRow, holder: str, error: str, *, dead: bool = False
    ) -> bool:
        """Give it up, and remember why; ``dead``: nothing reaches its chat any more, as far as is known.

        The tries of ``row`` are those after which it may have arrived.
        """
        values = {"state": "failed", "error": clean(error), "tries": row.tries, "sent": time.time()}
        if not _changed(tx, _held(row.id, holder), **values):
            return False
        if dead:
            seen_dead(tx, row.outgoing, clean(error))
        return True

    @unit()
    def abandon(self, tx: TablesTransaction, row: int, error: str = "") -> bool:
        """Take back a draft, or a message that waits; False when that is too late."""
        unsent = (outbox.c.id == row) & _in("draft", "waiting")
        return _changed(tx, unsent, error=clean(error), sent=time.time(), state="abandoned")

    @unit()
    def send_again(self, tx: TablesTransaction, row: int) -> bool:
        """Let a message wait again that was given up; False when it is not. What of it arrived is not sent twice.

        From now it has its whole time again. A piece that may have arrived is sent as one that may be repeated.
        """
        values = {"state": "waiting", "holder": "", "error": "", "due": 0.0, "repeated": 0, "sent": outbox.c.created}
        tries = sa.case((outbox.c.tries > 0, 1), else_=0)
        if not _changed(tx, equal(outbox, id=row) & _in("failed"), **values, tries=tries, created=time.time()):
            return False
        tx.tell(_WAKES)
        return True

    # --- looking back -------------------------------------------------------------------------------------------

    @unit(READ)
    def outbox_of(
        self, tx: TablesTransaction, /, owner: Principal | None = None, *, limit: int = 100, **wanted: str
    ) -> list[OutboxRow]:
        """What an owner (without one: anybody) was or is to be sent, newest first, as far as it fits what is given.

        ``wanted`` may be ``key``, ``trace``, ``turn_id``, ``session_id``, ``platform``, ``account`` and ``state``.
        """
        given = {name: clean(value) for name, value in wanted.items() if value}
        rows = sa.select(outbox).where(equal(outbox, **given, **(owned(owner) if owner else {})))
        return [read(row) for row in tx.execute(rows.order_by(outbox.c.id.desc()).limit(limit))]

    @unit(READ)
    def outbox_counts(self, tx: TablesTransaction) -> dict[tuple[str, str, str], int]:
        """How many rows each (platform, account, state) has; what waits for the end of quiet hours is ``held``."""
        held = _in("waiting") & (
            outbox.c.held > sa.literal_column(repr(tx.clock()))
        )  # a server must see it is one group
        state = sa.case((held, sa.literal_column("'held'")), else_=outbox.c.state).label("state")
        by = (outbox.c.platform, outbox.c.account, state)
        rows = tx.execute(sa.select(*by, sa.func.count().label("many")).group_by(*by))
        return {(row["platform"], row["account"], row["state"]): int(row["many"]) for row in rows}

    @unit()
    def prune_outbox(self, tx: TablesTransaction, before: float) -> int:
        """Forget what was sent or given up before an instant, and drafts of that age; how many rows that were."""
        over = _in("sent", "failed", "abandoned") & (outbox.c.sent < before)
        return tx.execute(sa.delete(outbox).where(over | (_in("draft") & (outbox.c.created < before)))).changed


def _held(row: int, holder: str) -> sa.ColumnElement[bool]:
    return equal(outbox, id=row, holder=holder) & _in("sending")


def _changed(tx: TablesTransaction, where: sa.ColumnElement[bool], **values: object) -> bool:
    return bool(tx.execute(sa.update(outbox).where(where).values(values)).changed)


def _values(outgoing: Outgoing) -> dict[str, object]:
    chat, names = outgoing.chat, ("key", "session_id", "turn_id", "trace", "kind", "platform", "account", "opens")
    where = {"chat": clean(chat.id), "thread": clean(chat.thread), "reply_to": clean(chat.reply_to)}
    texts = {name: clean(getattr(outgoing, name)) for name in names}
    body = dumps(message_to_json(outgoing.message))
    return {**owned(outgoing.owner), **texts, **where, "body": body, "created": time.time()}


def read(row: Mapping[str, Any]) -> OutboxRow:
    """Return what a row says."""
    body = json.loads(row["body"])
    pieces = tuple(message_from_json(piece) for piece in body) if isinstance(body, list) else ()
    whole = [part for piece in pieces for part in piece.parts]
    message = Message(role="assistant", parts=tuple(whole)) if pieces else message_from_json(body)
    owner = Principal(profile=row["profile"], person=row["person"])
    chat = Chat(row["chat"], row["thread"], row["reply_to"])
    known = {"receipts": _parted(row["message_id"]), "placeholders": _parted(row["placeholder"]), "pieces": pieces}
    outgoing = made(Outgoing, row, owner=owner, chat=chat, message=message)
    return made(OutboxRow, row, outgoing=outgoing, **known)


def _joined(ids: Sequence[str]) -> str:
    """Ids as one text: an id alone as itself, which is how people look for it; several as a JSON list."""
    return clean(ids[0]) if len(ids) == 1 and ids[0] and not ids[0].startswith("[") else dumps(list(ids)) if ids else ""


def _parted(text: str) -> Sequence[str]:
    if not text.startswith("["):
        return (text,) if text else ()
    return tuple(json.loads(text))
