"""What came in: each message once, at once or waiting for its turn.

A message that waits is a row without a turn. It is taken in the transaction that stores what uses it, so a death at any
moment loses and repeats nothing.
"""

import json
import time

from attrs import evolve, frozen

from hermes_core.store.codec import clean, dumps, message_from_json, message_to_json
from hermes_core.store.engine import Transaction
from hermes_core.store.leases import Duplicate
from hermes_core.types import Blob, Envelope, Message, Text, ToolResult

__all__ = ["CLOSE", "OPEN", "Waiting", "drop", "receive", "steered", "take", "wait", "waiting"]

OPEN, CLOSE = "<note-from-user>", "</note-from-user>"


@frozen(kw_only=True)
class Waiting:
    """A message that waits in a session. ``mode`` is steer (with the next tool result) or queue (a turn of its own)."""

    id: int
    message: Message
    mode: str


def receive(tx: Transaction, envelope: Envelope, owner: int, turn_id: str) -> None:
    """Write down that an incoming message was received. Raises Duplicate."""
    key = _key(envelope)
    if not tx.change("inbox_add", **key, owner=owner, turn_id=turn_id, received=time.time()).rowcount:
        raise Duplicate(f"Message {'/'.join(key.values())} was received before.")


def wait(tx: Transaction, envelope: Envelope, owner: int, session_id: str, message: Message, mode: str) -> None:
    """Write down a message that waits. Raises Duplicate."""
    key, body = _key(envelope), dumps(message_to_json(message))
    row = {**key, "owner": owner, "session_id": session_id, "body": body, "mode": mode, "received": time.time()}
    if not tx.change("inbox_wait", **row).rowcount:
        raise Duplicate(f"Message {'/'.join(key.values())} was received before.")


def waiting(tx: Transaction, session_id: str) -> list[Waiting]:
    """What waits in a session, in the order it came."""
    rows = tx.rows("inbox_waiting", session_id=session_id)
    return [Waiting(id=r["id"], mode=r["mode"], message=message_from_json(json.loads(r["body"]))) for r in rows]


def take(tx: Transaction, row: int, turn_id: str) -> None:
    """Mark a waiting message as used by a turn. Raises Duplicate when it was taken before."""
    if not tx.change("inbox_taken", id=row, turn_id=turn_id).rowcount:
        raise Duplicate("This message has had its turn.")


def drop(tx: Transaction, session_id: str) -> int:
    """Give up what waits in a session; how many messages that were."""
    found = waiting(tx, session_id)
    for one in found:
        take(tx, one.id, "dropped")
    return len(found)


def steered(tx: Transaction, session_id: str, turn_id: str, result: ToolResult) -> ToolResult:
    """The result with what the person said meanwhile below it; taken by now."""
    notes = [one for one in waiting(tx, session_id) if one.mode == "steer"]
    for one in notes:
        take(tx, one.id, turn_id)
    said = [part for one in notes for part in _marked(one.message)]
    return evolve(result, parts=(*result.parts, *said)) if said else result


def _marked(message: Message) -> list[Text | Blob]:
    words = "".join(part.text for part in message.parts if isinstance(part, Text))
    rest = [part for part in message.parts if isinstance(part, Blob)]
    return [Text(text=f"\n\n{OPEN}\n{words}\n{CLOSE}"), *rest]


def _key(envelope: Envelope) -> dict[str, str]:
    return {name: clean(getattr(envelope, name)) for name in ("platform", "account", "event_id")}
