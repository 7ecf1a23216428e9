"""Seeing that a model goes round in circles: the same call, with the same result, again and again.

Waiting is no loop: a call whose result changes begins anew, and one that looks after a process is never counted.
"""

import json
from collections.abc import Iterable

from hermes_core.types import Text, ToolCall, ToolResult
from hermes_core.values import define

__all__ = ["Loops"]

FAILURES = 5  # identical failing calls after which a person is asked
SAME = 10  # identical results of a call that only looks, with nothing done in between
_WARN = 2
_SUBJECTS = ("command", "path", "url", "query")  # arguments by which a person knows a call


@define
class _Seen:
    text: str
    failed: bool
    times: int = 0


class Loops:
    """Looks at the results of one turn."""

    def __init__(self) -> None:
        self._seen: dict[str, _Seen] = {}
        self._loop = ""

    def look(self, call: ToolCall, result: ToolResult, *, looks: bool, touches: Iterable[str]) -> str:
        """Take in one result; what the model should be told below it, or nothing.

        ``looks`` says that its tool changes nothing, ``touches`` its resource keys.
        """
        key = f"{call.name} {json.dumps(call.arguments, sort_keys=True)} {call.invalid}"
        if any(one == "process" or one.startswith("process:") for one in touches):
            return ""
        if not result.failed and not looks:
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
            self._loop = _told(call, seen)
        if seen.failed:
            return f"This same call has now failed {seen.times} times in the same way. Change it, or take another way."
        return f"The same call gave this same result {seen.times} times in a row. Use it; do not ask for it again."

    def taken(self) -> str:
        """What a person should be asked about, once, or nothing; what comes is counted anew then."""
        loop, self._loop = self._loop, ""
        if loop:
            self._seen.clear()
        return loop


def _told(call: ToolCall, seen: _Seen) -> str:
    how = "failed" if seen.failed else "gave the same result"
    named = [value for name in _SUBJECTS if isinstance(value := call.arguments.get(name), str)]
    subject = named[0] if named else ", ".join(f"{name}={value}" for name, value in call.arguments.items())
    happened = f"The same call {how} {seen.times} times in a row: {call.name}({subject[:300]})"
    return f"This goes round in circles. {happened}\n{seen.text[:500].strip()}"
