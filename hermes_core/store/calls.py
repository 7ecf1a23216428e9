"""The rows of tool calls."""

import zlib
from typing import Any

from hermes_core.codec import canonical, clean
from hermes_core.database import Transaction
from hermes_core.errors import StoreError
from hermes_core.store.leases import Turn
from hermes_core.types import ToolCall

__all__ = ["add_call", "waiting"]


def add_call(tx: Transaction, turn: Turn, message_id: int, call: ToolCall, result: str | None) -> None:
    """Write the row of a call, as pending. ``result`` is None for a call of a model, empty for one of a call."""
    arguments = canonical(call.arguments)
    mark = zlib.crc32(f"{call.name} {arguments}".encode())
    asked = {"call_id": clean(call.id), "name": clean(call.name), "arguments": arguments, "mark": mark}
    row = {"session_id": turn.session_id, "turn_id": turn.id, "message_id": message_id, "result": result}
    tx.change("call_add", **row, **asked)


def waiting(tx: Transaction, turn: Turn, call_id: str, *outcomes: str) -> Any:
    """The row of a call that has not come further than ``outcomes``. Raises StoreError."""
    row = tx.row("call_find", turn_id=turn.id, call_id=clean(call_id))
    if row is None:
        raise StoreError(f"Turn {turn.id} has no tool call {call_id!r}.")
    if row["outcome"] not in outcomes:
        raise StoreError(f"Tool call {call_id!r} of turn {turn.id} is {row['outcome']} already.")
    return row
