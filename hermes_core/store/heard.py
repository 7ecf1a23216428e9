"""What came in and is no turn: commands; and who is to be told of a turn that goes on after a death."""

from collections.abc import Sequence

from hermes_core.database import READ, Transaction
from hermes_core.store import inbox, leases, outbox
from hermes_core.store.inbox import Waiting
from hermes_core.store.outbox import Outgoing
from hermes_core.store.sessions import Sessions, owner_row, transaction
from hermes_core.types import Envelope, Principal

__all__ = ["Heard"]

_DONE = "command"  # stands for the turn of a command that was carried out


class Heard(Sessions):
    """The part of the store that the gateway's way in needs besides the journal."""

    @transaction(READ)
    def begun_by(self, tx: Transaction, session_id: str) -> Waiting | None:
        """The message whose turn is open in a session."""
        row = tx.row("turn_begun_by", session_id=session_id)
        return inbox.read(row) if row else None

    @transaction(READ)
    def is_held(self, tx: Transaction, session_id: str) -> bool:
        """Whether a process that lives plays a turn in a session."""
        row = tx.row("lease_get", session_id=session_id)
        return row is not None and leases.alive(tx, *(row[name] for name in ("holder", "place", "pid", "beat")))

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
    def done_command(self, tx: Transaction, row: int, answers: Sequence[Outgoing]) -> None:
        """Write down that a command was carried out, and what is to be said of it. Raises Duplicate."""
        inbox.take(tx, row, _DONE)
        for answer in answers:
            outbox.put(tx, owner_row(tx, answer.owner), answer)

    @transaction()
    def forget_commands(self, tx: Transaction, before: float) -> None:
        """Forget what commands said that were carried out before an instant; that they came stays known."""
        tx.change("commands_forget", before=before)

    @transaction(READ)
    def commands_waiting(self, tx: Transaction, platform: str, account: str) -> list[Waiting]:
        """The commands of an account that were heard and not carried out."""
        return [inbox.read(row) for row in tx.rows("commands_waiting", platform=platform, account=account)]
