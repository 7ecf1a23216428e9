"""What waits for a person's yes, and their answer."""

from collections.abc import Mapping
from typing import Any

from hermes_core.errors import UserError
from hermes_core.types import JSON, Approval, Verdict
from hermes_platform_mcp_serve.desk import Desk

__all__ = ["approval_row", "opened", "respond"]

_BY = "an MCP client"


async def opened(desk: Desk, given: Mapping[str, Any]) -> Any:
    """``permissions_list_open``."""
    found = await desk.ctx.approvals.list(desk.owner, limit=100)
    return desk.answer({"open": [approval_row(one) for one in found]})


async def respond(desk: Desk, given: Mapping[str, Any]) -> Any:
    """``permissions_respond``: once and no more, whatever else could be allowed."""
    found = await desk.ctx.approvals.find(desk.owner, given["id"])
    if found.kind != "approval":
        raise UserError("This wants words of the person, not a yes.")
    allowed = Verdict(outcome="allow", choice="once", by=_BY)
    verdict = allowed if given["decision"] == "allow" else Verdict.refused(_BY, given.get("instead", ""))
    row = await desk.ctx.approvals.settle(desk.owner, found.id, verdict)
    return desk.answer({"id": row.id, "state": row.state, "decision": row.verdict})


def approval_row(one: Approval) -> dict[str, JSON]:
    """Return a question as clients read it."""
    return {
        "id": one.id,
        "session_key": one.session_id,
        "call": one.subject,
        "risk": one.risk,
        "asked_at": one.asked,
    }
