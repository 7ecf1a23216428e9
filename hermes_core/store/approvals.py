"""Questions for a person's yes, each settled once, and the grants that come of them.

A question is a row before anybody is asked. Who settles it first has settled it: the answer, and what it grants beyond
the one call, are one commit. So neither a late answer, nor a second one, nor a death at any moment changes it.
"""

import json
import sqlite3
import time
from collections.abc import Sequence

from hermes_core.codec import clean
from hermes_core.database import READ, Transaction, made
from hermes_core.errors import StoreError, UnknownName, UserError
from hermes_core.store.transactions import Stored, owner_number, owner_row, transaction
from hermes_core.types import Approval, Grant, Principal, Session, Verdict

__all__ = ["Approvals"]

_LASTING = ("session", "always")


class Approvals(Stored):
    """The part of the store that keeps what people allow."""

    @transaction()
    def ask(self, tx: Transaction, session: Session, question: Approval) -> Approval:
        """Write a question down, or find it as it stands by now. Raises StoreError when the id is another's."""
        owner = owner_row(tx, session.owner)
        row = {
            "root": _root(tx, owner, question.session_id),
            "choices": json.dumps(list(question.choices)),
            "rules": clean(json.dumps([list(rule) for rule in question.rules])),
            "asked": time.time(),
            "answered": 0.0,
            **{name: clean(getattr(question, name)) for name in _TEXTS},
        }
        tx.change("approval_add", owner=owner, **row)
        if (found := _approval(tx, owner, question.id)) is None:
            raise StoreError(f"The question {question.id} belongs to somebody else.")
        wanted = {rule for rule, _, _ in found.rules}
        if found.state == "open" and wanted and wanted <= _granted(tx, owner, found.root).keys():  # since it was judged
            _settle(tx, owner, found, Verdict(outcome="allow", choice="once", by="grant"), "answered")
            return _approval(tx, owner, question.id) or found
        return found

    @transaction(READ)
    def get(self, tx: Transaction, owner: Principal, approval_id: str) -> Approval | None:
        """Return one question of an owner as it stands."""
        return _approval(tx, owner_number(tx, owner), approval_id)

    @transaction(READ)
    def find(self, tx: Transaction, owner: Principal, words: str, *, admin: bool = False) -> Approval:
        """Find a question that somebody may answer, by its id or its start; as an ``admin`` also those for admins.

        Raises UnknownName, UserError.
        """
        number, words = owner_number(tx, owner), clean(words).strip()
        may = {"owner": number, "admin": admin, "profile": clean(owner.profile)}
        found = [_read(row) for row in tx.rows("approvals_named", words=words, **may)] if words else []
        if len(found) > 1:
            found = [one for one in found if one.id == words]
            if not found:
                raise UserError(f"{words!r} could be several approvals.", hint="Give more of the id.")
        if not found:
            raise UnknownName("approval", words, hint="See: hermes approvals list --all")
        return found[0]

    @transaction(READ)
    def list(
        self, tx: Transaction, owner: Principal, *, closed: bool = False, limit: int = 50, admin: bool = False
    ) -> Sequence[Approval]:
        """Return the open questions that somebody may answer, newest first; settled ones too when ``closed``.

        As an ``admin`` also those that others' calls put to admins.
        """
        may = {"owner": owner_number(tx, owner), "admin": admin, "profile": clean(owner.profile)}
        return [_read(row) for row in tx.rows("approvals_list", closed=closed, limit=limit, **may)]

    @transaction()
    def settle(
        self, tx: Transaction, owner: Principal, approval_id: str, verdict: Verdict, *, state: str = "answered"
    ) -> tuple[Approval, bool]:
        """Settle a question, keep what it grants, and answer what that grants too: one commit.

        The question as it stands now, and whether this did it. What is not offered is a single yes. Raises UnknownName.
        """
        number = owner_number(tx, owner)
        found = _approval(tx, number, approval_id)
        if found is None:
            raise UnknownName("approval", approval_id)
        if not _settle(tx, number, found, verdict, state):
            return _approval(tx, number, approval_id) or found, False
        settled = _approval(tx, number, approval_id) or found
        if settled.verdict == "allow" and settled.choice in _LASTING and settled.rules:
            _keep(tx, number, settled)
            _answer_alike(tx, number, settled)
        return settled, True

    @transaction(READ)
    def grants(
        self, tx: Transaction, owner: Principal, *, session_id: str = "", every: bool = False
    ) -> Sequence[Grant]:
        """Return what holds for an owner in a session (a child's: in its root), oldest first; ``every``: in any."""
        number = owner_number(tx, owner)
        root = _root(tx, number, session_id) if session_id else ""
        rows = tx.rows("grants_list", owner=number, root=root, every=every)
        return [made(Grant, row, session_id=row["session_id"] or "") for row in rows]

    @transaction(READ)
    def granted(self, tx: Transaction, owner: Principal, session_id: str) -> Sequence[str]:
        """Return the rules that hold for an owner in a session."""
        number = owner_number(tx, owner)
        return list(_granted(tx, number, _root(tx, number, session_id)))

    @transaction()
    def forget_grant(self, tx: Transaction, owner: Principal, grant_id: int) -> bool:
        """Take a grant back; False when there is none of that number."""
        return bool(tx.change("grant_forget", owner=owner_number(tx, owner), id=grant_id).rowcount)


_TEXTS = (
    "id", "session_id", "turn_id", "call_id", "kind", "subject", "risk", "covers", "state", "verdict", "choice",
    "reason", "answered_by", "addressee",
)  # fmt: skip


def _granted(tx: Transaction, owner: int, root: str) -> dict[str, None]:
    return {row["rule"]: None for row in tx.rows("grants_list", owner=owner, root=root, every=False)}


def _settle(tx: Transaction, owner: int, found: Approval, verdict: Verdict, state: str) -> bool:
    choice = verdict.choice if found.kind != "approval" or verdict.choice in found.choices else "once"
    allowed = verdict.outcome == "allow" and verdict.choice != "deny"
    values = {"verdict": "allow" if allowed else "deny", "choice": choice if allowed else "deny"}
    values |= {"reason": verdict.reason, "answered_by": verdict.by, "state": state}
    texts = {name: clean(text) for name, text in values.items()}
    return bool(tx.change("approval_settle", owner=owner, id=found.id, answered=time.time(), **texts).rowcount)


def _keep(tx: Transaction, owner: int, settled: Approval) -> None:
    session = settled.root if settled.choice == "session" else None
    for rule, words, folder in settled.rules:
        if not tx.row("grant_same", owner=owner, rule=rule, session=session or ""):
            row = {"rule": rule, "words": words, "folder": folder, "approval_id": settled.id, "created": time.time()}
            tx.change("grant_add", owner=owner, session_id=session, **row)


def _answer_alike(tx: Transaction, owner: int, settled: Approval) -> None:
    """Answer the open questions that a new grant covers: nobody is asked twice for the same."""
    granted = {rule for rule, _, _ in settled.rules}
    for other in map(_read, tx.rows("approvals_open", owner=owner, addressee=settled.addressee)):
        here = settled.choice == "always" or other.root == settled.root
        if here and other.rules and {rule for rule, _, _ in other.rules} <= granted:
            _settle(tx, owner, other, Verdict(outcome="allow", choice="once", by="grant"), "answered")


def _root(tx: Transaction, owner: int, session_id: str) -> str:
    """Return the conversation that a session belongs to: of a child agent's, the first one above that is no child's."""
    while row := tx.row("session_get", id=clean(session_id), owner=owner):
        if row["origin"] != "child" or not row["parent"]:
            break
        session_id = row["parent"]
    return session_id


def _approval(tx: Transaction, owner: int, approval_id: str) -> Approval | None:
    row = tx.row("approval_get", owner=owner, id=clean(approval_id))
    return _read(row) if row else None


def _read(row: sqlite3.Row) -> Approval:
    rules = tuple(tuple(rule) for rule in json.loads(row["rules"]))
    owner = Principal(profile=row["profile"], person=row["person"])
    return made(Approval, row, choices=tuple(json.loads(row["choices"])), rules=rules, owner=owner)
