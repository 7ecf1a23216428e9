"""Documents of plugins: small JSON values by owner, session or name, each replaced as a whole.

The owner is part of every key, so one person's session never leads to another's documents. A document goes with its
session; one that was written for a session which never came about goes after a month.
"""

import json
import random
import sqlite3
import time
from collections.abc import Sequence

from hermes_core.brokers import DocumentsBroker
from hermes_core.codec import clean
from hermes_core.database import READ, Transaction
from hermes_core.errors import Conflict, UnknownName, UserError
from hermes_core.store.transactions import Stored, Units, owner_number, owner_row, transaction
from hermes_core.types import JSON, Document, Principal

__all__ = ["LONGEST_NAME", "MOST", "SIZE", "Documents", "check_place", "encoded", "named"]

SIZE = 1_048_576  # bytes of one document
MOST = 256  # documents of one plugin in one place: a session, an owner, or neither
LONGEST_NAME = 200
_NOBODY = 0  # which no row of owners has
_UNBEGUN = 30 * 86400.0  # seconds for which a session may be about to begin


class Documents(Stored, DocumentsBroker):
    """What one plugin keeps as documents."""

    def __init__(self, database: Units, plugin: str) -> None:
        super().__init__(database)
        self._plugin = plugin

    @transaction(READ)
    def get(
        self, tx: Transaction, name: str, *, owner: Principal | None = None, session_id: str = ""
    ) -> Document | None:
        row = tx.row("document_get", **self._key(tx, owner, session_id), name=named(name))
        return _document(row) if row else None

    @transaction()
    def put(
        self,
        tx: Transaction,
        name: str,
        value: JSON,
        *,
        version: int | None = None,
        owner: Principal | None = None,
        session_id: str = "",
    ) -> Document:
        check_place(owner, session_id)
        body, number = encoded(value), _NOBODY if owner is None else owner_row(tx, owner)
        key, now = {"plugin": self._plugin, "owner": number, "session_id": session_id}, time.time()
        tx.alone(f"document {self._plugin} {number} {named(name)}")
        row = tx.row("document_get", **key, name=name)
        _check(name, row, version)
        if row:
            tx.change("document_put", **key, name=name, body=body, updated=now)
        else:
            self._make_room(tx, key, session_id, now)
            version = random.getrandbits(48) + 1  # one that is made anew is not taken for the one before
            tx.change("document_add", **key, name=name, body=body, updated=now, version=version)
        return _document(tx.rows("document_get", **key, name=name)[0])

    def _make_room(self, tx: Transaction, key: dict[str, JSON], session_id: str, now: float) -> None:
        if session_id:
            facts = tx.row("session_facts", id=session_id)
            if facts and facts["owner"] != key["owner"]:
                raise UnknownName("session", session_id)
            if facts is None:  # it may begin with the next message, or never
                tx.change("documents_sweep", plugin=self._plugin, owner=key["owner"], before=now - _UNBEGUN)
        if tx.rows("document_count", **key)[0][0] >= MOST:
            raise UserError(f"{self._plugin} keeps {MOST} documents there already.", hint="It must delete one first.")

    @transaction()
    def delete(
        self,
        tx: Transaction,
        name: str,
        *,
        version: int | None = None,
        owner: Principal | None = None,
        session_id: str = "",
    ) -> bool:
        key = self._key(tx, owner, session_id)
        tx.alone(f"document {self._plugin} {key['owner']} {named(name)}")
        row = tx.row("document_get", **key, name=name)
        _check(name, row, version)
        return bool(tx.change("document_drop", **key, name=name).rowcount)

    @transaction(READ, long=True)
    def list(self, tx: Transaction, *, owner: Principal | None = None, session_id: str = "") -> Sequence[Document]:
        return [_document(row) for row in tx.rows("documents_list", **self._key(tx, owner, session_id))]

    @transaction(READ, long=True)
    def export(self, tx: Transaction, owner: Principal) -> Sequence[Document]:
        found = tx.rows("documents_export", plugin=self._plugin, owner=owner_number(tx, owner))
        return [_document(row) for row in found]

    @transaction()
    def erase(self, tx: Transaction, owner: Principal) -> int:
        return tx.change("documents_erase", plugin=self._plugin, owner=owner_number(tx, owner)).rowcount

    def _key(self, tx: Transaction, owner: Principal | None, session_id: str) -> dict[str, JSON]:
        check_place(owner, session_id)
        number = _NOBODY if owner is None else owner_number(tx, owner)
        return {"plugin": self._plugin, "owner": number, "session_id": session_id}


def check_place(owner: Principal | None, session_id: str) -> None:
    """Refuse a session of nobody: raises UserError; what can be no session: UnknownName."""
    if session_id and owner is None:
        raise UserError("A document of a session needs its owner.", hint="Give owner=session.owner too.")
    if session_id != clean(session_id):
        raise UnknownName("session", session_id)


def encoded(value: JSON) -> str:
    """Return a value as the text that is stored. Raises UserError when it is not JSON, or too large."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        same = json.loads(text) == value
        if text != clean(text):  # half a character, which no database takes
            text = json.dumps(value, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise UserError(f"A document must be JSON: {error}.") from error
    if not same:
        raise UserError("A document must be JSON: lists and not tuples, texts as keys.")
    if (size := len(text.encode())) > SIZE:
        raise UserError(f"A document of {size:,} bytes is too large; {SIZE:,} is the most.", hint="Keep less in it.")
    return text


def named(name: str) -> str:
    """Return the name of a document, if it is one. Raises UserError."""
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise UserError(f"{name[:40]!r} is no name of a document: one line of 1 to {LONGEST_NAME} characters.")
    return name


def _check(name: str, row: sqlite3.Row | None, version: int | None) -> None:
    if version is not None and version != (row["version"] if row else 0):
        raise Conflict(f"Somebody else changed the document {name!r} meanwhile.", hint="Read it again, then write.")


def _document(row: sqlite3.Row) -> Document:
    about = {field: row[field] for field in ("name", "version", "session_id", "updated")}
    return Document(**about, value=json.loads(row["body"]))
