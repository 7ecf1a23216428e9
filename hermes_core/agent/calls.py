"""What stands between a call and its result: what it came to, what it waits for, why it failed."""

from collections.abc import Sequence
from typing import Any

from hermes_core.codec import clean
from hermes_core.errors import ToolError
from hermes_core.kinds import Tool
from hermes_core.types import Text, ToolCall, ToolResult
from hermes_core.values import frozen

__all__ = ["Made", "Waits", "failure", "overlap"]


def overlap(one: frozenset[str] | None, other: frozenset[str] | None) -> bool:
    """Tell whether two calls touch the same, or one a folder above what the other touches. None touches anything."""
    if one is None or other is None:
        return True
    return any(
        a == b or a.startswith(f"{b.rstrip('/')}/") or b.startswith(f"{a.rstrip('/')}/") for a in one for b in other
    )


@frozen
class Made:
    """What a call came to, before it is stored."""

    result: ToolResult
    outcome: str
    began: float


@frozen
class Waits:
    """Arguments of a call whose tool must come after others; looked at again when those of the batch have ended."""

    tool: Tool
    params: Any
    missing: Sequence[str]

    def settle(self, ran: set[str]) -> Any:
        if missing := [name for name in self.missing if name not in ran]:
            return ToolError(f"{self.tool.name} was not run: it needs {' and '.join(missing)} to have run before.")
        return self.params


def failure(call: ToolCall, error: BaseException) -> ToolResult:
    """Make the result that tells the model why a call did not work."""
    return ToolResult(call_id=call.id, name=call.name, parts=(Text(text=clean(str(error)[:4000])),), failed=True)
