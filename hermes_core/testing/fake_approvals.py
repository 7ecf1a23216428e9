"""What waits for a yes, without a kernel behind it, for plugins under test."""

import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from attrs import evolve

from hermes_core.control import ApprovalsBroker
from hermes_core.errors import NotPermitted, UnknownName, UserError
from hermes_core.types import Approval, Grant, Principal, Verdict

if TYPE_CHECKING:
    from hermes_core.plugins.manifest import Manifest

__all__ = ["FakeApprovals"]


class FakeApprovals(ApprovalsBroker):
    """Keeps questions in ``rows`` by their id and what was allowed in ``given``; each belongs to who owns its row."""

    def __init__(self, manifest: "Manifest", rows: Iterable[Approval] = (), given: Iterable[Grant] = ()) -> None:
        self._manifest = manifest
        self.rows = {row.id: row for row in rows}
        self.given = {grant.id: grant for grant in given}

    async def list(self, owner: Principal, *, closed: bool = False, limit: int = 20) -> Sequence[Approval]:
        """Those in ``rows``, newest first."""
        self._require("sessions.read")
        found = [row for row in self.rows.values() if row.owner == owner and (closed or row.state == "open")]
        return sorted(found, key=lambda row: row.asked, reverse=True)[:limit]

    async def find(self, owner: Principal, words: str) -> Approval:
        """One of ``rows``."""
        self._require("sessions.read")
        return self._find(owner, words)

    async def settle(self, owner: Principal, approval_id: str, verdict: Verdict) -> Approval:
        """Write the answer into ``rows``; it grants nothing."""
        self._require("approvals.settle")
        found = self._find(owner, approval_id)
        if found.state != "open":
            raise UserError(f"{found.id} is already {found.told}.")
        allowed = verdict.outcome == "allow"
        choice = (verdict.choice if verdict.choice in found.choices else "once") if allowed else "deny"
        settled = self.rows[found.id] = evolve(
            found,
            state="answered",
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

    def _find(self, owner: Principal, words: str) -> Approval:
        found = [row for row in self.rows.values() if row.owner == owner and row.id.startswith(words)] if words else []
        if len(found) > 1:
            raise UserError(f"{words!r} could be several approvals.")
        if not found:
            raise UnknownName("approval", words)
        return found[0]

    def _require(self, permission: str) -> None:
        if permission not in self._manifest.kernel:
            hint = f"Declare it in hermes-plugin.toml: [permissions] kernel = [{permission!r}]"
            raise NotPermitted(self._manifest.label, f"used {permission} without declaring it.", hint=hint)
