"""Who serves an account on a service: a lease with a heartbeat and a fencing token, and how far it came."""

import os
import socket
import time
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from attrs import asdict

from hermes_core.codec import clean
from hermes_core.database import READ, TablesTransaction, made
from hermes_core.errors import StoreError
from hermes_platform_gateway.rows.tables import Part, accounts, equal, put, unit
from hermes_platform_gateway.rows.values import Account, AccountLease

__all__ = ["Accounts", "StaleAccount"]


class StaleAccount(StoreError):
    """Another gateway serves the account now; nothing was written."""


class Accounts(Part):
    """Each account has one holder at a time, on whatever machine."""

    @unit()
    def lease(self, tx: TablesTransaction, platform: str, account: str) -> AccountLease | None:
        """Take the lease on an account; None while somebody alive has it."""
        platform, account = clean(platform), clean(account)
        tx.alone(f"account {platform} {account}")
        rows = tx.execute(sa.select(accounts).where(equal(accounts, platform=platform, account=account)))
        row: Mapping[str, Any] | None = next(iter(rows), None)
        if tx.lives(row):
            return None
        holder, fence = f"{socket.gethostname()}:{os.getpid()}", row["fence"] + 1 if row else 1
        lease = AccountLease(platform=platform, account=account, holder=holder, fence=fence)
        state = {"state": "connecting", "error": "", "since": time.time()}
        tx.execute(put(accounts, ["platform", "account"], **asdict(lease), **tx.mark(), **state))
        return lease

    @unit()
    def renew(self, tx: TablesTransaction, lease: AccountLease, state: str = "", error: str = "") -> None:
        """Extend the lease, and write down how it stands: connecting, connected, parked. Raises StaleAccount."""
        told = {"state": clean(state), "error": clean(error), "since": time.time()} if state else {}
        if not _changed(tx, lease, beat=tx.mark()["beat"], **told):
            raise StaleAccount(
                f"Another gateway serves {lease.platform} {lease.account} now; nothing was written.",
                hint="See: hermes gateway status",
            )

    @unit()
    def release(self, tx: TablesTransaction, lease: AccountLease) -> None:
        """Let go of an account, so that another takes it at once. Quiet when another has it."""
        _changed(tx, lease, holder="", state="stopped")

    @unit(READ)
    def list(self, tx: TablesTransaction) -> Sequence[Account]:
        """Every account that was ever served, by platform and name."""
        rows = tx.execute(sa.select(accounts).order_by(accounts.c.platform, accounts.c.account))
        return [made(Account, row, served=tx.lives(row)) for row in rows]


def _changed(tx: TablesTransaction, lease: AccountLease, **values: object) -> bool:
    """Write for an account; whether the lease still holds."""
    held = equal(accounts, platform=lease.platform, account=lease.account, fence=lease.fence)
    return tx.execute(sa.update(accounts).where(held, accounts.c.holder != "").values(values)).changed > 0
