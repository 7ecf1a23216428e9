"""The journal: sessions, turns and messages, each step one short transaction that commits before anyone acts on it."""

import json
import time
import zlib
from pathlib import Path

from attrs import evolve

from hermes_core.errors import StoreError, UnknownName, UserError
from hermes_core.store import leases, sessions
from hermes_core.store.codec import canonical, clean, dumps, message_from_json, message_to_json
from hermes_core.store.engine import Engine, Transaction
from hermes_core.store.leases import Busy, Duplicate, StaleLease, Turn
from hermes_core.store.migrate import to_head
from hermes_core.store.search import index_words, match_query, searchable, snippet
from hermes_core.store.sessions import SessionRow, UsageRow
from hermes_core.store.transcripts import Transcripts
from hermes_core.store.validity import INTERRUPTED, NO_RESULT, NOT_RUN, result_message, said, valid
from hermes_core.types import Envelope, HistoryEntry, Hit, Message, Principal, Session, ToolCall, ToolResult, Usage

__all__ = ["Busy", "Duplicate", "SessionRow", "StaleLease", "Store", "Turn", "UsageRow", "open_store"]


def open_store(
    database: Path, *, url: str = "", durability: str = "normal", transcripts: Path | None = None
) -> "Store":
    """Open or make the database and bring its tables to head.

    Raises UserError for a ``url``, and StoreError, in plain words, when the file cannot be used.
    """
    if url:
        raise UserError("store.url: this version keeps its state in SQLite only.", hint="Remove store.url.")
    engine = Engine(database, durability=durability)
    try:
        to_head(engine)
    except BaseException:
        engine.close()
        raise
    return Store(engine, Transcripts(transcripts) if transcripts else None)


class Store:
    """What lasts. Used from one event loop; thread-safe inside. Every method raises StoreError."""

    def __init__(self, engine: Engine, transcripts: Transcripts | None) -> None:
        self._engine = engine
        self._transcripts = transcripts

    def close(self) -> None:
        """Let go of the files; closing twice is quiet."""
        self._engine.close()
        if self._transcripts:
            self._transcripts.close()

    # --- sessions ---------------------------------------------------------------------------------------------

    async def create_session(self, session: Session) -> None:
        """Store a new session. Raises UserError when the id is taken."""
        await self._engine.write(lambda tx: sessions.create(tx, session))

    async def session(self, session_id: str, owner: Principal) -> Session:
        """One session of an owner. Raises UnknownName."""
        return await self._engine.read(lambda tx: sessions.get(tx, session_id, owner))

    async def find_session(self, words: str, owner: Principal) -> Session:
        """A session by id, ``latest``, title, or the unique start of one. Raises UnknownName, UserError."""
        return await self._engine.read_long(lambda tx: sessions.find(tx, words, owner))

    async def list_sessions(self, owner: Principal, *, limit: int = 20, origin: str = "") -> list[SessionRow]:
        """Sessions of an owner, last used first."""
        return await self._engine.read_long(lambda tx: sessions.rows(tx, owner, limit, origin))

    async def rename_session(self, session_id: str, title: str, owner: Principal) -> None:
        """Give a session another title. Raises UnknownName, and UserError when another session has it."""
        await self._engine.write(lambda tx: sessions.rename(tx, session_id, title, owner))

    async def update_session(self, session_id: str, *, provider: str = "", model: str = "", cwd: str = "") -> None:
        """Change what a session runs with; empty values stay as they are."""
        values = {"new_provider": clean(provider), "new_model": clean(model), "new_cwd": clean(cwd)}
        await self._engine.write(lambda tx: tx.change("session_update", key=session_id, **values))

    async def delete_session(self, session_id: str, owner: Principal) -> None:
        """Delete a session with all it holds. Raises UnknownName, and Busy while a turn runs in it."""
        await self._engine.write_long(lambda tx: self._delete(tx, session_id, owner))

    async def prune_sessions(self, owner: Principal, *, before: float, dry_run: bool = False) -> list[str]:
        """Delete the sessions last used before an instant; their ids. One transaction for each."""
        old = await self._engine.read_long(lambda tx: sessions.unused(tx, owner, before))
        pruned = []
        for session_id in old:
            try:
                if not dry_run:
                    await self.delete_session(session_id, owner)
            except (Busy, UnknownName):
                continue  # in use again, or deleted by somebody else meanwhile
            pruned.append(session_id)
        return pruned

    def _delete(self, tx: Transaction, session_id: str, owner: Principal) -> None:
        sessions.get(tx, session_id, owner)
        leases.check_free(tx, session_id)
        for row, number, origin, role, body in tx.rows("messages_indexed", session_id=session_id):
            tx.add("search_drop", rowid=row, words=_indexed(body, number, origin, role))
        tx.change("inbox_forget", key=session_id)  # the row stays: the same event must not come in again
        tx.change("session_delete", key=session_id, owner=sessions.owner_number(tx, owner))
        if self._transcripts:
            files = self._transcripts
            tx.committed.append(lambda: files.forget(session_id))

    async def save_prompt(self, session_id: str, prompt: str, tools: str) -> None:
        """Keep the system prompt and the JSON of the offered tools, once; a later prompt never replaces them."""

        def work(tx: Transaction) -> None:
            if tx.row("prompt_load", session_id=session_id) is None:
                tx.add("prompt_save", session_id=session_id, prompt=clean(prompt), tools=clean(tools))

        await self._engine.write(work)

    async def load_prompt(self, session_id: str) -> tuple[str, str] | None:
        """What ``save_prompt`` kept, byte for byte, or None."""
        row = await self._engine.read(lambda tx: tx.row("prompt_load", session_id=session_id))
        return (str(row[0]), str(row[1])) if row else None

    # --- a turn -----------------------------------------------------------------------------------------------

    async def open_turn(
        self,
        session_id: str,
        message: Message,
        *,
        turn_id: str,
        holder: str,
        envelope: Envelope | None = None,
        provider: str,
        model: str,
    ) -> Turn:
        """Take the session, mend what an interrupted turn left behind, and store what the person said: one commit.

        Raises Busy when somebody works on the session, Duplicate when the envelope was received before.
        """

        def work(tx: Transaction) -> Turn:
            owner = _session_facts(tx, session_id)[0]
            if envelope is not None:
                _receive(tx, envelope, owner, session_id, turn_id)
            turn = Turn(
                id=turn_id, session_id=session_id, holder=holder, fence=leases.take(tx, session_id, holder, turn_id)
            )
            self._repair(tx, session_id)
            values = {"holder": holder, "provider": provider, "model": model, "state": "open", "fence": turn.fence}
            tx.add("turn_add", id=turn_id, session_id=session_id, owner=owner, started=time.time(), **values)
            self._append(tx, session_id, message, turn_id)
            return turn

        return await self._engine.write(work)

    def _repair(self, tx: Transaction, session_id: str) -> None:
        """Add the rows that an interrupted turn did not get to write."""
        tx.change("turns_abandon", key=session_id, now=time.time())
        self._answer_open_calls(tx, session_id, "")
        last = tx.row("message_role_last", session_id=session_id)
        if last is not None and last[0] != "assistant":
            self._append(tx, session_id, said("assistant", INTERRUPTED), "")

    def _answer_open_calls(self, tx: Transaction, session_id: str, turn_id: str) -> None:
        """Give every call of the session that has no result one that says why."""
        for row, call_id, name, outcome in tx.rows("calls_open", session_id=session_id):
            started = outcome == "started"
            message = result_message(call_id, name, NO_RESULT if started else NOT_RUN)
            result = self._append(tx, session_id, message, turn_id)
            verdict = "unknown" if started else "refused"
            tx.change("call_finish", key=row, new_outcome=verdict, took=0.0, result=result)

    async def beat(self, turn: Turn) -> None:
        """Extend the lease. Raises StaleLease when the turn was taken over."""
        await self._engine.write(lambda tx: leases.hold(tx, turn))

    async def add_reply(self, turn: Turn, message: Message, usage: Usage, reason: str) -> int:
        """Store a model's reply, whole, with a pending row for each call it makes; the row's id. Raises StaleLease."""
        calls = [part for part in message.parts if isinstance(part, ToolCall)]
        used = {name: getattr(usage, name) for name in sessions.USAGE}

        def work(tx: Transaction) -> int:
            leases.hold(tx, turn)
            reply = self._append(tx, turn.session_id, message, turn.id, made=len(calls))
            known = {"session_id": turn.session_id, "turn_id": turn.id, "message_id": reply, "outcome": "pending"}
            for call in reversed({call.id: call for call in reversed(calls)}.values()):
                arguments = canonical(call.arguments)
                mark = zlib.crc32(f"{call.name} {arguments}".encode())
                fields = {"call_id": clean(call.id), "name": clean(call.name), "arguments": arguments, "mark": mark}
                tx.add("call_add", **known, **fields)
            tx.change("session_usage", key=turn.session_id, **used)
            tx.change("turn_usage", key=turn.id, **used)
            return reply

        return await self._engine.write(work)

    async def start_call(self, turn: Turn, call_id: str) -> int:
        """Write down that a call begins, before its effect; how often the session made the same call before.

        Raises StaleLease, and StoreError when the turn has no such call waiting: a call is started once.
        """

        def work(tx: Transaction) -> int:
            leases.hold(tx, turn)
            row, name, arguments, mark = _waiting(tx, turn, call_id, "pending")
            alike = {"session_id": turn.session_id, "mark": mark, "name": name, "arguments": arguments, "row": row}
            found = tx.row("calls_alike", **alike)
            count = int(found[0]) if found else 0
            tx.change("call_start", key=row, now=time.time(), alike=count)
            return count

        return await self._engine.write(work)

    async def finish_call(self, turn: Turn, call: ToolCall, result: ToolResult, *, outcome: str, seconds: float) -> int:
        """Store a call's result and how it ended; the row's id. Raises StaleLease, StoreError."""
        answer = Message(role="tool", parts=(evolve(result, call_id=call.id, name=call.name),))

        def work(tx: Transaction) -> int:
            leases.hold(tx, turn)
            row = _waiting(tx, turn, call.id, "pending", "started")[0]
            stored = self._append(tx, turn.session_id, answer, turn.id)
            tx.change("call_finish", key=row, new_outcome=outcome, took=seconds, result=stored)
            return stored

        return await self._engine.write(work)

    async def close_turn(self, turn: Turn, *, state: str, error: str = "") -> None:
        """End a turn (done, failed, interrupted) and let go of the session. Raises StaleLease."""

        def work(tx: Transaction) -> None:
            leases.hold(tx, turn)
            self._answer_open_calls(tx, turn.session_id, turn.id)
            tx.change("turn_close", key=turn.id, new_state=state, new_error=clean(error), now=time.time())
            leases.release(tx, turn)

        await self._engine.write(work)

    # --- messages ---------------------------------------------------------------------------------------------

    async def add_message(self, session_id: str, message: Message) -> int:
        """Store one message outside a turn, one commit; its id. Raises UnknownName."""
        return await self._engine.write(lambda tx: self._append(tx, session_id, message, ""))

    def _append(self, tx: Transaction, session_id: str, message: Message, turn_id: str, made: int = 0) -> int:
        """The one place where a message is written: row, search index, session; transcript after the commit."""
        owner, origin, before = _session_facts(tx, session_id)
        now = time.time()
        body = dumps(message_to_json(message))
        known = {"session_id": session_id, "owner": owner, "turn_id": turn_id, "role": message.role}
        row = tx.add("message_add", **known, body=body, created=now)
        stored = _message(body)  # as it will be read: the index and the transcript must say the same as the row
        tx.add("search_add", rowid=row, words=index_words(searchable(stored.parts), owner, origin, stored.role))
        tx.change("session_touch", key=session_id, row=row, now=now, made=made)
        if self._transcripts:
            files = self._transcripts
            tx.committed.append(lambda: files.append(session_id, row, before, stored, self._stored_after))
        return row

    def _stored_after(self, session_id: str, row: int) -> list[tuple[int, Message]]:
        """Messages after a row, for a transcript that was cut. Runs after the commit, inside the engine's lock."""
        rows = Transaction(self._engine.connection).rows("messages_after", session_id=session_id, after=row)
        return [(int(number), _message(body)) for number, body in rows]

    async def history(self, session_id: str) -> list[Message]:
        """The messages a model may be sent, in order, valid for every provider whatever the rows are like."""
        rows = await self._engine.read(lambda tx: tx.rows("messages_all", session_id=session_id))
        return valid(_message(body) for _, body in rows)

    async def messages(
        self, owner: Principal, session_id: str, *, around: int = 0, window: int = 10
    ) -> list[tuple[int, Message]]:
        """Stored messages with their ids: ``window`` on each side of ``around``, or the last ones when it is 0."""
        rows = await self._engine.read_long(lambda tx: sessions.window(tx, owner, session_id, around, window))
        return [(int(row), _message(body)) for row, body in rows]

    async def search(
        self,
        owner: Principal,
        words: str,
        *,
        limit: int = 20,
        sort: str = "newest",
        origin: str = "",
        role: str = "",
    ) -> list[Hit]:
        """Messages of an owner that hold all the words, newest (or oldest) first."""

        return await self._engine.read_long(lambda tx: _search(tx, owner, clean(words), limit, sort, origin, role))

    async def rebuild_search(self) -> int:
        """Make the search index anew from the messages; how many there are. One transaction, in a worker thread."""

        def work(tx: Transaction) -> int:
            tx.add("search_clear")
            last, count = 0, 0
            while page := tx.rows("messages_page", after=last, limit=500):
                for row, owner, origin, role, body in page:
                    tx.add("search_add", rowid=row, words=_indexed(body, owner, origin, role))
                last, count = page[-1][0], count + len(page)
            return count

        return await self._engine.write_long(work)

    async def tool_history(
        self, owner: Principal, *, session_id: str = "", name: str = "", limit: int = 50
    ) -> list[HistoryEntry]:
        """Tool calls of an owner, newest first; of one session, or of one tool, if so asked."""
        return await self._engine.read_long(lambda tx: sessions.calls(tx, owner, session_id, name, limit))

    async def usage_by_day(self, owner: Principal, *, days: int) -> list[UsageRow]:
        """What an owner used in the last days, newest day first, by provider and model."""
        since = time.time() - days * 86400
        return await self._engine.read_long(lambda tx: sessions.usage(tx, owner, since))


def _message(body: str) -> Message:
    return message_from_json(json.loads(body))


def _indexed(body: str, owner: int, origin: str, role: str) -> str:
    """The words of a stored message. Always from the stored body, so that removal repeats exactly what was added."""
    return index_words(searchable(_message(body).parts), owner, origin, role)


def _session_facts(tx: Transaction, session_id: str) -> tuple[int, str, int]:
    """Owner, origin and newest message of a session. Raises UnknownName."""
    row = tx.row("session_facts", id=session_id)
    if row is None:
        raise UnknownName("session", session_id)
    return int(row[0]), str(row[1]), int(row[2])


def _waiting(tx: Transaction, turn: Turn, call_id: str, *outcomes: str) -> tuple[int, str, str, int]:
    """The row of a call that has not come further than ``outcomes``. Raises StoreError."""
    row = tx.row("call_find", turn_id=turn.id, call_id=clean(call_id))
    if row is None:
        raise StoreError(f"Turn {turn.id} has no tool call {call_id!r}.")
    if row[4] not in outcomes:
        raise StoreError(f"Tool call {call_id!r} of turn {turn.id} is {row[4]} already.")
    return int(row[0]), str(row[1]), str(row[2]), int(row[3])


def _receive(tx: Transaction, envelope: Envelope, owner: int, session_id: str, turn_id: str) -> None:
    """Store an incoming message once. Raises Duplicate."""
    key = {name: clean(getattr(envelope, name)) for name in ("platform", "account", "event_id")}
    if row := tx.row("inbox_find", **key):
        raise Duplicate("/".join(key.values()), str(row[0]), str(row[1]))
    values = {name: clean(getattr(envelope, name)) for name in ("chat", "sender", "thread")}
    body = dumps(message_to_json(envelope.message))
    where = {"session_id": session_id, "turn_id": turn_id}
    tx.add("inbox_add", **key, **values, **where, owner=owner, body=body, received=time.time())


def _search(tx: Transaction, owner: Principal, words: str, limit: int, sort: str, origin: str, role: str) -> list[Hit]:
    number = sessions.owner_number(tx, owner)
    alone = tx.rows("owner_count")[0][0] == 1
    query = match_query(words, owner=None if alone else number, origin=origin, role=role)
    if not query:
        return []
    rows = tx.rows("search_oldest" if sort == "oldest" else "search_newest", query=query, owner=number, limit=limit)
    fields = ("session_id", "message_id", "title", "role", "created", "origin")
    return [
        Hit(**dict(zip(fields, row[:6], strict=True)), snippet=snippet(searchable(_message(row[6]).parts), words))
        for row in rows
    ]
