"""Tool calls as an editor shows them: what is called, where, and which files it changes."""

import os
from collections.abc import Iterator, Mapping, Sequence
from difflib import unified_diff
from pathlib import Path
from typing import Any, TypeAlias

from hermes_core.patterns import pattern
from hermes_core.types import Effect, ToolCall, ToolRow
from hermes_core.values import define, frozen

__all__ = ["LARGEST", "Card", "Edit", "card_of", "edits_of", "files_of", "plan_of", "read_file"]

JSON: TypeAlias = Any

LARGEST = 512_000  # bytes of a file whose change is shown whole
_TITLE = 160
# The argument that tells most about a call, best first; none of them belongs to a certain tool.
_TELLING = ("command", "code", "path", "file_path", "url", "query", "pattern", "question", "goal", "text", "name")
_PATHS = ("path", "file_path")
_PATCHED = pattern(r"(?m)^\*\*\* (?:Update|Add|Delete) File: (.+)$")
_KINDS = (
    (Effect.EXECUTE, "execute"),
    (Effect.WRITE_FILES, "edit"),
    (Effect.NETWORK, "fetch"),
    (Effect.READ_FILES, "read"),
    (Effect.RECALL, "search"),
    (Effect.DELEGATE, "think"),
)


@frozen(kw_only=True)
class Edit:
    """A file before and after: None where it was not there. ``whole`` says that these are all of it."""

    path: str
    old: str | None
    new: str | None
    whole: bool = True

    def patch(self) -> str:
        """Return it as a patch of git, with the path as it is below the root of the file system."""
        name = self.path.lstrip("/")
        before = "/dev/null" if self.old is None else f"a/{name}"
        after = "/dev/null" if self.new is None else f"b/{name}"
        lines = list(unified_diff(_lines(self.old), _lines(self.new), before, after))
        if not lines:
            return ""
        whole = (line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
        made = "new file mode 100644\n" * (self.old is None) + "deleted file mode 100644\n" * (self.new is None)
        return f"diff --git a/{name} b/{name}\n{made}{''.join(whole)}"


@define(kw_only=True)
class Card:
    """One call. ``id`` is its name in the session; the model's own may come again. ``blocks`` are its result."""

    id: str
    call: ToolCall
    title: str
    kind: str
    cwd: str
    command: str = ""
    output: str = ""
    failed: bool = False
    edits: Sequence[Edit] = ()
    blocks: Sequence[JSON] = ()

    @property
    def input(self) -> JSON:
        """What the model gave."""
        return dict(self.call.arguments)

    def places(self) -> list[JSON]:
        """Return where it looks, for editors that follow."""
        line = self.call.arguments.get("offset")
        where = {"line": line} if isinstance(line, int) and not isinstance(line, bool) and line > 0 else {}
        return [{"path": path, **where} for path in files_of(self.call, self.cwd)[:20]]


def card_of(name: str, call: ToolCall, row: ToolRow | None, cwd: str) -> Card:
    """Make the card of a call. What it may do says its kind, not what it is called."""
    effects: frozenset[Effect] = row.effects if row else frozenset()
    kind = next((kind for effect, kind in _KINDS if effect in effects), "other")
    if kind == "read" and isinstance(call.arguments.get("pattern"), str):
        kind = "search"
    command = call.arguments.get("command")
    command = command if kind == "execute" and isinstance(command, str) else ""
    return Card(id=name, call=call, title=_title(call, command), kind=kind, cwd=cwd, command=command)


def _title(call: ToolCall, command: str) -> str:
    if call.invalid:
        return f"{call.name}: unreadable arguments"
    if command:
        return _line(f"$ {command}")
    for key in _TELLING:
        value = call.arguments.get(key)
        if isinstance(value, str) and value.strip():
            return _line(f"{call.name}: {value}")
    return _line(call.name)


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _TITLE else f"{line[: _TITLE - 1]}…"


def files_of(call: ToolCall, cwd: str) -> list[str]:
    """Return the files that a call names, by their absolute paths."""
    named = [value for key in _PATHS if isinstance(value := call.arguments.get(key), str) and value]
    text = call.arguments.get("patch")
    if isinstance(text, str):
        named += _PATCHED.findall(text[:LARGEST])
    return [os.path.normpath(Path(cwd, one)) for one in named if "\0" not in one]


def read_file(path: str) -> str | None:
    """Return the text of a file; None where there is none, or it is no text that can be shown."""
    try:
        file = Path(path)
        if not file.is_file() or file.stat().st_size > LARGEST:
            return None
        return file.read_bytes().decode()
    except (OSError, ValueError):
        return None


def edits_of(
    call: ToolCall, cwd: str, before: Mapping[str, str | None], after: Mapping[str, str | None]
) -> Iterator[Edit]:
    """Yield what became of the files that a call names; where that was not seen, what its arguments say."""
    for path, old in before.items():
        new = after.get(path)
        if old != new:
            yield Edit(path=path, old=old, new=new)
        elif isinstance(was := call.arguments.get("old"), str) and isinstance(now := call.arguments.get("new"), str):
            yield Edit(path=path, old=was, new=now, whole=False)


def plan_of(text: str) -> list[Mapping[str, str]] | None:
    """Return the plan that a result is, as the tool for plans writes it; None where it is none."""
    marks = {" ": "pending", ">": "in_progress", "x": "completed", "-": "cancelled"}
    found = [_STEP.fullmatch(line) for line in text.splitlines()]
    steps = [one for one in found if one]
    if not steps:
        return None
    return [{"content": one[2], "status": marks[one[1]]} for one in steps]


_STEP = pattern(r"\[([ >x-])\] [^ :]{1,100}: (.+)")


def _lines(text: str | None) -> list[str]:
    return (text or "").splitlines(keepends=True)
