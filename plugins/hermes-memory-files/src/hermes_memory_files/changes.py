"""Changes of a file's entries: what a model asks for, checked, and done all or none."""

from collections.abc import Mapping, Sequence
from typing import Literal

from hermes_core.errors import ToolError
from hermes_core.types import JSON, Source
from hermes_core.values import frozen
from hermes_memory_files.entries import find_entry
from hermes_memory_files.memory import clean_entry, fit, one_entry
from hermes_memory_files.store import MemoryStore

__all__ = ["Operation", "Overflow", "apply_all", "checked", "operation_of", "tried"]


@frozen(kw_only=True)
class Operation:
    """One change of a batch."""

    action: Literal["add", "replace", "remove"]
    text: str = ""
    old: str = ""


class Overflow(ToolError):
    """The batch did not fit."""


def operation_of(value: Mapping[str, JSON]) -> Operation:
    """An operation as it was kept. Raises ValueError for what is none."""
    action, text, old = value.get("action"), value.get("text", ""), value.get("old", "")
    if action not in ("add", "replace", "remove") or not isinstance(text, str) or not isinstance(old, str):
        raise ValueError(f"no change of a memory: {value}")
    return Operation(action=action, text=text, old=old)


def checked(operations: Sequence[Operation]) -> Sequence[Operation]:
    """The same. Raises ToolError for what must not be kept, and for what names no entry."""
    for operation in operations:
        if operation.action != "add" and not operation.old.strip():
            raise ToolError(f"{operation.action} needs old: a part of the entry that only this entry holds.")
        if operation.action != "remove":
            clean_entry(operation.text)
    return operations


def apply_all(
    store: MemoryStore, target: str, operations: Sequence[Operation], source: Source, *, again: bool = False
) -> tuple[tuple[str, ...], bool]:
    """Do them all or none; the entries after it, and whether anything changed. Raises ToolError, Overflow.

    With ``again`` what is there already counts as done: a process may have died after it did this.
    """
    operations, changed = checked(operations), False

    def edit(before: tuple[str, ...]) -> tuple[str, ...]:
        nonlocal changed
        after = tried(before, operations, store, target, again=again)
        changed = after != before
        return after

    why = "/".join(sorted({operation.action for operation in operations}))
    return store.change(target, source, edit, why=why), changed


def tried(
    before: tuple[str, ...], operations: Sequence[Operation], store: MemoryStore, target: str, *, again: bool = False
) -> tuple[str, ...]:
    """The entries as they would be. Raises ToolError, Overflow."""
    after = before
    for operation in operations:
        if not (again and _is_done(after, operation)):
            after = _one(after, operation, target)
    if after == before:
        return before
    try:
        return fit(after, before, store, target)
    except ToolError as error:
        raise Overflow(error.text, hint=error.hint) from None


def _is_done(entries: tuple[str, ...], operation: Operation) -> bool:
    if operation.action == "add" or find_entry(entries, operation.old.strip()):
        return False
    return operation.action == "remove" or clean_entry(operation.text) in entries


def _one(entries: tuple[str, ...], operation: Operation, target: str) -> tuple[str, ...]:
    if operation.action == "add":
        entry = clean_entry(operation.text)
        return entries if entry in entries else (*entries, entry)
    at = one_entry(entries, operation.old, target)
    rest = (*entries[:at], *entries[at + 1 :])
    if operation.action == "remove":
        return rest
    entry = clean_entry(operation.text)
    return rest if entry in rest else (*entries[:at], entry, *entries[at + 1 :])
