"""The tool ``memory``: a model adds, replaces and removes facts, alone or in one atomic batch."""

import asyncio
from typing import Literal

from attrs import field

from hermes_core.errors import ToolError
from hermes_core.kinds import Tool, ToolContext, tool
from hermes_core.types import Effect, Source
from hermes_core.values import frozen
from hermes_memory_files.entries import fullness
from hermes_memory_files.memory import FilesMemory, clean_entry, fit, one_entry
from hermes_memory_files.store import FILES, MemoryStore

_OBJECTS = {"type": "array", "items": {"type": "object"}}  # what each holds is said in words: it is known already
_TRIES = 3  # failed consolidations before the tool stops asking for another
_SESSIONS = 256  # sessions whose failures are counted at a time


@frozen(kw_only=True)
class Operation:
    """One change of a batch."""

    action: Literal["add", "replace", "remove"]
    text: str = ""
    old: str = ""


@frozen(kw_only=True)
class Change:
    """What the model asks for."""

    action: Literal["add", "replace", "remove"] = "add"
    text: str = ""
    old: str = field(default="", metadata={"help": "unique part of the entry meant"})
    target: Literal["memory", "user"] = "memory"
    operations: list[Operation] = field(
        factory=list, metadata={"told": _OBJECTS, "help": "several, each with action, text, old: all or none"}
    )


def memory_tool(memory: FilesMemory) -> Tool:
    """The tool over one memory."""
    overflows: dict[str, int] = {}

    @tool(
        name="memory", toolset="memory", effects=[Effect.REMEMBER], touches=lambda change: (f"memory:{change.target}",)
    )
    async def run(context: ToolContext, change: Change) -> str:
        """Keep lasting facts, unasked too: about the person (user) or your own notes (memory)."""
        session = context.session
        store = memory.store(session.owner)
        source = Source(by="model", session_id=session.id, trusted=not session.untrusted)
        try:
            after, changed = await asyncio.to_thread(_apply, store, change, source)
        except _Overflow as error:
            raise _counted(overflows, session.id, error, change.target) from None
        overflows.pop(session.id, None)
        count = f"{len(after)} {'entry' if len(after) == 1 else 'entries'}"
        what = "Done" if changed else "It was there already; nothing changed"
        return f"{what}. {FILES[change.target]}: {count}, {fullness(after, store.limits[change.target])}."

    return run


class _Overflow(ToolError):
    """The batch did not fit."""


def _apply(store: MemoryStore, change: Change, source: Source) -> tuple[tuple[str, ...], bool]:
    operations = change.operations or [Operation(action=change.action, text=change.text, old=change.old)]
    for operation in operations:
        _check(operation)
    changed = False

    def edit(before: tuple[str, ...]) -> tuple[str, ...]:
        nonlocal changed
        after = before
        for operation in operations:
            after = _one(after, operation, change.target)
        changed = after != before
        if not changed:
            return before
        try:
            return fit(after, before, store, change.target)
        except ToolError as error:
            raise _Overflow(error.text, hint=error.hint) from None

    why = "/".join(sorted({operation.action for operation in operations}))
    return store.change(change.target, source, edit, why=why), changed


def _check(operation: Operation) -> None:
    if operation.action != "add" and not operation.old.strip():
        raise ToolError(f"{operation.action} needs old: a part of the entry that only this entry holds.")
    if operation.action != "remove":
        clean_entry(operation.text)


def _one(entries: tuple[str, ...], operation: Operation, target: str) -> tuple[str, ...]:
    if operation.action == "add":
        entry = clean_entry(operation.text)
        return entries if entry in entries else (*entries, entry)
    at = one_entry(entries, operation.old, target)
    if operation.action == "remove":
        return (*entries[:at], *entries[at + 1 :])
    entry = clean_entry(operation.text)
    rest = (*entries[:at], *entries[at + 1 :])
    return rest if entry in rest else (*entries[:at], entry, *entries[at + 1 :])


def _counted(overflows: dict[str, int], session_id: str, error: ToolError, target: str) -> ToolError:
    tries = overflows.pop(session_id, 0) + 1
    if tries > _TRIES:
        return ToolError(
            f"{FILES[target]} is still too full after {_TRIES} attempts. Nothing was changed.",
            retry=False,
            hint="Stop here and tell the person that this memory is full and what did not fit.",
        )
    while len(overflows) >= _SESSIONS:
        del overflows[next(iter(overflows))]
    overflows[session_id] = tries
    return ToolError(error.text, hint=error.hint)
