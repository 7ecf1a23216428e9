"""What waits for a person's yes, as those who show and answer it have it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hermes_core.agent.forwarded import of_store
from hermes_core.control import ApprovalsBroker
from hermes_core.errors import UserError
from hermes_core.types import Approval, Grant, Principal, Verdict

if TYPE_CHECKING:
    from hermes_core.agent.runtime import Runtime

__all__ = ["BrokeredApprovals"]


class BrokeredApprovals(ApprovalsBroker):
    """The questions and grants of one kernel."""

    def __init__(self, runtime: "Runtime") -> None:
        self._runtime = runtime

    ask = of_store(lambda store: store.approvals.ask)
    revoke = of_store(lambda store: store.approvals.forget_grant)

    async def list(
        self, owner: Principal, *, closed: bool = False, limit: int = 20, admin: bool = False
    ) -> Sequence[Approval]:
        known, admin = await self._runtime.store(), admin or owner == self._runtime.owner
        return await known.approvals.list(owner, closed=closed, limit=limit, admin=admin)

    async def find(self, owner: Principal, words: str, *, admin: bool = False) -> Approval:
        known, admin = await self._runtime.store(), admin or owner == self._runtime.owner
        return await known.approvals.find(owner, words, admin=admin)

    async def settle(
        self, owner: Principal, approval_id: str, verdict: Verdict, *, admin: bool = False, expired: bool = False
    ) -> Approval:
        found, state = await self.find(owner, approval_id, admin=admin), "expired" if expired else "answered"
        settled, mine = await (await self._runtime.store()).approvals.settle(
            found.owner, found.id, verdict, state=state
        )
        if not mine:
            raise UserError(f"{found.id} is already {settled.summary}.", hint="The first answer counts.")
        return settled

    async def grants(self, owner: Principal) -> Sequence[Grant]:
        return await (await self._runtime.store()).approvals.grants(owner, every=True)
