"""The journal of turns: each step is one short transaction that commits before anyone acts on it."""

import time
import zlib
from collections.abc import Container, Sequence
from functools import partial
from typing import Any

from attrs import evolve

from hermes_core.codec import canonical, clean, dumps, message_to_json, plain_text, stored
from hermes_core.database import READ, Prepared, Transaction, made
from hermes_core.errors import StoreError
from hermes_core.store import inbox, leases
from hermes_core.store.history import append, append_notes, history_of
from hermes_core.store.killpoints import die_at
from hermes_core.store.leases import Busy, Resumed, Turn
from hermes_core.store.outside import result_of
from hermes_core.store.spending import book, sums
from hermes_core.store.transactions import Stored, owner_number, owner_row, session_facts, transaction
from hermes_core.store.validity import INTERRUPTED, NO_RESULT, NOT_RUN, result_message, said
from hermes_core.types import Envelope, Message, Principal, ToolCall, ToolResult, Usage
from hermes_core.values import frozen

__all__ = ["Journal", "LastTurn"]

_NOTHING = Usage()
_END = 2**62


@frozen(kw_only=True)
class LastTurn:
    """How far the last turn of a session came: ``open``, ``done``, ``failed`` or ``interrupted``."""

    state: str
    error: str
    answer: str
    provider: str
    model: str
    started: float
    ended: float
    usage: Usage


class Journal(Stored):
    """The turns of sessions. Whoever writes for one proves that it is theirs."""

    @transaction()
    def open_turn(
        self,
        tx: Transaction,
        session_id: str,
        message: Message,
        *,
        turn_id: str,
        holder: str,
        envelope: Envelope | None = None,
        provider: str,
        model: str,
        left: int = 0,
        waited: int = 0,
        patient: bool = False,
        trace: str = "",
    ) -> Turn:
        """Take the session, mend what an interrupted turn left behind, and store what the person said: one commit.

        ``left`` is the token of a turn that the caller ended, but could not close. ``waited`` is the row of a message
        that waited for this turn. Raises Busy when somebody works on the session, or, to who is ``patient``, when a
        death cut off the turn of what waited before; Duplicate when the message was received, or had its turn, before.
        """
        owner = session_facts(tx, session_id)[0]
        if envelope is not None:
            inbox.receive(tx, envelope, owner, turn_id, trace)
        if waited:
            inbox.take(tx, waited, turn_id)
        fence = leases.take(tx, session_id, holder, left)
        if patient and tx.row("turn_begun_by", session_id=session_id):
            raise Busy(session_id, "a turn that was cut off")
        _repair(tx, session_id)
        values = {"holder": holder, "provider": provider, "model": model, "state": "open", "started": time.time()}
        tx.change("turn_add", id=turn_id, session_id=session_id, owner=owner, **values)
        append(tx, session_id, message, turn_id)
        return Turn(id=turn_id, session_id=session_id, holder=holder, fence=fence)

    @transaction()
    def resume_turn(self, tx: Transaction, session_id: str, *, holder: str, left: int = 0) -> Resumed | None:
        """Take over the open turn of a session, or None when there is none, or its holder lives."""
        row = tx.row("turn_open", session_id=session_id)
        if row is None:
            return None
        try:
            fence = leases.take(tx, session_id, holder, left)
        except Busy:
            return None
        tx.change("turn_held", id=row["id"], by=holder)  # who dies of it too is counted, unless a person was asked
        return Resumed(
            turn=Turn(id=row["id"], session_id=session_id, holder=holder, fence=fence),
            history=history_of(tx, session_id),
            calls={
                one["call_id"]: one["outcome"]
                for one in tx.rows("calls_open", session_id=session_id)
                if one["result"] is None
            },
            usage=made(Usage, row),
            provider=row["provider"],
            model=row["model"],
            resumes=row["holder"].count(" "),
            trace=row["trace"] or "",
        )

    @transaction(READ)
    def last_turn(self, tx: Transaction, session_id: str) -> LastTurn | None:
        """Return the last turn of a session; its answer is empty until it is done. None when there is none."""
        row = tx.row("turn_last", session_id=session_id)
        if row is None:
            return None
        last = tx.row("messages_before", session_id=session_id, before=_END, limit=1)
        answer = plain_text(stored(last["body"]).parts) if last and row["state"] == "done" else ""
        return made(LastTurn, row, usage=made(Usage, row), answer=answer)

    @transaction()
    def beat(self, tx: Transaction, turn: Turn) -> None:
        """Extend the lease. Raises StaleLease when the turn was taken over."""
        leases.hold(tx, turn)

    @transaction()
    def leave(self, tx: Transaction, holder: str) -> None:
        """Leave the open turns of a holder to whoever comes next, at once: nothing it writes counts any more."""
        tx.change("leases_leave", holder=holder, gone=leases.GONE)

    @transaction(READ)
    def is_held(self, tx: Transaction, session_id: str) -> bool:
        """Tell whether a process that lives plays a turn in a session."""
        return leases.alive(tx, tx.row("lease_get", session_id=session_id))

    @transaction(READ, long=True)
    def interrupted(self, tx: Transaction, owner: Principal) -> list[str]:
        """Return sessions in which a turn was cut off by the death of its process, oldest first; then those in which a
        message waits and nobody works. Child agents' are not among them: their parents go on with them."""
        number = owner_number(tx, owner)
        found = [*tx.rows("turns_open", owner=number), *tx.rows("sessions_waiting", owner=number)]
        return list(dict.fromkeys(row["session_id"] for row in found if not leases.alive(tx, row)))

    @transaction(READ, long=True)
    def unplayed(
        self, tx: Transaction, came: Container[tuple[Principal, str, str]], *, limit: int = 100
    ) -> list[tuple[str, Principal]]:
        """Return the same of all owners whose messages ``came`` by a platform and an account: the oldest first."""
        found: dict[str, Principal] = {}
        for row in (*tx.rows("turns_unplayed"), *tx.rows("inbox_unplayed")):
            owner = Principal(profile=row["profile"], person=row["person"])
            address = (owner, row["platform"], row["account"])
            if len(found) < limit and address in came and not leases.alive(tx, row):
                found.setdefault(row["session_id"], owner)
        return list(found.items())

    @transaction(READ)
    def over(self, tx: Transaction, turns: Sequence[str], before: float) -> list[str]:
        """Return those of some turns that ended before an instant."""
        return [turn for turn in turns if tx.row("turn_over", id=turn, before=before)]

    @transaction()
    def add_reply(
        self,
        tx: Transaction,
        turn: Turn,
        message: Message,
        usage: Usage,
        reason: str,
        *,
        calls: Sequence[tuple[str, str, Usage, float]] = (),
    ) -> int:
        """Store a model's reply, whole, with a pending row for each call it makes; the row's id. Raises StaleLease.

        In the same commit ``calls`` are booked, the model calls behind it: provider, model, usage and seconds of each.
        """
        leases.hold(tx, turn)
        asks = [part for part in message.parts if isinstance(part, ToolCall)]
        reply = append(tx, turn.session_id, message, turn.id, made=len(asks))
        for call in reversed({call.id: call for call in reversed(asks)}.values()):
            _add_call(tx, turn, reply, call, None)
        _book(tx, turn, usage, calls)
        return reply

    @transaction()
    def add_call(self, tx: Transaction, turn: Turn, above: str, call: ToolCall) -> tuple[str, ToolResult | None]:
        """Store a call that the running call ``above`` makes, as pending; where it was stored before a death, how far
        it came, and its result if it has one. Raises StaleLease, StoreError."""
        leases.hold(tx, turn)
        row = tx.row("call_find", turn_id=turn.id, call_id=clean(call.id))
        if row is None:
            _add_call(tx, turn, _waiting(tx, turn, above, "started")["message_id"], call, "")
            return "pending", None
        parts = stored(row["result"]).parts if row["result"] else ()
        return row["outcome"], next((part for part in parts if isinstance(part, ToolResult)), None)

    @transaction()
    def add_words(self, tx: Transaction, turn: Turn, messages: Sequence[Message]) -> None:
        """Store what a model is told within a turn besides results. Raises StaleLease."""
        leases.hold(tx, turn)
        for message in messages:
            append(tx, turn.session_id, message, turn.id)

    @transaction()
    def start_call(self, tx: Transaction, turn: Turn, call_id: str, *, again: bool = False) -> int:
        """Write down that a call begins, before its effect; how often the session made the same call before.

        Raises StaleLease, and StoreError when the turn has no such call waiting: a call is started once. Only when it
        may be run ``again``, after its process died, is it started twice.
        """
        leases.hold(tx, turn)
        row = _waiting(tx, turn, call_id, "pending", *(["started"] if again else []))
        tx.change("call_start", id=row["id"], started=time.time())
        return int(tx.rows("call_find", turn_id=turn.id, call_id=clean(call_id))[0]["repeats"])

    @transaction()
    def finish_call(
        self,
        tx: Transaction,
        turn: Turn,
        call: ToolCall,
        result: ToolResult,
        *,
        outcome: str,
        seconds: float,
        used: Usage = _NOTHING,
        steers: bool = True,
    ) -> ToolResult:
        """Store a call's result and how it ended; the result as it is stored, with what steers the turn below it.

        ``used`` is what its child agents used: it counts for this turn too. What the model was told already, nothing
        ``steers`` any more. Raises StaleLease, StoreError.
        """
        leases.hold(tx, turn)
        row = _waiting(tx, turn, call.id, "pending", "started")
        if (result.call_id, result.name) != (call.id, call.name):
            result = evolve(result, call_id=call.id, name=call.name)
        if steers and row["result"] is None:
            result = inbox.steered(tx, turn.session_id, turn.id, result)
        _end_call(tx, turn.session_id, turn.id, row, result_of(result), outcome, seconds)
        if used != _NOTHING:
            _book(tx, turn, used, ())
        return result

    @transaction(READ)
    def call_row(self, tx: Transaction, turn: Turn, call_id: str) -> int:
        """Return the number of a call's row, which no other has. Raises StoreError when the turn has no such call."""
        return int(_waiting(tx, turn, call_id, "pending", "started")["id"])

    @transaction()
    def spend(
        self,
        tx: Transaction,
        turn: Turn,
        usage: Usage,
        *,
        calls: Sequence[tuple[str, str, Usage, float]] = (),
        task: str = "",
    ) -> None:
        """Book model calls that led to no reply, under their task. Raises StaleLease."""
        leases.hold(tx, turn)
        _book(tx, turn, usage, calls, task)

    @transaction()
    def close_turn(
        self, tx: Transaction, turn: Turn, *, state: str, error: str = "", also: Prepared[object] | None = None
    ) -> None:
        """End a turn (done, failed, interrupted), let go of the session, and do what somebody ``also`` writes of it.

        Raises StaleLease, and what that raises: then the turn has not ended.
        """
        leases.hold(tx, turn)
        _answer_open_calls(tx, turn.session_id, turn.id)
        append_notes(tx, turn.session_id)
        _withdraw(tx, turn.session_id)
        tx.change("turn_close", id=turn.id, state=state, error=clean(error), ended=time.time())
        tx.change("lease_drop", session_id=turn.session_id, fence=turn.fence)
        if also:
            also(tx)
            tx.committed.append(partial(die_at, "stored"))


def _withdraw(tx: Transaction, session_id: str) -> None:
    """Withdraw a session's open questions: nobody waits any more for the answers."""
    tx.change("approvals_withdraw", session_id=session_id, answered=time.time())


def _repair(tx: Transaction, session_id: str) -> None:
    """Add the rows that an interrupted turn did not get to write."""
    tx.change("turns_abandon", session_id=session_id, ended=time.time())
    _withdraw(tx, session_id)
    _answer_open_calls(tx, session_id, "")
    last = tx.row("messages_before", session_id=session_id, before=_END, limit=1)
    if last and stored(last["body"]).role != "assistant":
        append(tx, session_id, said("assistant", INTERRUPTED), "")
    append_notes(tx, session_id)


def _answer_open_calls(tx: Transaction, session_id: str, turn_id: str) -> None:
    """Give every call of the session that has no result one that says why."""
    for row in tx.rows("calls_open", session_id=session_id):
        text, outcome = (NO_RESULT, "unknown") if row["outcome"] == "started" else (NOT_RUN, "refused")
        _end_call(tx, session_id, turn_id, row, result_message(row["call_id"], row["name"], text), outcome)


def _end_call(
    tx: Transaction, session_id: str, turn_id: str, row: Any, result: Message, outcome: str, seconds: float = 0
) -> None:
    """Write down how a call ended: its result is a message, that of a call's own call stands in its row."""
    how = {"id": row["id"], "outcome": outcome, "seconds": seconds}
    if row["result"] is None:
        tx.change("call_finish", **how, result_id=append(tx, session_id, result, turn_id))
    else:
        tx.change("call_end", **how, result=dumps(message_to_json(result)))


def _book(
    tx: Transaction, turn: Turn, usage: Usage, calls: Sequence[tuple[str, str, Usage, float]], task: str = ""
) -> None:
    used = sums(usage)
    tx.change("session_usage", id=turn.session_id, **used)
    tx.change("turn_usage", id=turn.id, **used)
    owner = owner_row(tx, turn.asker) if turn.asker else session_facts(tx, turn.session_id)[0]
    for provider, model, part, seconds in calls:
        where = {"session_id": turn.session_id, "turn_id": turn.id, "task": task, "provider": provider, "model": model}
        book(tx, owner, part, seconds, **where)


def _add_call(tx: Transaction, turn: Turn, message_id: int, call: ToolCall, result: str | None) -> None:
    """Write the row of a call, as pending. ``result`` is None for a call of a model, empty for one of a call."""
    arguments = canonical(call.arguments)
    mark = zlib.crc32(f"{call.name} {arguments}".encode())
    asked = {"call_id": clean(call.id), "name": clean(call.name), "arguments": arguments, "mark": mark}
    row = {"session_id": turn.session_id, "turn_id": turn.id, "message_id": message_id, "result": result}
    tx.change("call_add", **row, **asked)


def _waiting(tx: Transaction, turn: Turn, call_id: str, *outcomes: str) -> Any:
    """Return the row of a call that has not come further than ``outcomes``. Raises StoreError."""
    row = tx.row("call_find", turn_id=turn.id, call_id=clean(call_id))
    if row is None:
        raise StoreError(f"Turn {turn.id} has no tool call {call_id!r}.")
    if row["outcome"] not in outcomes:
        raise StoreError(f"Tool call {call_id!r} of turn {turn.id} is {row['outcome']} already.")
    return row
