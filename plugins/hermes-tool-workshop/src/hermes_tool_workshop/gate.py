"""What the workshop says before a call: no to code that cannot be kept, and to a person what they are asked about."""

from collections.abc import Mapping

from attrs import evolve

from hermes_core.errors import HermesError, ToolError
from hermes_core.kinds import Tool
from hermes_core.types import JSON, Session, ToolCall, Verdict
from hermes_tool_workshop.draft import draft_of
from hermes_tool_workshop.made import Workshop
from hermes_tool_workshop.shape import PREFIX
from hermes_tool_workshop.shelf import Damaged, Shelf
from hermes_tool_workshop.words import difference, may, patch, permission_change
from hermes_tool_workshop.writing import known_name


def verdict(shop: Workshop, session: Session, call: ToolCall, read: Mapping[str, Tool]) -> Verdict | None:
    """What to say to a call; None where it is none of the workshop's."""
    shelf = shop.shelf(session)
    try:
        if call.name.startswith(PREFIX):
            return _approved(shelf, call.name)
        if call.name == "tool_write":
            return Verdict(outcome="ask", reason=_writing(shop, shelf, call.arguments))
        if call.name == "tool_rollback":
            return Verdict(outcome="ask", reason=_going_back(shelf, call.arguments))
    except (HermesError, Damaged) as error:
        return Verdict(outcome="deny", reason=str(error))
    return None


def _approved(shelf: Shelf, name: str) -> Verdict | None:
    if name not in shelf.names():
        return None  # another's tool that begins with the same letters
    ledger, version = shelf.approved(name)
    return Verdict(outcome="allow", reason=f"version {version.number} of {ledger.name} was approved when it was written")
