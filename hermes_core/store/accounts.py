"""Who serves an account on a service: a lease with a heartbeat and a fencing token, and how far it came."""

import time
from collections.abc import Sequence

from attrs import asdict

from hermes_core.codec import clean
from hermes_core.database import READ, Transaction, made
from hermes_core.errors import StoreError
from hermes_core.store import leases
from hermes_core.store.transactions import Stored, transaction
from hermes_core.types import Account, AccountLease

__all__ = ["Accounts", "StaleAccount", "prove"]


class StaleAccount(StoreError):
    """Another gateway serves the account now; nothing was written."""


class Accounts(Stored):
    """Each account has one holder at a time, on whatever machine."""

    @transaction()
    def lease(self, tx: Transaction, platform: str, account: str, *, holder: str) -> AccountLease | None:
        """Take the lease on an account; None while somebody alive has it."""
        platform, account = clean(platform), clean(account)
        tx.alone(f"account {platform} {account}")
        row = tx.row("account_get", platform=platform, account=account)
        if leases.alive(tx, row):
            return None
        lease = AccountLease(platform=platform, account=account, holder=holder, fence=(row["fence"] if row else 0) + 1)
        tx.change("account_take", **asdict(lease), **leases.mark(tx), since=time.time())
        return lease

    @transaction()
    def renew(self, tx: Transaction, lease: AccountLease, state: str = "", error: str = "") -> None:
        """Extend the lease, and write down how it stands: connecting, connected, parked. Raises StaleAccount."""
        prove(tx, lease)
        if state:
            told = {"state": clean(state), "error": clean(error), "since": time.time()}
            tx.change("account_tell", platform=lease.platform, account=lease.account, **told)

    @transaction()
    def release(self, tx: Transaction, lease: AccountLease) -> None:
        """Let go of an account, so that another takes it at once. Quiet when another has it."""
        tx.change("account_drop", platform=lease.platform, account=lease.account, fence=lease.fence)

    @transaction(READ)
    def list(self, tx: Transaction) -> Sequence[Account]:
        """Return every account that was ever served, by platform and name."""
        rows = tx.rows("accounts_list")
        return [made(Account, row, served=leases.alive(tx, row)) for row in rows]


def prove(tx: Transaction, lease: AccountLease) -> None:
    """Prove the token and extend the lease, in a transaction that writes for the account. Raises StaleAccount."""
    known = {"platform": lease.platform, "account": lease.account, "fence": lease.fence}
    if not tx.change("account_beat", **known, beat=leases.mark(tx)["beat"]).rowcount:
        raise StaleAccount(
            f"Another gateway serves {lease.platform} {lease.account} now; nothing was written.",
            hint="See: hermes gateway status",
        )
