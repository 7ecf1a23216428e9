"""Which session a chat talks to: one row for each session key."""

import json
import sqlite3
import time
from collections.abc import Mapping

from hermes_core.database import READ, Transaction
from hermes_core.store import outbox
from hermes_core.store.codec import clean, dumps
from hermes_core.store.sessions import Sessions, get_session, made, owner_number, owner_row, transaction
from hermes_core.types import JSON, Principal
from hermes_core.values import frozen

__all__ = ["Route", "Routes"]


@frozen(kw_only=True)
class Route:
    """Where a session key leads. ``overrides`` are what was chosen in that chat: ``model``, ``effort``."""

    key: str
    session_id: str
    overrides: Mapping[str, JSON]
    made: float
    used: float


class Routes(Sessions):
    """The part of the store that knows which chat talks to which session."""

    @transaction(READ)
    def route(self, tx: Transaction, key: str, owner: Principal) -> Route | None:
        """Where a key leads, if it is the owner's."""
        row = tx.row("route_get", key=clean(key), owner=owner_number(tx, owner))
        return _read(row) if row else None

    @transaction(READ)
    def routes_of(self, tx: Transaction, session_id: str) -> list[Route]:
        """The keys that lead to a session, last used first."""
        return [_read(row) for row in tx.rows("routes_of", session_id=session_id)]

    @transaction()
    def hand_over(
        self, tx: Transaction, key: str, session_id: str, notice: outbox.Outgoing, overrides: Mapping[str, JSON]
    ) -> None:
        """Let a key lead to a session from now on, and have that said there: one commit. Raises UnknownName."""
        get_session(tx, session_id, notice.owner)
        _put(tx, key, session_id, notice.owner, overrides)
        outbox.put(tx, owner_row(tx, notice.owner), notice)

    @transaction()
    def lead(
        self,
        tx: Transaction,
        key: str,
        session_id: str,
        owner: Principal,
        overrides: Mapping[str, JSON] | None = None,
    ) -> None:
        """Let a key lead to a session from now on."""
        _put(tx, key, session_id, owner, overrides or {})

    @transaction()
    def used(self, tx: Transaction, key: str) -> None:
        """Something was said there just now."""
        tx.change("route_used", key=clean(key), used=time.time())


def _put(tx: Transaction, key: str, session_id: str, owner: Principal, overrides: Mapping[str, JSON]) -> None:
    now = time.time()
    row = {"key": clean(key), "session_id": session_id, "owner": owner_row(tx, owner)}
    tx.change("route_put", **row, overrides=dumps(dict(overrides)), made=now, used=now)


def _read(row: sqlite3.Row) -> Route:
    return made(Route, row, overrides=json.loads(row["overrides"] or "{}"))
