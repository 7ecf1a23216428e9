"""What waits for a person's yes, as a plugin may see and answer it."""

from collections.abc import Awaitable, Callable, Sequence

from hermes_core.control import ApprovalsBroker
from hermes_core.errors import UserError
from hermes_core.plugins.index import Installed
from hermes_core.types import Approval, Grant, Principal, Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.store.store import Store

__all__ = ["Approvals"]


class Approvals(ApprovalsBroker):
    """The questions and grants in a store. ``host`` is the owner of this Hermes."""

    def __init__(self, installed: Installed, store: "Callable[[], Awaitable[Store]]", host: Principal) -> None:
        self._installed, self._store, self._host = installed, store, host

    async def _read(self) -> "Store":
        self._installed.require("permissions", "kernel", "sessions.read", "read what waits for a yes")
        return await self._store()

    async def _change(self) -> "Store":
        self._installed.require("permissions", "kernel", "approvals.settle", "answered for a person")
        return await self._store()

    async def list(self, owner: Principal, *, closed: bool = False, limit: int = 20) -> Sequence[Approval]:
        store = await self._read()
        return await store.approvals.list(owner, closed=closed, limit=limit, admin=owner == self._host)

    async def find(self, owner: Principal, words: str) -> Approval:
        return await (await self._read()).approvals.find(owner, words, admin=owner == self._host)

    async def settle(self, owner: Principal, approval_id: str, verdict: Verdict) -> Approval:
        store = await self._change()
        found = await store.approvals.find(owner, approval_id, admin=owner == self._host)
        settled, mine = await store.approvals.settle(found.owner, found.id, verdict)
        if not mine:
            raise UserError(f"{found.id} is already {settled.told}.", hint="The first answer counts.")
        return settled

    async def grants(self, owner: Principal) -> Sequence[Grant]:
        return await (await self._read()).approvals.grants(owner, every=True)

    async def revoke(self, owner: Principal, grant_id: int) -> bool:
        return await (await self._change()).approvals.forget_grant(owner, grant_id)
