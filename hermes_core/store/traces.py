"""What became of a message: what came in, the turns it led to, what went out."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hermes_core.codec import clean, plain_text, stored
from hermes_core.database import READ, Transaction, made
from hermes_core.errors import UserError
from hermes_core.store.leases import alive
from hermes_core.store.transactions import Stored, owner_number, transaction
from hermes_core.store.validity import said
from hermes_core.types import MessageTrace, PastTurn, Principal, Usage

__all__ = ["Traces"]

_EVERYBODY = -2  # no owner has it
_SLACK = 3600.0  # seconds that a clock may have been set back between a turn's start and its model calls
Row = Mapping[str, Any]


class Traces(Stored):
    """The part of the store that says what became of a message."""

    @transaction(READ, long=True)
    def find(
        self,
        tx: Transaction,
        word: str,
        owner: Principal,
        *,
        everybody: bool = False,
        sent: Sequence[tuple[str, str]] = (),
    ) -> list[MessageTrace]:
        """Find the paths that a word names, newest first: a trace, a turn, an event or message of a platform, or
        ``latest``; with them those of what was ``sent``, each with its trace and turn. Those of an owner;
        ``everybody`` finds anybody's."""
        mine = owner_number(tx, owner)
        whose = _EVERYBODY if everybody else mine
        found = [(row["trace"], row["turn_id"]) for row in _found(tx, word, whose)]
        keys = dict.fromkeys((trace, "" if trace else turn) for trace, turn in (*found, *sent) if trace or turn)
        return [_path(tx, trace, turn, whose, mine) for trace, turn in keys]

    @transaction(READ)
    def past_turn(
        self, tx: Transaction, owner: Principal, *, platform: str, account: str, event_id: str
    ) -> PastTurn | None:
        """Return what became of an event that came in; None when none did, or its turn was deleted."""
        key = {"platform": clean(platform), "account": clean(account), "event_id": clean(event_id)}
        row = tx.row("turn_of_event", owner=owner_number(tx, owner), **key)
        if row is None or not (row["session_id"] or row["waits_in"]):
            return None
        if not row["session_id"]:
            message = stored(row["body"]) if row["body"] else said("user", "")
            return PastTurn(session_id=row["waits_in"], turn_id="", state="waiting", message=message)
        turn = {"session_id": row["session_id"], "turn_id": row["turn_id"]}
        first, final = (tx.row(name, **turn) for name in ("turn_first", "turn_final"))
        state = row["state"]
        if state == "open" and not alive(tx, row):
            state = "cut"
        newest = tx.row("turn_newest", session_id=row["session_id"])
        return made(
            PastTurn,
            row,
            state=state,
            usage=made(Usage, row),
            message=stored(first["body"]) if first else said("user", ""),
            answer=plain_text(stored(final["body"]).parts) if final and state == "done" else "",
            last=newest is not None and newest["id"] == row["turn_id"],
        )

    @transaction()
    def forget_event(self, tx: Transaction, owner: Principal, *, platform: str, account: str, event_id: str) -> bool:
        """Forget that an event came in and what became of it; what was said stays. False when none did.

        Raises UserError while its turn runs.
        """
        key = {"platform": clean(platform), "account": clean(account), "event_id": clean(event_id)}
        number = owner_number(tx, owner)
        row = tx.row("turn_of_event", owner=number, **key)
        if row is not None and row["state"] == "open":
            raise UserError("Its turn is not over.", hint="Stop it, or wait.")
        return bool(tx.change("event_forget", owner=number, **key).rowcount)


def _found(tx: Transaction, word: str, owner: int) -> Sequence[Row]:
    """Return the trace and the turn of what a word names."""
    word = clean(word.strip())
    if word == "latest":
        return [_plain(row) for row in tx.rows("why_latest", owner=owner)]
    if not word:
        return []
    quoted = json.dumps(word, ensure_ascii=False)
    escaped = quoted.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    inbox = {"word": word, "address": f'%"message_id":{escaped}%', "owner": owner}
    found = [_plain(row) for row in tx.rows("why_inbox_found", **inbox)]
    for row in tx.rows("why_turn_found", word=word, owner=owner):
        began = tx.row("why_inbox", trace="", turn_id=row["id"], owner=owner)
        found.append({"trace": began["trace"] if began else "", "turn_id": row["id"]})
    return found


def _path(tx: Transaction, trace: str, turn: str, owner: int, mine: int) -> MessageTrace:
    about = {"trace": trace, "turn_id": turn, "owner": owner}
    received = [_received(tx, _plain(row), mine) for row in tx.rows("why_inbox", **about)]
    ids = dict.fromkeys([turn, *(row["turn_id"] for row in received)])
    turns = [_turn(tx, _plain(row)) for name in ids for row in tx.rows("why_turn", turn_id=name, owner=owner)]
    return MessageTrace(trace=trace, turn_id=turn, received=received, turns=turns)


def _received(tx: Transaction, row: dict[str, Any], mine: int) -> Row:
    envelope, holder = row.pop("envelope"), tx.row("why_lease", session_id=row["session_id"])
    address = json.loads(envelope) if envelope else {}
    return {**row, "address": address, "mine": row["owner"] == mine, "alive": alive(tx, holder)}


def _turn(tx: Transaction, row: dict[str, Any]) -> Row:
    of = {"session_id": row["session_id"], "turn_id": row["id"]}
    since = row["started"] - _SLACK
    answered = tx.row("why_answered", **of)
    models = tx.rows("why_model_calls", turn_id=row["id"], since=since)
    holder = {name: row.pop(name) for name in ("holder", "place", "pid", "beat")}
    return {
        **row,
        "alive": row["state"] == "open" and alive(tx, holder),
        "models": [_plain(one) for one in models],
        "tools": [_plain(one) for one in tx.rows("why_tool_calls", turn_id=row["id"])],
        "questions": [_plain(one) for one in tx.rows("why_approvals", **of)],
        "answered": (answered and answered[0]) or 0.0,
    }


def _plain(row: Any) -> dict[str, Any]:
    return {name: row[name] for name in row.keys()}  # noqa: SIM118 - a row is no mapping
