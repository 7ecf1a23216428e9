"""What a model is told of a session's past: its messages, or what they were compacted to and those after."""

import json
import time
from collections.abc import Sequence

from hermes_core.codec import clean, dumps, message_from_json, message_to_json
from hermes_core.database import READ, Transaction
from hermes_core.errors import UnknownName, UserError
from hermes_core.store import leases
from hermes_core.store.killpoints import die_at
from hermes_core.store.leases import Turn
from hermes_core.store.outside import carried
from hermes_core.store.sessions import Sessions, get_session, stored, transaction
from hermes_core.store.validity import misfit, valid
from hermes_core.types import Message, Principal

__all__ = ["Contexts", "history_of", "session_facts", "stand_for"]


class Contexts(Sessions):
    """The part of the store that keeps prompts, reads histories, and puts shorter ones in their place."""

    @transaction()
    def save_prompt(self, tx: Transaction, session_id: str, prompt: str, tools: str) -> None:
        """Keep the system prompt, once, and the JSON of the offered tools; a later prompt never replaces the first."""
        tx.change("prompt_save", session_id=session_id, prompt=clean(prompt), tools=clean(tools))

    @transaction(READ)
    def load_prompt(self, tx: Transaction, session_id: str) -> tuple[str, str] | None:
        """What ``save_prompt`` kept, byte for byte, or None."""
        row = tx.row("prompt_load", session_id=session_id)
        return (row["prompt"], row["tools"]) if row else None

    @transaction(READ)
    def history(self, tx: Transaction, session_id: str, *, whole: bool = False) -> list[Message]:
        """The messages a model may be sent, in order, valid for every provider whatever the rows are like.

        Where the session was compacted, what it was compacted to stands for the rows until then; ``whole`` reads these.
        """
        return history_of(tx, session_id, whole=whole)

    @transaction()
    def compact(self, tx: Transaction, turn: Turn, messages: Sequence[Message], plugin: str) -> list[Message]:
        """Let a context that was found fit stand for all rows so far; the history as it is then. Raises StaleLease."""
        leases.hold(tx, turn)
        return _compact(tx, turn.session_id, messages, plugin)

    @transaction(long=True)
    def replace_context(
        self, tx: Transaction, owner: Principal, session_id: str, messages: Sequence[Message], plugin: str
    ) -> None:
        """The same outside of a turn. Raises UnknownName, Busy, and UserError when it does not fit."""
        get_session(tx, session_id, owner)
        leases.check_free(tx, session_id)
        if tx.row("turn_open", session_id=session_id):
            raise UserError(f"The last turn of {session_id} was cut off.", hint="Finish it first: hermes resume")
        if why := misfit(history_of(tx, session_id), messages):
            raise UserError(f"The context of {session_id} was not replaced: {why}.", hint="The old one stays in force.")
        _compact(tx, session_id, messages, plugin)


def history_of(tx: Transaction, session_id: str, *, whole: bool = False) -> list[Message]:
    """What ``Contexts.history`` gives."""
    context = None if whole else tx.row("context_last", session_id=session_id)
    start, kept = (context["upto"] + 1, json.loads(context["body"])) if context else (0, ())
    rows = tx.rows("messages_from", session_id=session_id, start=start, limit=-1)
    return valid([*map(message_from_json, kept), *(stored(body) for _, body in rows)])


def _compact(tx: Transaction, session_id: str, messages: Sequence[Message], plugin: str) -> list[Message]:
    stand_for(tx, session_id, carried(history_of(tx, session_id), messages), plugin)
    return history_of(tx, session_id)


def stand_for(tx: Transaction, session_id: str, messages: Sequence[Message], by: str) -> None:
    """Rows are never touched: a context is written beside them, and names the last one it stands for."""
    upto, body = session_facts(tx, session_id)[1], dumps([message_to_json(message) for message in messages])
    tx.change("context_add", session_id=session_id, upto=upto, body=body, plugin=by, created=time.time())
    die_at("compacting")


def session_facts(tx: Transaction, session_id: str) -> tuple[int, int]:
    """Owner and newest message of a session. Raises UnknownName."""
    row = tx.row("session_facts", id=session_id)
    if row is None:
        raise UnknownName("session", session_id)
    return row["owner"], row["last"]
