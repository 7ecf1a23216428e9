"""Conversations that others keep too: begun with a history, told again by an event, copied, taken back."""

from collections.abc import Sequence

from hermes_core.codec import clean, plain_text
from hermes_core.database import READ, Transaction, made
from hermes_core.errors import Duplicate, UserError
from hermes_core.store.approvals import Approvals
from hermes_core.store.contexts import history_of, stand_for
from hermes_core.store.documents import copy_documents
from hermes_core.store.leases import alive, check_free
from hermes_core.store.outside import by_person
from hermes_core.store.sessions import get_session, owner_number, stored, transaction
from hermes_core.store.validity import said, valid
from hermes_core.types import Message, PastTurn, Principal, Session, Usage

__all__ = ["Branches"]


class Branches(Approvals):
    """The part of the store that begins conversations with what was said, and says what became of it."""

    def _append(self, tx: Transaction, session_id: str, message: Message, turn_id: str, made: int = 0) -> int:
        raise NotImplementedError

    @transaction()
    def begin_session(
        self, tx: Transaction, session: Session, prompt: str, tools: str, history: Sequence[Message]
    ) -> None:
        """Store a new session with its prompt and what was said before, as one commit. Raises UserError."""
        self._create(tx, session)
        tx.change("prompt_save", session_id=session.id, prompt=clean(prompt), tools=clean(tools))
        for message in valid(history):
            self._append(tx, session.id, message, "")

    @transaction(READ)
    def past_turn(
        self, tx: Transaction, owner: Principal, *, platform: str, account: str, event_id: str
    ) -> PastTurn | None:
        """What became of an event that came in; None when none did, or its turn was deleted."""
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
        if state == "open" and not alive(tx, *(row[name] for name in ("holder", "place", "pid", "beat"))):
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

    @transaction()
    def fork_session(self, tx: Transaction, owner: Principal, source: str, session: Session, *, upto: str = "") -> None:
        """Store a new session with the prompt and history of another; until the end of the turn ``upto``, if given.

        Its model is told of the whole what that of the other is told: what was compacted or taken back stays so.
        Plugins' documents are copied with the whole, not until ``upto``: they are of later. Raises UnknownName.
        """
        get_session(tx, source, owner)
        self._create(tx, session)
        if prompt := tx.row("prompt_load", session_id=source):
            tx.change("prompt_save", session_id=session.id, prompt=prompt["prompt"], tools=prompt["tools"])
        final = tx.row("turn_end", session_id=source, turn_id=upto) if upto else None
        rows = tx.rows("messages_from", session_id=source, start=0, limit=-1)
        end = final["id"] if final else rows[-1]["id"] if rows else 0
        for message in valid(stored(row["body"]) for row in rows if row["id"] <= end):
            self._append(tx, session.id, message, "")
        if not upto and tx.row("context_last", session_id=source):
            stand_for(tx, session.id, history_of(tx, source), "fork")
        if not upto:
            copy_documents(tx, source, session.id)

    @transaction(long=True)
    def undo(self, tx: Transaction, owner: Principal, session_id: str, count: int, by: str) -> list[Message]:
        """Let the model know the last exchanges no more; what the person said in them, the oldest first.

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
        begins = [place for place, message in enumerate(before) if by_person(message)][-count:]
        if not begins:
            return []
        what = "The last exchange was" if len(begins) == 1 else f"The last {len(begins)} exchanges were"
        mark = said("assistant", f"({what} taken back; the model is not told of it any more.)")
        self._append(tx, session_id, mark, "")
        stand_for(tx, session_id, before[: begins[0]], by)  # what came before was not made from what came after
        return [before[place] for place in begins]
