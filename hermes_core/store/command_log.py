"""Commands that came in: each is written down before it is carried out."""

from functools import partial

from hermes_core.codec import clean
from hermes_core.database import READ, Prepared, Transaction
from hermes_core.store import inbox
from hermes_core.store.inbox import DONE, REFUSED
from hermes_core.store.killpoints import die_at
from hermes_core.store.transactions import Stored, owner_row, transaction
from hermes_core.types import Envelope, Message, Principal, Waiting

__all__ = ["CommandLog"]


class CommandLog(Stored):
    """What people ordered that is no message to a model."""

    @transaction()
    def hear(self, tx: Transaction, owner: Principal, envelope: Envelope, trace: str) -> int:
        """Write down a command before it is carried out; its row. Raises Duplicate."""
        return inbox.wait(tx, envelope, owner_row(tx, owner), "", envelope.message, "command", trace)

    @transaction()
    def refuse(self, tx: Transaction, owner: Principal, envelope: Envelope, why: str, trace: str) -> None:
        """Write down that a message came and could not be taken, without what it said. Raises Duplicate."""
        nothing = Message(role="user", parts=())
        inbox.take(tx, inbox.wait(tx, envelope, owner_row(tx, owner), "", nothing, clean(why), trace), REFUSED)

    @transaction()
    def done(self, tx: Transaction, row: int, also: Prepared[object] | None = None) -> None:
        """Write down that a command was carried out, and what somebody ``also`` writes of it. Raises Duplicate."""
        inbox.take(tx, row, DONE)
        if also:
            also(tx)
            tx.committed.append(partial(die_at, "stored"))

    @transaction()
    def forget(self, tx: Transaction, before: float) -> None:
        """Forget what commands said that were carried out before an instant; that they came stays known."""
        tx.change("commands_forget", before=before)

    @transaction(READ)
    def waiting(self, tx: Transaction, platform: str, account: str) -> list[Waiting]:
        """The commands of an account that were heard and not carried out."""
        return [inbox.read(row) for row in tx.rows("commands_waiting", platform=platform, account=account)]
