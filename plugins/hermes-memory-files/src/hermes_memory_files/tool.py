"""The tool ``memory``: a model adds, replaces and removes facts, alone or in one atomic batch."""

import asyncio
from collections.abc import Sequence
from typing import Literal

from attrs import field

from hermes_core.errors import ToolError
from hermes_core.kinds import Tool, ToolContext, tool
from hermes_core.types import Effect, Source
from hermes_core.values import frozen
from hermes_memory_files.changes import Operation, Overflow, apply_all
from hermes_memory_files.entries import fullness
from hermes_memory_files.memory import FilesMemory
from hermes_memory_files.store import FILES, MemoryStore

_OBJECTS = {"type": "array", "items": {"type": "object"}}  # what each holds is said in words: it is known already
_TRIES = 3  # failed consolidations before the tool stops asking for another
_SESSIONS = 256  # sessions whose failures are counted at a time


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
        operations = change.operations or [Operation(action=change.action, text=change.text, old=change.old)]
        work = _staged if memory.staged else _done
        try:
            said = await asyncio.to_thread(work, store, change.target, operations, source)
        except Overflow as error:
            raise _counted(overflows, session.id, error, change.target) from None
        overflows.pop(session.id, None)
        return said

    return run


def _done(store: MemoryStore, target: str, operations: Sequence[Operation], source: Source) -> str:
    after, changed = apply_all(store, target, operations, source)
    count = f"{len(after)} {'entry' if len(after) == 1 else 'entries'}"
    what = "Done" if changed else "It was there already; nothing changed"
    return f"{what}. {FILES[target]}: {count}, {fullness(after, store.limits[target])}."


def _staged(store: MemoryStore, target: str, operations: Sequence[Operation], source: Source) -> str:
    from hermes_memory_files.pending import propose

    one = propose(store, target, operations, source)
    return f"Not kept yet: it waits for the person as {one.id} (/memory approve {one.id}). Do not ask for it again."


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
