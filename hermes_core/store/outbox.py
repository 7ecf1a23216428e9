"""What has to go out: each message a row before it is sent, and a receipt after.

A row is written in the transaction that makes it true (a turn is closed, a command has run), so nothing is said that
did not happen, and nothing that happened goes unsaid. ``sending`` is written before a service is asked: who finds such
a row after a death knows that it may have arrived. Who sends gives a ``holder``; once another has taken a row over, the
marks of the former one meet nothing.
"""

import json
import sqlite3
import time
from collections.abc import Sequence
from functools import partial

from hermes_core.database import READ, Transaction
from hermes_core.store.approvals import Approvals
from hermes_core.store.codec import clean, dumps, message_from_json, message_to_json
from hermes_core.store.killpoints import die_at
from hermes_core.store.sessions import made, owner_number, owner_row, transaction
from hermes_core.types import Chat, Message, Principal
from hermes_core.values import frozen

__all__ = ["KEPT", "Outbox", "OutboxRow", "Outgoing", "put"]

KEPT = 7 * 86400.0  # seconds that a row stays after it was sent or given up


@frozen(kw_only=True)
class Outgoing:
    """One message that has to go out. ``key`` makes it unique for all time: what is put twice is sent once.

    ``kind`` is answer, notice, question or message. ``account`` is the bot's name on the ``platform``; ``trace`` is
    that of the message which it answers.
    """

    key: str
    owner: Principal
    platform: str
    account: str
    chat: Chat
    message: Message
    kind: str = "answer"
    session_id: str = ""
    turn_id: str = ""
    trace: str = ""


@frozen(kw_only=True)
class OutboxRow:
    """A message that has to go out, and how far it came. Times are seconds since 1970.

    ``state`` is draft (its turn still runs), waiting, sending (a service was asked, and there is no receipt yet), sent,
    failed or abandoned. ``pieces`` are the messages it is sent as, once that was decided; ``receipts`` name those that
    arrived, in order, an empty text where the service gave no id. ``placeholders`` are ids of messages that the next
    pieces are edited into; an empty one cannot be edited any more. ``tries`` counts the tries of the next piece that
    may have arrived. ``repeated`` is the number of the last piece, from 1, that may be seen twice; 0 when none is.
    ``sent`` is when it was sent or given up; before that, when its next piece was first tried.
    """

    id: int
    outgoing: Outgoing
    state: str
    pieces: Sequence[Message] = ()
    receipts: Sequence[str] = ()
    placeholders: Sequence[str] = ()
    error: str = ""
    holder: str = ""
    tries: int = 0
    repeated: int = 0
    created: float = 0.0
    due: float = 0.0
    sent: float = 0.0


def put(tx: Transaction, owner: int, outgoing: Outgoing) -> bool:
    """Write down that a message has to go out, or finish its draft; False when its key is there already."""
    new = bool(tx.change("outbox_put", **_values(owner, outgoing), state="waiting").rowcount)
    tx.committed.append(partial(die_at, "outboxed"))
    tx.tell("outbox")
    return new


class Outbox(Approvals):
    """The part of the store that keeps what has to go out."""

    @transaction()
    def send_later(self, tx: Transaction, outgoing: Outgoing) -> bool:
        """Put one message into the outbox, outside of any turn; False when its key is there already."""
        return put(tx, owner_row(tx, outgoing.owner), outgoing)

    @transaction()
    def draft(self, tx: Transaction, outgoing: Outgoing) -> OutboxRow:
        """The row of an answer that is still being written, made when it is new. It is sent once it is ``put``."""
        tx.change("outbox_draft", **_values(owner_row(tx, outgoing.owner), outgoing), state="draft")
        [row] = _list(tx, None, key=clean(outgoing.key))
        return row

    @transaction()
    def mark_draft(self, tx: Transaction, row: int, placeholders: Sequence[str]) -> bool:
        """Note the messages that show an answer while it is written; False when it is being sent by now."""
        return bool(tx.change("outbox_drafted", id=row, placeholder=_joined(placeholders)).rowcount)

    @transaction()
    def end_drafts(self, tx: Transaction, platform: str, account: str, message: Message, before: float) -> int:
        """Let a message stand for the answers that were shown and never came: their turns ended before an instant."""
        body = dumps(message_to_json(message))
        return int(tx.change("outbox_ended", platform=platform, account=account, body=body, before=before).rowcount)

    @transaction(READ)
    def due(
        self, tx: Transaction, platform: str, account: str, now: float, limit: int = 100, *, holder: str = ""
    ) -> list[OutboxRow]:
        """What may be sent now by an account: of each chat and thread the oldest row that is not done, if it is due.

        A row in ``sending`` is given too, unless ``holder`` is who sends it.
        """
        rows = tx.rows("outbox_due", platform=platform, account=account, now=now, limit=limit, holder=holder)
        return [_read(row) for row in rows]

    @transaction(READ)
    def next_due(self, tx: Transaction, platform: str, account: str) -> float | None:
        """When the next row of an account is due; None when none waits."""
        [(due,)] = tx.rows("outbox_next", platform=platform, account=account)
        return None if due is None else float(due)

    # --- how far it came: each False when somebody else has the row by now --------------------------------------

    @transaction()
    def mark_sending(
        self, tx: Transaction, row: OutboxRow, holder: str, pieces: Sequence[Message], *, repeated: int, now: float
    ) -> bool:
        """Before a service is asked: what it will be asked, and that from here on it may have arrived."""
        body = dumps([message_to_json(piece) for piece in pieces])
        values = {"body": body, "holder": holder, "repeated": repeated, "tries": row.tries + 1}
        seen = {"was": row.state, "by": row.holder, "sent": row.sent or now}
        return bool(tx.change("outbox_sending", id=row.id, **values, **seen).rowcount)

    @transaction()
    def mark_placeholder(self, tx: Transaction, row: int, holder: str, placeholders: Sequence[str]) -> bool:
        """Note which messages the next pieces are edited into; that is tried for the first time now."""
        values = {"placeholder": _joined(placeholders), "tries": 1}
        return bool(tx.change("outbox_placeholder", id=row, holder=holder, **values).rowcount)

    @transaction()
    def mark_sent(
        self, tx: Transaction, row: OutboxRow, holder: str, receipts: Sequence[str], placeholders: Sequence[str] = ()
    ) -> bool:
        """Note the receipts so far. With one for each piece it is sent, and its chat is known to live."""
        done = len(receipts) >= len(row.pieces)
        values = {
            "message_id": _joined(receipts),
            "placeholder": _joined(placeholders),
            "error": "",
            "repeated": row.repeated,
        }
        state = {"state": "sent" if done else "waiting", "sent": time.time() if done else 0.0, "tries": 0, "due": 0.0}
        if not tx.change("outbox_mark", id=row.id, holder=holder, **values, **state).rowcount:
            return False
        if done:
            tx.change("chat_alive", **_where(tx, row.outgoing))
        return True

    @transaction()
    def mark_again(self, tx: Transaction, row: OutboxRow, holder: str, due: float, error: str) -> bool:
        """Send it again later. ``row`` is as it was before the try, if that surely did not arrive, or else as it is."""
        values = {"message_id": _joined(row.receipts), "placeholder": _joined(row.placeholders), "error": clean(error)}
        state = {"state": "waiting", "sent": row.sent, "tries": row.tries, "repeated": row.repeated, "due": due}
        return bool(tx.change("outbox_mark", id=row.id, holder=holder, **values, **state).rowcount)

    @transaction()
    def mark_failed(self, tx: Transaction, row: OutboxRow, holder: str, error: str, *, dead: bool = False) -> bool:
        """Give it up, and remember why; ``dead``: nothing reaches its chat any more, as far as is known."""
        values = {"state": "failed", "error": clean(error), "sent": time.time()}
        if not tx.change("outbox_end", id=row.id, holder=holder, **values).rowcount:
            return False
        if dead:
            tx.change("outbox_chat_dead", **_where(tx, row.outgoing), dead=clean(error))
        return True

    @transaction()
    def abandon(self, tx: Transaction, row: int, error: str = "") -> bool:
        """Take back a draft, or a message that waits; False when that is too late."""
        return bool(tx.change("outbox_abandon", id=row, error=clean(error), sent=time.time()).rowcount)

    # --- looking back -------------------------------------------------------------------------------------------

    @transaction(READ)
    def outbox_of(
        self,
        tx: Transaction,
        owner: Principal | None = None,
        *,
        key: str = "",
        trace: str = "",
        turn_id: str = "",
        session_id: str = "",
        platform: str = "",
        account: str = "",
        state: str = "",
        limit: int = 100,
    ) -> list[OutboxRow]:
        """What an owner (without one: anybody) was or is to be sent, newest first, as far as it fits what is given."""
        wanted = {"key": key, "trace": trace, "turn_id": turn_id, "session_id": session_id}
        where = {"platform": platform, "account": account, "state": state}
        number = None if owner is None else owner_number(tx, owner)
        return _list(tx, number, **{name: clean(value) for name, value in (wanted | where).items()}, limit=limit)

    @transaction(READ)
    def outbox_counts(self, tx: Transaction) -> dict[tuple[str, str, str], int]:
        """How many rows each (platform, account, state) has."""
        return {(row[0], row[1], row[2]): int(row[3]) for row in tx.rows("outbox_counts")}

    @transaction()
    def prune_outbox(self, tx: Transaction, before: float) -> int:
        """Forget what was sent or given up before an instant, and drafts of that age; how many rows that were."""
        return int(tx.change("outbox_prune", before=before).rowcount)


def _values(owner: int, outgoing: Outgoing) -> dict[str, object]:
    chat, names = outgoing.chat, ("key", "session_id", "turn_id", "trace", "kind", "platform", "account")
    place = {"chat": clean(chat.id), "thread": clean(chat.thread), "reply_to": clean(chat.reply_to)}
    texts = {name: clean(getattr(outgoing, name)) for name in names}
    body = dumps(message_to_json(outgoing.message))
    return {"owner": owner, **texts, **place, "body": body, "created": time.time()}


def _where(tx: Transaction, outgoing: Outgoing) -> dict[str, object]:
    place = {"chat": outgoing.chat.id, "thread": outgoing.chat.thread}
    owner = owner_row(tx, outgoing.owner)
    return {"owner": owner, "platform": outgoing.platform, "account": outgoing.account, **place}


def _list(tx: Transaction, owner: int | None, *, limit: int = 1, **wanted: str) -> list[OutboxRow]:
    names = ("key", "trace", "turn_id", "session_id", "platform", "account", "state")
    values = {name: wanted.get(name, "") for name in names}
    everybody = -2  # no owner has it
    rows = tx.rows(
        "outbox_list", owner=everybody if owner is None else owner, everybody=everybody, limit=limit, **values
    )
    return [_read(row) for row in rows]


def _read(row: sqlite3.Row) -> OutboxRow:
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
