"""Seeing that a model goes round in circles: the same call, with the same result, again and again.

Waiting is no circle: a call whose result changes begins anew, and one that looks after a process is never counted.
"""

from collections.abc import Iterable

from attrs import define

from hermes_core.kinds import Tool
from hermes_core.store.codec import canonical
from hermes_core.types import Text, ToolCall, ToolResult
from hermes_core.values import frozen

__all__ = ["Circle", "Loops", "signature"]

FAILURES = 5  # identical failing calls after which a person is asked
SAME = 10  # identical results of a call that only looks, with nothing done in between
_WARN = 2


@frozen
class Circle:
    """A call that came out the same way too often."""

    call: ToolCall
    times: int
    failed: bool
    text: str


@define
class _Seen:
    text: str
    failed: bool
    times: int = 0


def signature(call: ToolCall) -> str:
    """Equal for calls of the same tool with the same arguments, whatever the order of their keys."""
    return f"{call.name} {canonical(call.arguments)} {call.invalid}"


class Loops:
    """Looks at the results of one turn. ``circle`` is what a person should be asked about, if anything."""

    def __init__(self) -> None:
        self._seen: dict[str, _Seen] = {}
        self.circle: Circle | None = None

    def look(self, call: ToolCall, tool: Tool | None, keys: Iterable[str], result: ToolResult) -> str:
        """Take in one result; what the model should be told below it, or nothing."""
        key = signature(call)
        if any(one == "process" or one.startswith("process:") for one in keys):
            return ""
        if not result.failed and not (tool and tool.idempotent):
            # Something may be another way now: what only looks may look again.
            self._seen = {k: seen for k, seen in self._seen.items() if seen.failed and k != key}
            return ""
        text = "".join(part.text for part in result.parts if isinstance(part, Text))
        seen = self._seen.get(key)
        if seen is None or (seen.text, seen.failed) != (text, result.failed):
            seen = self._seen[key] = _Seen(text, result.failed)
        seen.times += 1
        if seen.times < _WARN:
            return ""
        if seen.times >= (FAILURES if seen.failed else SAME):
            self.circle = Circle(call, seen.times, seen.failed, text)
        if seen.failed:
            return f"This same call has now failed {seen.times} times in the same way. Change it, or take another way."
        return f"The same call gave this same result {seen.times} times in a row. Use it; do not ask for it again."

    def go_on(self) -> None:
        """A person wants it so: count anew."""
        self._seen.clear()
        self.circle = None
