"""What was sent to a chat from elsewhere, for the conversation there: it knows of it when its next turn begins."""

import time
from functools import partial

from hermes_core.codec import clean, dumps, message_to_json
from hermes_core.database import Prepared, Transaction
from hermes_core.errors import UnknownName
from hermes_core.store.history import append_notes
from hermes_core.store.killpoints import die_at
from hermes_core.store.transactions import Stored, transaction
from hermes_core.types import Message

__all__ = ["CrossChatNotes"]


class CrossChatNotes(Stored):
    """Tells conversations what was said in their chats."""

    @transaction()
    def post(self, tx: Transaction, session_id: str, key: str, told: Message, also: Prepared[bool]) -> bool:
        """Tell a session of what was sent to its chat, in the commit in which somebody ``also`` writes that down.

        While a turn runs there, it is told at that turn's end. False, and nothing is told, when what is written says
        so: it was there. Raises UnknownName.
        """
        tx.committed.append(partial(die_at, "stored"))
        if not also(tx):
            return False
        session = tx.row("session_facts", id=session_id)
        if session is None:
            raise UnknownName("session", session_id)
        row = {"platform": "mirror", "account": "", "event_id": clean(key), "session_id": session_id}
        body = dumps(message_to_json(told))
        tx.change("mirror_add", **row, owner=session["owner"], body=body, received=time.time())
        if tx.row("turn_open", session_id=session_id) is None:
            append_notes(tx, session_id)
        return True
