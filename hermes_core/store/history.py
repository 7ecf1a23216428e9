"""What was said in sessions: written at one place, read, searched; and what a model is told of it.

A model is told the messages, or what they were compacted to and those after.
"""

import json
import time
from collections.abc import Sequence

from hermes_core.codec import clean, dumps, message_from_json, message_to_json, plain_text, searchable, stored
from hermes_core.database import READ, Transaction, made
from hermes_core.errors import Duplicate, UserError
from hermes_core.store.killpoints import die_at
from hermes_core.store.leases import Turn, check_free, hold
from hermes_core.store.outside import by_person, carried
from hermes_core.store.transactions import Stored, get_session, owner_number, session_facts, transaction
from hermes_core.store.validity import misfit, said, valid
from hermes_core.types import HistoryEntry, Hit, Message, Principal, ToolCall, ToolResult
from hermes_fulltext.words import cut_words, index_words

__all__ = ["History", "append", "append_notes", "history_of", "stand_for"]

_END = 2**62


class History(Stored):
    """The messages of sessions, and the contexts that stand for them."""

    @transaction(READ)
    def load(self, tx: Transaction, session_id: str, *, whole: bool = False) -> list[Message]:
        """Return the messages a model may be sent, in order, valid for every provider whatever the rows are like.

        Where the session was compacted, what it was compacted to stands for the rows until then; ``whole`` reads these.
        """
        return history_of(tx, session_id, whole=whole)

    @transaction(READ, long=True)
    def messages(
        self, tx: Transaction, owner: Principal, session_id: str, *, around: int = 0, window: int = 10
    ) -> list[tuple[int, Message]]:
        """List stored messages with their numbers: ``window`` on each side of ``around``, or the last when it is 0."""
        get_session(tx, session_id, owner)
        found = tx.rows("message_at", session_id=session_id, before=around - 1) if around > 0 else ()
        start = found[0]["id"] if found else _END
        rows = tx.rows("messages_before", session_id=session_id, before=start, limit=window)[::-1]
        rows += tx.rows("messages_from", session_id=session_id, start=start, limit=window + 1)
        first = _number(tx, session_id, rows[0]["id"]) if rows else 0
        return [(number, stored(row["body"])) for number, row in enumerate(rows, first)]

    @transaction(READ, long=True)
    def search(
        self,
        tx: Transaction,
        owner: Principal,
        words: str,
        *,
        limit: int = 10,
        sort: str = "best",
        children: bool = False,
        session_id: str = "",
    ) -> list[Hit]:
        """Return messages of an owner that are meant by some words; see ``SessionsBroker.search``."""
        from hermes_fulltext.ranking import Among, search

        number, alone = owner_number(tx, owner), tx.rows("owner_count")[0][0] == 1
        among = Among(limit, sort, children, clean(session_id))
        found = search(tx, clean(words), _read, number, among, time.time(), alone=alone)
        return [
            made(Hit, one.said, message_id=_number(tx, *one.place), snippet=one.snippet, **one.kept) for one in found
        ]

    @transaction(READ, long=True)
    def tool_calls(
        self, tx: Transaction, owner: Principal, session_id: str = "", *, tool: str = "", limit: int = 50
    ) -> list[HistoryEntry]:
        """Return tool calls of an owner, newest first; of one session, or of one tool, if so asked."""
        values = {"owner": owner_number(tx, owner), "name": clean(tool), "limit": limit}
        if session_id:
            rows = tx.rows("calls_of_session", **values, session_id=clean(session_id))
        else:
            rows = tx.rows("calls_list", **values)
        return [
            made(HistoryEntry, row, arguments=json.loads(row["arguments"]), output=_output(row["body"])) for row in rows
        ]

    @transaction(READ)
    def tools_that_ran(self, tx: Transaction, session_id: str) -> set[str]:
        """Return the tools that came to a good end in a session, however much of it was compacted."""
        return {row["name"] for row in tx.rows("calls_ok", session_id=session_id)}

    @transaction()
    def add(self, tx: Transaction, session_id: str, message: Message) -> int:
        """Store one message outside a turn, one commit; its id. Raises UnknownName."""
        return append(tx, session_id, message, "")

    @transaction()
    def compact(self, tx: Transaction, turn: Turn, messages: Sequence[Message], plugin: str) -> list[Message]:
        """Let a context that was found fit stand for all rows so far; the history as it is then. Raises StaleLease."""
        hold(tx, turn)
        return _compact(tx, turn.session_id, messages, plugin)

    @transaction(long=True)
    def replace(
        self, tx: Transaction, owner: Principal, session_id: str, messages: Sequence[Message], plugin: str
    ) -> None:
        """Do the same outside of a turn. Raises UnknownName, Busy, and UserError when it does not fit."""
        get_session(tx, session_id, owner)
        check_free(tx, session_id)
        if tx.row("turn_open", session_id=session_id):
            raise UserError(f"The last turn of {session_id} was cut off.", hint="Finish it first: hermes resume")
        if why := misfit(history_of(tx, session_id), messages):
            raise UserError(f"The context of {session_id} was not replaced: {why}.", hint="The old one stays in force.")
        _compact(tx, session_id, messages, plugin)

    @transaction(long=True)
    def undo(self, tx: Transaction, owner: Principal, session_id: str, count: int, by: str) -> list[Message]:
        """Let the model know the last exchanges no more, back to what stands for older ones; what was said, in order.

        Rows are never touched: a context without them is written, and a mark that people see. ``by`` is who wants it:
        the same one wants it once. Raises UnknownName, Busy, Duplicate, and UserError when a turn is to be finished.
        """
        get_session(tx, session_id, owner)
        check_free(tx, session_id)
        if tx.row("turn_open", session_id=session_id):
            raise UserError("The last turn was cut off, and goes on with your next message.", hint="Undo it then.")
        last, before = tx.row("context_last", session_id=session_id), history_of(tx, session_id)
        if last and last["plugin"] == by:
            raise Duplicate(by)
        floor = max((at for at, message in enumerate(before) if "stands" in message.meta.get("hermes", ())), default=-1)
        begins = [place for place, message in enumerate(before) if place > floor and by_person(message)][-count:]
        if not begins:
            return []
        what = "The last exchange was" if len(begins) == 1 else f"The last {len(begins)} exchanges were"
        append(tx, session_id, said("assistant", f"({what} taken back; the model is not told of it any more.)"), "")
        stand_for(tx, session_id, before[: begins[0]], by)  # what came before was not made from what came after
        return [before[place] for place in begins]


def append(tx: Transaction, session_id: str, message: Message, turn_id: str, made: int = 0) -> int:
    """Write a message, in this one place: row, search index, session."""
    owner, _ = session_facts(tx, session_id)
    now, body = time.time(), dumps(message_to_json(message))
    known = {"session_id": session_id, "owner": owner, "turn_id": turn_id, "role": message.role}
    row = tx.add("message_add", **known, body=body, created=now)
    read = stored(body)  # as it will be read: the index must say the same as the row
    words = index_words(searchable(read.parts), owner)
    tx.change("search_add", rowid=row, words=cut_words(words) if tx.server else words)
    tx.change("session_touch", id=session_id, last=row, updated=now, made=made)
    return row


def append_notes(tx: Transaction, session_id: str) -> None:
    """Add what was said in a session's chat from elsewhere: between turns, where it breaks nothing apart."""
    found = tx.rows("mirrored", session_id=session_id)
    for row in found:
        append(tx, session_id, stored(row["body"]), "")
    if found:
        tx.change("mirrors_done", session_id=session_id)


def history_of(tx: Transaction, session_id: str, *, whole: bool = False) -> list[Message]:
    """Return what ``History.load`` gives."""
    context = None if whole else tx.row("context_last", session_id=session_id)
    start, kept = (context["upto"] + 1, json.loads(context["body"])) if context else (0, ())
    rows = tx.rows("messages_from", session_id=session_id, start=start, limit=-1)
    return valid([*map(message_from_json, kept), *(stored(body) for _, body in rows)])


def _compact(tx: Transaction, session_id: str, messages: Sequence[Message], plugin: str) -> list[Message]:
    stand_for(tx, session_id, carried(history_of(tx, session_id), messages), plugin)
    return history_of(tx, session_id)


def stand_for(tx: Transaction, session_id: str, messages: Sequence[Message], by: str) -> None:
    """Write a context beside the rows, which are never touched; it names the last one it stands for."""
    upto, body = session_facts(tx, session_id)[1], dumps([message_to_json(message) for message in messages])
    tx.change("context_add", session_id=session_id, upto=upto, body=body, plugin=by, created=time.time())
    die_at("compacting")


def _read(body: str) -> tuple[str, bool, dict[str, object]]:
    message = stored(body)
    tools = [part.name for part in message.parts if isinstance(part, ToolCall | ToolResult)]
    return searchable(message.parts), bool(tools), {"tools": tools, "untrusted": message.untrusted}


def _number(tx: Transaction, session_id: str, row: int) -> int:
    """Say which message of its session a row is. A number of all rows would tell how much other people say."""
    return int(tx.rows("message_number", session_id=session_id, row=row)[0][0])


def _output(body: str | None) -> str:
    results = stored(body).parts if body else ()
    return "".join(plain_text(part.parts) for part in results if isinstance(part, ToolResult))
