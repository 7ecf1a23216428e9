"""The journal: turns and messages, each step one short transaction that commits before anyone acts on it."""

import time
from collections.abc import Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import attrs

from hermes_core.codec import clean, dumps, message_to_json
from hermes_core.database import READ, Database, Prepared, Transaction, made
from hermes_core.kinds import StoreDriver
from hermes_core.store import accounts, approvals, branches, inbox, leases
from hermes_core.store.calls import add_call, waiting
from hermes_core.store.command_log import CommandLog
from hermes_core.store.contexts import Contexts, history_of, session_facts
from hermes_core.store.cross_chat_notes import CrossChatNotes
from hermes_core.store.documents import Documents
from hermes_core.store.engine import Engine
from hermes_core.store.killpoints import die_at
from hermes_core.store.leases import Busy, Resumed, StaleLease, Turn
from hermes_core.store.migrate import to_head
from hermes_core.store.outside import result_of
from hermes_core.store.search import cut_words, index_words
from hermes_core.store.sessions import stored, transaction
from hermes_core.store.spending import book, sums
from hermes_core.store.traces import Traces
from hermes_core.store.validity import INTERRUPTED, NO_RESULT, NOT_RUN, result_message, said
from hermes_core.store.versions.head import SQL
from hermes_core.types import Envelope, Message, SessionRow, ToolCall, ToolResult, Usage, Waiting

__all__ = [
    "Busy",
    "Resumed",
    "SessionRow",
    "StaleLease",
    "Store",
    "Turn",
    "open_store",
]

_NOTHING = Usage()


def open_store(
    database: Path,
    *,
    url: str = "",
    driver: StoreDriver | None = None,
    durability: str = "normal",
) -> "Store":
    """Open or make the database and bring its tables to head.

    With a ``url`` its ``driver`` opens it there, and no file is made. Raises UserError for an address that is none, and
    StoreError, in plain words, when file or server cannot be used.
    """
    engine: Database
    if url:
        assert driver, "who opens a store at an address is its caller's to say"
        engine = driver.open(url, SQL)
    else:
        engine = Engine(database, durability=durability)
    try:
        to_head(engine)
    except BaseException:
        engine.close()
        raise
    return Store(engine)


class Store(accounts.Accounts, branches.Branches, Contexts, CommandLog, Traces, CrossChatNotes):
    """What lasts. Used from one event loop; thread-safe inside. Every method raises StoreError."""

    @property
    def engine(self) -> Database:
        """The connections, for what else lies in the same database."""
        return self._engine

    @cached_property
    def documents(self) -> Documents:
        """What plugins keep as documents."""
        return Documents(self._engine)

    @property
    def place(self) -> str:
        """Where it is, for people: a path, or a server without its password."""
        return self._engine.place

    def close(self) -> None:
        """Let go of the files; closing twice is quiet."""
        self._engine.close()

    @transaction(READ)
    def answers(self, tx: Transaction) -> None:
        """Read something, and return: whether file or server answer."""
        tx.rows("owner_count")

    # --- a turn -----------------------------------------------------------------------------------------------

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
        trace: str = "",
    ) -> Turn:
        """Take the session, mend what an interrupted turn left behind, and store what the person said: one commit.

        ``left`` is the token of a turn that the caller ended, but could not close. ``waited`` is the row of a message
        that waited for this turn. Raises Busy when somebody works on the session, Duplicate when the message was
        received, or had its turn, before.
        """
        owner = session_facts(tx, session_id)[0]
        if envelope is not None:
            inbox.receive(tx, envelope, owner, turn_id, trace)
        if waited:
            inbox.take(tx, waited, turn_id)
        fence = leases.take(tx, session_id, holder, left)
        self._repair(tx, session_id)
        values = {"holder": holder, "provider": provider, "model": model, "state": "open", "started": time.time()}
        tx.change("turn_add", id=turn_id, session_id=session_id, owner=owner, **values)
        self._append(tx, session_id, message, turn_id)
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
        tx.change("turn_held", id=row["id"], by=holder)  # who dies of it too is counted
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

    def _repair(self, tx: Transaction, session_id: str) -> None:
        """Add the rows that an interrupted turn did not get to write."""
        tx.change("turns_abandon", session_id=session_id, ended=time.time())
        approvals.withdraw(tx, session_id)
        self._answer_open_calls(tx, session_id, "")
        last = tx.row("messages_before", session_id=session_id, before=2**62, limit=1)
        if last and stored(last["body"]).role != "assistant":
            self._append(tx, session_id, said("assistant", INTERRUPTED), "")
        self._append_mirrored(tx, session_id)

    def _answer_open_calls(self, tx: Transaction, session_id: str, turn_id: str) -> None:
        """Give every call of the session that has no result one that says why."""
        for row in tx.rows("calls_open", session_id=session_id):
            text, outcome = (NO_RESULT, "unknown") if row["outcome"] == "started" else (NOT_RUN, "refused")
            self._end_call(tx, session_id, turn_id, row, result_message(row["call_id"], row["name"], text), outcome)

    def _end_call(
        self,
        tx: Transaction,
        session_id: str,
        turn_id: str,
        row: Any,
        result: Message,
        outcome: str,
        seconds: float = 0,
    ) -> None:
        """Write down how a call ended: its result is a message, that of a call's own call stands in its row."""
        how = {"id": row["id"], "outcome": outcome, "seconds": seconds}
        if row["result"] is None:
            tx.change("call_finish", **how, result_id=self._append(tx, session_id, result, turn_id))
        else:
            tx.change("call_end", **how, result=dumps(message_to_json(result)))

    @transaction()
    def beat(self, tx: Transaction, turn: Turn) -> None:
        """Extend the lease. Raises StaleLease when the turn was taken over."""
        leases.hold(tx, turn)

    @transaction()
    def leave(self, tx: Transaction, holder: str) -> None:
        """Leave the open turns of a holder to whoever comes next, at once: nothing it writes counts any more."""
        tx.change("leases_leave", holder=holder, gone=leases.GONE)

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
        reply = self._append(tx, turn.session_id, message, turn.id, made=len(asks))
        for call in reversed({call.id: call for call in reversed(asks)}.values()):
            add_call(tx, turn, reply, call, None)
        _book(tx, turn, usage, calls)
        return reply

    @transaction()
    def add_call(self, tx: Transaction, turn: Turn, above: str, call: ToolCall) -> tuple[str, ToolResult | None]:
        """Store a call that the running call ``above`` makes, as pending; where it was stored before a death, how far
        it came, and its result if it has one. Raises StaleLease, StoreError."""
        leases.hold(tx, turn)
        row = tx.row("call_find", turn_id=turn.id, call_id=clean(call.id))
        if row is None:
            add_call(tx, turn, waiting(tx, turn, above, "started")["message_id"], call, "")
            return "pending", None
        found = (
            part for part in (stored(row["result"]).parts if row["result"] else ()) if isinstance(part, ToolResult)
        )
        return row["outcome"], next(found, None)

    @transaction()
    def add_word(self, tx: Transaction, turn: Turn, message: Message) -> int:
        """Store what a model is told within a turn besides results; the row's id. Raises StaleLease."""
        leases.hold(tx, turn)
        return self._append(tx, turn.session_id, message, turn.id)

    @transaction()
    def start_call(self, tx: Transaction, turn: Turn, call_id: str, *, again: bool = False) -> int:
        """Write down that a call begins, before its effect; how often the session made the same call before.

        Raises StaleLease, and StoreError when the turn has no such call waiting: a call is started once. Only when it
        may be run ``again``, after its process died, is it started twice.
        """
        leases.hold(tx, turn)
        row = waiting(tx, turn, call_id, "pending", *(["started"] if again else []))
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
    ) -> ToolResult:
        """Store a call's result and how it ended; the result as it is stored, with what steers the turn below it.

        ``used`` is what its child agents used: it counts for this turn too. Raises StaleLease, StoreError.
        """
        leases.hold(tx, turn)
        row = waiting(tx, turn, call.id, "pending", "started")
        result = attrs.evolve(result, call_id=call.id, name=call.name)
        if row["result"] is None:
            result = inbox.steered(tx, turn.session_id, turn.id, result)
        self._end_call(tx, turn.session_id, turn.id, row, result_of(result), outcome, seconds)
        if used != _NOTHING:
            _book(tx, turn, used, ())
        return result

    @transaction(READ)
    def call_row(self, tx: Transaction, turn: Turn, call_id: str) -> int:
        """The number of a call's row, which no other call has. Raises StoreError when the turn has no such call."""
        return int(waiting(tx, turn, call_id, "pending", "started")["id"])

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
        self._answer_open_calls(tx, turn.session_id, turn.id)
        self._append_mirrored(tx, turn.session_id)
        approvals.withdraw(tx, turn.session_id)
        tx.change("turn_close", id=turn.id, state=state, error=clean(error), ended=time.time())
        tx.change("lease_drop", session_id=turn.session_id, fence=turn.fence)
        if also:
            also(tx)
            tx.committed.append(partial(die_at, "stored"))

    # --- messages that wait -----------------------------------------------------------------------------------

    @transaction()
    def wait(
        self, tx: Transaction, session_id: str, message: Message, *, mode: str, envelope: Envelope, trace: str = ""
    ) -> int:
        """Store a message that waits: ``steer`` or ``queue``; its row. Raises UnknownName, Duplicate."""
        return inbox.wait(tx, envelope, session_facts(tx, session_id)[0], session_id, message, mode, trace)

    @transaction(READ)
    def waiting(self, tx: Transaction, session_id: str) -> list[Waiting]:
        """What waits in a session, in the order it came."""
        return inbox.waiting(tx, session_id)

    @transaction()
    def drop_waiting(self, tx: Transaction, session_id: str) -> int:
        """Give up what waits in a session; how many messages that were."""
        return inbox.drop(tx, session_id)

    # --- messages ---------------------------------------------------------------------------------------------

    @transaction()
    def add_message(self, tx: Transaction, session_id: str, message: Message) -> int:
        """Store one message outside a turn, one commit; its id. Raises UnknownName."""
        return self._append(tx, session_id, message, "")

    def _append(self, tx: Transaction, session_id: str, message: Message, turn_id: str, made: int = 0) -> int:
        """The one place where a message is written: row, search index, session."""
        owner, _ = session_facts(tx, session_id)
        now, body = time.time(), dumps(message_to_json(message))
        known = {"session_id": session_id, "owner": owner, "turn_id": turn_id, "role": message.role}
        row = tx.add("message_add", **known, body=body, created=now)
        read = stored(body)  # as it will be read: the index must say the same as the row
        words = index_words(read, owner)
        tx.change("search_add", rowid=row, words=cut_words(words) if tx.server else words)
        tx.change("session_touch", id=session_id, last=row, updated=now, made=made)
        return row

    @transaction(READ)
    def tools_that_ran(self, tx: Transaction, session_id: str) -> set[str]:
        """The tools that came to a good end in a session, however much of it was compacted."""
        return {row["name"] for row in tx.rows("calls_ok", session_id=session_id)}


def _book(
    tx: Transaction, turn: Turn, usage: Usage, calls: Sequence[tuple[str, str, Usage, float]], task: str = ""
) -> None:
    used = sums(usage)
    tx.change("session_usage", id=turn.session_id, **used)
    tx.change("turn_usage", id=turn.id, **used)
    owner = session_facts(tx, turn.session_id)[0]
    for provider, model, part, seconds in calls:
        where = {"session_id": turn.session_id, "turn_id": turn.id, "task": task, "provider": provider, "model": model}
        book(tx, owner, part, seconds, **where)
