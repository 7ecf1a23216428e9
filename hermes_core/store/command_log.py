"""What came in and is no turn: commands; and who is to be told of a turn that goes on after a death."""

from collections.abc import Sequence
from functools import partial

from hermes_core.database import READ, Prepared, Transaction
from hermes_core.store import inbox, leases
from hermes_core.store.killpoints import die_at
from hermes_core.store.sessions import Sessions, get_session, owner_row, transaction
from hermes_core.types import Envelope, Message, Principal, Waiting

__all__ = ["CommandLog"]

_SAID = Message(role="user", parts=())
_DONE = "command"  # stands for the turn of a command that was carried out


class CommandLog(Sessions):
    """The part of the store that the gateway's way in needs besides the journal."""

    @transaction(READ)
    def begun_by(self, tx: Transaction, session_id: str) -> Waiting | None:
        """The message whose turn is open in a session."""
        row = tx.row("turn_begun_by", session_id=session_id)
        return inbox.read(row) if row else None

    @transaction(READ)
    def asked_from(self, tx: Transaction, session_id: str, owner: Principal) -> Envelope | None:
        """Where a session's last turn was asked for, without what was said; None if in no chat. Raises UnknownName."""
        get_session(tx, session_id, owner)
        row = tx.row("chat_asked", session_id=session_id)
        return inbox.address_from_json(row["envelope"], _SAID) if row and row["envelope"] else None

    @transaction(READ)
    def is_held(self, tx: Transaction, session_id: str) -> bool:
        """Whether a process that lives plays a turn in a session."""
        row = tx.row("lease_get", session_id=session_id)
        return row is not None and leases.alive(tx, *(row[name] for name in ("holder", "place", "pid", "beat")))

    @transaction(READ)
    def over(self, tx: Transaction, turns: Sequence[str], before: float) -> list[str]:
        """Those of some turns that ended before an instant."""
        return [turn for turn in turns if tx.row("turn_over", id=turn, before=before)]

    @transaction()
    def stop_wanted(self, tx: Transaction, session_id: str) -> bool:
        """Whether another process wants the turn of a session stopped; said once."""
        wishes = tx.rows("stops_waiting", session_id=session_id)
        for row in wishes:
            inbox.take(tx, row["id"], _DONE)
        return bool(wishes)

    @transaction()
    def hear_command(self, tx: Transaction, owner: Principal, envelope: Envelope, trace: str) -> int:
        """Write down a command before it is carried out; its row. Raises Duplicate."""
        return inbox.wait(tx, envelope, owner_row(tx, owner), "", envelope.message, "command", trace)

    @transaction()
    def done_command(self, tx: Transaction, row: int, also: Prepared[object] | None = None) -> None:
        """Write down that a command was carried out, and what somebody ``also`` writes of it. Raises Duplicate."""
        inbox.take(tx, row, _DONE)
        if also:
            also(tx)
            tx.committed.append(partial(die_at, "stored"))

    @transaction()
    def forget_commands(self, tx: Transaction, before: float) -> None:
        """Forget what commands said that were carried out before an instant; that they came stays known."""
        tx.change("commands_forget", before=before)

    @transaction(READ)
    def commands_waiting(self, tx: Transaction, platform: str, account: str) -> list[Waiting]:
        """The commands of an account that were heard and not carried out."""
        return [inbox.read(row) for row in tx.rows("commands_waiting", platform=platform, account=account)]
