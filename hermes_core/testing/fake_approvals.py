"""What waits for a yes, without a kernel behind it, for plugins under test."""

import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from attrs import evolve

from hermes_core.control import ApprovalsBroker
from hermes_core.errors import NotPermitted, UnknownName, UserError
from hermes_core.types import Approval, Grant, Principal, Session, Verdict

if TYPE_CHECKING:
    from hermes_core.plugins.manifest import Manifest

__all__ = ["FakeApprovals"]


class FakeApprovals(ApprovalsBroker):
    """Keeps questions in ``rows`` by their id and what was allowed in ``given``; each belongs to who owns its row."""

    def __init__(self, manifest: "Manifest", rows: Iterable[Approval] = (), given: Iterable[Grant] = ()) -> None:
        self._manifest = manifest
        self.rows = {row.id: row for row in rows}
        self.given = {grant.id: grant for grant in given}

    async def ask(self, session: Session, question: Approval) -> Approval:
        """Put it into ``rows``, unless it is there."""
        self._require("host.serve")
        return self.rows.setdefault(question.id, evolve(question, owner=session.owner, asked=time.time()))

    async def list(
        self, owner: Principal, *, closed: bool = False, limit: int = 20, admin: bool = False
    ) -> Sequence[Approval]:
        """Those in ``rows``, newest first."""
        self._require("sessions.read")
        found = [row for row in self._theirs(owner, admin=admin) if closed or row.state == "open"]
        return sorted(found, key=lambda row: row.asked, reverse=True)[:limit]

    async def find(self, owner: Principal, words: str, *, admin: bool = False) -> Approval:
        """One of ``rows``."""
        self._require("sessions.read")
        return self._find(owner, words, admin=admin)

    async def settle(
        self, owner: Principal, approval_id: str, verdict: Verdict, *, admin: bool = False, expired: bool = False
    ) -> Approval:
        """Write the answer into ``rows``; it grants nothing."""
        self._require("approvals.settle")
        found = self._find(owner, approval_id, admin=admin)
        if found.state != "open":
            raise UserError(f"{found.id} is already {found.summary}.")
        allowed = verdict.outcome == "allow"
        choice = (verdict.choice if verdict.choice in found.choices else "once") if allowed else "deny"
        settled = self.rows[found.id] = evolve(
            found,
            state="expired" if expired else "answered",
            verdict="allow" if allowed else "deny",
            choice=choice,
            reason=verdict.reason,
            answered_by=verdict.by,
            answered=time.time(),
        )
        return settled

    async def grants(self, owner: Principal) -> Sequence[Grant]:
        """Those in ``given``, whoever asks."""
        self._require("sessions.read")
        return tuple(self.given.values())

    async def revoke(self, owner: Principal, grant_id: int) -> bool:
        """Take one out of ``given``."""
        self._require("approvals.settle")
        return self.given.pop(grant_id, None) is not None

    def _theirs(self, owner: Principal, *, admin: bool) -> Sequence[Approval]:
        if admin:
            self._require("host.serve")
        return [row for row in self.rows.values() if row.owner == owner or (admin and row.addressee == "admin")]

    def _find(self, owner: Principal, words: str, *, admin: bool) -> Approval:
        theirs = self._theirs(owner, admin=admin)
        found = [row for row in theirs if row.id.startswith(words)] if words else []
        if len(found) > 1:
            raise UserError(f"{words!r} could be several approvals.")
        if not found:
            raise UnknownName("approval", words)
        return found[0]

    def _require(self, permission: str) -> None:
        if permission not in self._manifest.kernel:
            hint = f"Declare it in hermes-plugin.toml: [permissions] kernel = [{permission!r}]"
            raise NotPermitted(self._manifest.label, f"used {permission} without declaring it.", hint=hint)
