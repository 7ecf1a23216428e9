"""What came in: each message once, at once or waiting for its turn.

A message that waits is a row without a turn. It is taken in the transaction that stores what uses it, so a death at any
moment loses and repeats nothing.
"""

import json
import time
from functools import partial
from typing import Any

from attrs import NOTHING, asdict, evolve, fields

from hermes_core.codec import clean, dumps, message_from_json, message_to_json, plain_text
from hermes_core.database import READ, Prepared, Transaction
from hermes_core.errors import Duplicate
from hermes_core.store.killpoints import die_at
from hermes_core.store.transactions import Stored, get_session, owner_row, session_facts, transaction
from hermes_core.types import (
    Blob,
    Effect,
    Envelope,
    Message,
    Principal,
    Speaker,
    Text,
    ToolResult,
    TurnBounds,
    TurnOrder,
    Waiting,
)

DONE = "command"  # stands for the turn of a command that was carried out
REFUSED = "refused"  # of a message that could not be taken; its mode says why
OPEN, CLOSE = "<note-from-user>", "</note-from-user>"


class Inbox(Stored):
    """What came in for sessions, and what became of it."""

    @transaction()
    def wait(
        self, tx: Transaction, session_id: str, message: Message, *, mode: str, envelope: Envelope, trace: str = ""
    ) -> int:
        """Store a message that waits: ``steer`` or ``queue``; its row. Raises UnknownName, Duplicate."""
        return wait(tx, envelope, session_facts(tx, session_id)[0], session_id, message, mode, trace)

    @transaction(READ)
    def waiting(self, tx: Transaction, session_id: str) -> list[Waiting]:
        """Return what waits in a session, in the order it came."""
        return waiting(tx, session_id)

    @transaction()
    def drop(self, tx: Transaction, session_id: str) -> int:
        """Give up what waits in a session; how many messages that were."""
        found = waiting(tx, session_id)
        for one in found:
            take(tx, one.id, "dropped")
        return len(found)

    @transaction()
    def stop_wanted(self, tx: Transaction, session_id: str) -> bool:
        """Tell whether another process wants the turn of a session stopped; said once."""
        stops = tx.rows("stops_waiting", session_id=session_id)
        for row in stops:
            take(tx, row["id"], DONE)
        return bool(stops)

    @transaction(READ)
    def begun_by(self, tx: Transaction, session_id: str) -> Waiting | None:
        """Return the message whose turn is open in a session."""
        row = tx.row("turn_begun_by", session_id=session_id)
        return read(row) if row else None

    @transaction(READ)
    def asked_from(self, tx: Transaction, session_id: str, owner: Principal) -> Envelope | None:
        """Return where a session's last turn was asked for, without words; None if in no chat. Raises UnknownName."""
        get_session(tx, session_id, owner)
        row = tx.row("chat_asked", session_id=session_id)
        return address_from_json(row["envelope"], Message(role="user", parts=())) if row and row["envelope"] else None

    # --- commands: each is written down before it is carried out -----------------------------------------------

    @transaction()
    def hear(self, tx: Transaction, owner: Principal, envelope: Envelope, trace: str) -> int:
        """Write down a command before it is carried out; its row. Raises Duplicate."""
        return wait(tx, envelope, owner_row(tx, owner), "", envelope.message, "command", trace)

    @transaction()
    def refuse(self, tx: Transaction, owner: Principal, envelope: Envelope, why: str, trace: str) -> None:
        """Write down that a message came and could not be taken, without what it said. Raises Duplicate."""
        nothing = Message(role="user", parts=())
        take(tx, wait(tx, envelope, owner_row(tx, owner), "", nothing, clean(why), trace), REFUSED)

    @transaction()
    def done(self, tx: Transaction, row: int, also: Prepared[object] | None = None) -> None:
        """Write down that a command was carried out, and what somebody ``also`` writes of it. Raises Duplicate."""
        take(tx, row, DONE)
        if also:
            also(tx)
            tx.committed.append(partial(die_at, "stored"))

    @transaction(READ)
    def commands_waiting(self, tx: Transaction, platform: str, account: str) -> list[Waiting]:
        """Return the commands of an account that were heard and not carried out."""
        return [read(row) for row in tx.rows("commands_waiting", platform=platform, account=account)]

    @transaction()
    def forget(self, tx: Transaction, before: float) -> None:
        """Forget what commands said that were carried out before an instant; that they came stays known."""
        tx.change("commands_forget", before=before)


def receive(tx: Transaction, envelope: Envelope, owner: int, turn_id: str, trace: str = "") -> None:
    """Write down that an incoming message was received. Raises Duplicate."""
    row = {**_row(envelope, owner, trace), "turn_id": turn_id}
    if not tx.change("inbox_add", **row).rowcount:
        raise _duplicate(envelope)


def wait(
    tx: Transaction, envelope: Envelope, owner: int, session_id: str, message: Message, mode: str, trace: str = ""
) -> int:
    """Write down a message that waits; its row. Raises Duplicate."""
    row = {**_row(envelope, owner, trace), "session_id": session_id, "mode": mode}
    added = tx.add("inbox_wait", **row, body=dumps(message_to_json(message)))
    if not added:
        raise _duplicate(envelope)
    return added


def waiting(tx: Transaction, session_id: str) -> list[Waiting]:
    """Return what waits in a session, in the order it came."""
    return [read(row) for row in tx.rows("inbox_waiting", session_id=session_id)]


def address_to_json(envelope: Envelope) -> str:
    """Return an envelope without its message, as JSON text; what says nothing is left out."""
    known = {one.name: getattr(envelope, one.name) for one in fields(Envelope) if one.name != "message"}
    unsaid = {one.name: one.default for one in fields(Envelope) if one.default is not NOTHING}
    known["speaker"] = asdict(envelope.speaker) if envelope.speaker else None
    if envelope.order:
        known["order"] = asdict(envelope.order, value_serializer=_plain)
    return dumps({name: value for name, value in known.items() if name not in unsaid or value != unsaid[name]})


def address_from_json(text: str, message: Message) -> Envelope:
    """Read the envelope that ``address_to_json`` wrote, around a message. Raises ValueError or TypeError for others."""
    known = {one.name for one in fields(Envelope)}
    data = {name: value for name, value in json.loads(text).items() if name in known}
    order = _order(data["order"]) if data.get("order") else None
    speaker = Speaker(**data["speaker"]) if data.get("speaker") else None
    read = {**data, "roles": tuple(data.get("roles", ())), "order": order, "speaker": speaker}
    return Envelope(**read, message=message)


def _plain(_instance: object, _field: object, value: Any) -> Any:
    return value.value if isinstance(value, Effect) else value


def _order(data: dict[str, Any]) -> TurnOrder:
    """Read a stored order. What a newer kernel bounded in ways unknown here is not played: raises TypeError."""
    bounds = data.get("bounds")
    if bounds:
        bounds = TurnBounds(**{**bounds, "never": tuple(map(Effect, bounds.get("never", ())))})
    return TurnOrder(**{**data, "bounds": bounds or None})


def take(tx: Transaction, row: int, turn_id: str) -> None:
    """Mark a waiting message as used by a turn. Raises Duplicate when it was taken before."""
    if not tx.change("inbox_taken", id=row, turn_id=turn_id).rowcount:
        raise Duplicate("This message has had its turn.")


def steered(tx: Transaction, session_id: str, turn_id: str, result: ToolResult) -> ToolResult:
    """Return the result with what the person said meanwhile below it; taken by now."""
    notes = [one for one in waiting(tx, session_id) if one.mode == "steer"]
    for one in notes:
        take(tx, one.id, turn_id)
    said = [part for one in notes for part in _marked(one.message)]
    untrusted = result.untrusted or any(one.message.untrusted for one in notes)
    return evolve(result, parts=(*result.parts, *said), untrusted=untrusted) if said else result


def _marked(message: Message) -> list[Text | Blob]:
    words = plain_text(message.parts)
    rest = [part for part in message.parts if isinstance(part, Blob)]
    return [Text(text=f"\n\n{OPEN}\n{words}\n{CLOSE}"), *rest]


def read(row: Any) -> Waiting:
    """Read a row of the inbox that has a message."""
    message = message_from_json(json.loads(row["body"]))
    envelope = address_from_json(row["envelope"], message) if row["envelope"] else None
    return Waiting(id=row["id"], mode=row["mode"], message=message, trace=row["trace"], envelope=envelope)


def _row(envelope: Envelope, owner: int, trace: str) -> dict[str, Any]:
    known = {"envelope": address_to_json(envelope), "trace": trace, "owner": owner, "received": time.time()}
    return {**known, **_key(envelope)}


def _key(envelope: Envelope) -> dict[str, str]:
    return {name: clean(getattr(envelope, name)) for name in ("platform", "account", "event_id")}


def _duplicate(envelope: Envelope) -> Duplicate:
    return Duplicate(f"Message {'/'.join(_key(envelope).values())} was received before.")
