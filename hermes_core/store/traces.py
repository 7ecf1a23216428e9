"""The path of a message, read together: what came in, the turns it led to, what went out. Nothing that was said."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hermes_core.codec import clean
from hermes_core.database import READ, Transaction
from hermes_core.store.leases import alive
from hermes_core.store.sessions import Sessions, owner_number, transaction
from hermes_core.types import Principal
from hermes_core.values import frozen

__all__ = ["MessageRows", "Traces"]

_EVERYBODY = -2  # no owner has it
_SLACK = 3600.0  # seconds that a clock may have been set back between a turn's start and its model calls
Row = Mapping[str, Any]


@frozen(kw_only=True)
class MessageRows:
    """All rows with one trace, or where there is none of a turn, as mappings.

    Times are seconds since 1970, 0 for what has not happened. ``received`` are rows of the inbox with their
    ``address``, whether they are the asker's own (``mine``), and whether somebody works in their session (``alive``).
    ``turns`` hold ``models``, ``tools`` and ``questions``, the instant they ``answered`` at, and ``alive``.
    ``outgoing`` is what went out, as whoever sends it tells.
    """

    trace: str
    turn_id: str
    received: Sequence[Row]
    turns: Sequence[Row]
    outgoing: Sequence[Row] = ()


class Traces(Sessions):
    """The part of the store that says what became of a message."""

    @transaction(READ, long=True)
    def traces(
        self,
        tx: Transaction,
        word: str,
        owner: Principal,
        *,
        everybody: bool = False,
        sent: Sequence[tuple[str, str]] = (),
    ) -> list[MessageRows]:
        """The paths that a word names, newest first: a trace, a turn, an event or message of a platform, or
        ``latest``; with them those of what was ``sent``, each with its trace and turn. Those of an owner;
        ``everybody`` finds anybody's."""
        mine = owner_number(tx, owner)
        whose = _EVERYBODY if everybody else mine
        found = [(row["trace"], row["turn_id"]) for row in _found(tx, word, whose)]
        keys = dict.fromkeys((trace, "" if trace else turn) for trace, turn in (*found, *sent) if trace or turn)
        return [_path(tx, trace, turn, whose, mine) for trace, turn in keys]


def _found(tx: Transaction, word: str, owner: int) -> Sequence[Row]:
    """The trace and the turn of what a word names."""
    word = clean(word.strip())
    if word == "latest":
        return [_plain(row) for row in tx.rows("why_latest", owner=owner)]
    if not word:
        return []
    quoted = json.dumps(word, ensure_ascii=False)
    inbox = {"word": word, "address": f'%"message_id":{_escaped(quoted)}%', "owner": owner}
    found = [_plain(row) for row in tx.rows("why_inbox_found", **inbox)]
    for row in tx.rows("why_turn_found", word=word, owner=owner):
        began = tx.row("why_inbox", trace="", turn_id=row["id"], owner=owner)
        found.append({"trace": began["trace"] if began else "", "turn_id": row["id"]})
    return found


def _path(tx: Transaction, trace: str, turn: str, owner: int, mine: int) -> MessageRows:
    about = {"trace": trace, "turn_id": turn, "owner": owner}
    received = [_received(tx, _plain(row), mine) for row in tx.rows("why_inbox", **about)]
    ids = dict.fromkeys([turn, *(row["turn_id"] for row in received)])
    turns = [_turn(tx, _plain(row)) for name in ids for row in tx.rows("why_turn", turn_id=name, owner=owner)]
    return MessageRows(trace=trace, turn_id=turn, received=received, turns=turns)


def _received(tx: Transaction, row: dict[str, Any], mine: int) -> Row:
    envelope, holder = row.pop("envelope"), tx.row("why_lease", session_id=row["session_id"])
    address = json.loads(envelope) if envelope else {}
    lives = holder is not None and alive(tx, holder["holder"], holder["place"], holder["pid"], holder["beat"])
    return {**row, "address": address, "mine": row["owner"] == mine, "alive": lives}


def _turn(tx: Transaction, row: dict[str, Any]) -> Row:
    of = {"session_id": row["session_id"], "turn_id": row["id"]}
    since = row["started"] - _SLACK
    answered = tx.row("why_answered", **of)
    models = tx.rows("why_model_calls", owner=row["owner"], turn_id=row["id"], since=since)
    holder = [row.pop(name) for name in ("holder", "place", "pid", "beat")]
    return {
        **row,
        "alive": row["state"] == "open" and holder[0] is not None and alive(tx, *holder),
        "models": [_plain(one) for one in models],
        "tools": [_plain(one) for one in tx.rows("why_tool_calls", turn_id=row["id"])],
        "questions": [_plain(one) for one in tx.rows("why_approvals", **of)],
        "answered": (answered and answered[0]) or 0.0,
    }


def _plain(row: Any) -> dict[str, Any]:
    return {name: row[name] for name in row.keys()}  # noqa: SIM118 - a row is no mapping


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
