"""What people and models read of a tool: its permissions in words, its results, the change between versions."""

import difflib
import json
from collections.abc import Sequence

from hermes_core.types import JSON
from hermes_tool_workshop.calls import Outcome
from hermes_tool_workshop.permissions import Permissions
from hermes_tool_workshop.store import Version


def may(permissions: Permissions) -> str:
    """What it may do, a line each."""
    return "\n".join(f"  - {line}" for line in permissions.words())


def patch(before: str, after: str, old: str, new: str) -> str:
    """The change from one text to another."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), old, new, lineterm="")
    return "\n".join(lines)


def difference(name: str, old: Version, new: Version) -> str:
    """What changed between two versions: code, and what it may do."""
    code = patch(old.code, new.code, f"{name} {old.number}", f"{name} {new.number}") or "The code is the same."
    return "\n".join(filter(None, (permission_change(old.label.permissions, new.label.permissions), code)))


def permission_change(old: Permissions, new: Permissions) -> str:
    """What it may do now and could not before, and the other way round; empty when that is the same."""
    before, now = set(old.words()), set(new.words())
    if before == now:
        return ""
    lines = [f"  + {line}" for line in new.words() if line not in before]
    lines += [f"  - {line}" for line in old.words() if line not in now]
    return "\n".join(["What it may do changes:", *lines])


def visible(text: str) -> str:
    """A text as a terminal may show it: what cannot be seen is spelled out."""
    return "".join(c if c.isprintable() or c in "\n\t" else f"\\u{ord(c):04x}" for c in text)


def told(outcome: Outcome) -> str:
    """What came of a call that worked, as the model reads it."""
    value: JSON = outcome.value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return "\n".join(filter(None, (text, *aside(outcome)))) or "(it returned an empty text)"


def aside(outcome: Outcome) -> Sequence[str]:
    """What is to be said beside the result."""
    said = [f"[printed: {outcome.printed}]"] if outcome.printed else []
    if outcome.refused:
        said.append(f"[refused: {'; '.join(outcome.refused[:5])}]")
    return said
