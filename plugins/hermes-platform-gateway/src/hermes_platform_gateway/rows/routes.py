"""Which session a chat talks to: one row for each session key."""

import json
import time
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from hermes_core.codec import clean, dumps
from hermes_core.database import READ, TablesTransaction, made
from hermes_core.types import JSON, Principal
from hermes_platform_gateway.rows.outbox import stored
from hermes_platform_gateway.rows.tables import Part, equal, owned, put, routes, unit
from hermes_platform_gateway.rows.values import Binding, Outgoing

__all__ = ["Routes"]


class Routes(Part):
    """The rows of which chat talks to which session."""

    @unit(READ)
    def route(self, tx: TablesTransaction, key: str, owner: Principal) -> Binding | None:
        """Where a key leads, if it is the owner's."""
        rows = tx.execute(sa.select(routes).where(equal(routes, key=clean(key), **owned(owner))))
        return _read(rows[0]) if rows else None

    @unit(READ)
    def routes_of(self, tx: TablesTransaction, session_id: str) -> list[Binding]:
        """The keys that lead to a session, last used first."""
        rows = sa.select(routes).where(routes.c.session_id == session_id).order_by(routes.c.used.desc())
        return [_read(row) for row in tx.execute(rows)]

    @unit()
    def hand_over(
        self, tx: TablesTransaction, key: str, session_id: str, notice: Outgoing, overrides: Mapping[str, JSON]
    ) -> None:
        """Let a key lead to a session from now on, and have that said there: one commit."""
        _put(tx, key, session_id, notice.owner, overrides)
        stored(tx, notice)

    @unit()
    def lead(
        self,
        tx: TablesTransaction,
        key: str,
        session_id: str,
        owner: Principal,
        overrides: Mapping[str, JSON] | None = None,
    ) -> None:
        """Let a key lead to a session from now on."""
        _put(tx, key, session_id, owner, overrides or {})

    @unit()
    def used(self, tx: TablesTransaction, key: str) -> None:
        """Something was said there just now."""
        tx.execute(sa.update(routes).where(routes.c.key == clean(key)).values(used=time.time()))


def _put(tx: TablesTransaction, key: str, session_id: str, owner: Principal, overrides: Mapping[str, JSON]) -> None:
    now = time.time()
    row = {"key": clean(key), "session_id": session_id, **owned(owner), "overrides": dumps(dict(overrides))}
    tx.execute(put(routes, ["key"], **row, made=now, used=now))


def _read(row: Mapping[str, Any]) -> Binding:
    return made(Binding, row, overrides=json.loads(row["overrides"] or "{}"))
