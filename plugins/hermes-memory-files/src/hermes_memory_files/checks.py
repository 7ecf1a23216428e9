"""What ``hermes doctor --deep`` asks about the two files."""

from collections.abc import Sequence

from hermes_core.errors import ToolError
from hermes_core.types import Check, Finding, Principal
from hermes_memory_files.entries import fullness, join_entries
from hermes_memory_files.guard import objection
from hermes_memory_files.memory import FilesMemory
from hermes_memory_files.store import FILES, MemoryStore


def check_files(memory: FilesMemory) -> Check:
    """Whether the owner's files can be read, fit their bounds and hide nothing."""

    async def run() -> Sequence[Finding]:
        store = memory.store(Principal())
        return [*(finding for target in FILES for finding in _look(store, target)), *_waiting(store)]

    return Check(name="memory files", run=run)


def _waiting(store: MemoryStore) -> list[Finding]:
    from hermes_memory_files.pending import waiting

    if not (there := len(waiting(store))):
        return []
    return [Finding(level="warning", text=f"{there} changes of memory wait for you", fix="hermes memory pending")]


def _look(store: MemoryStore, target: str) -> list[Finding]:
    path, limit = store.path(target), store.limits[target]
    try:
        entries = store.entries(target)
    except ToolError as error:
        return [Finding(level="fault", text=error.text, fix=error.hint)]
    found = [
        Finding(level="warning", text=f"{path}: entry {number} is kept out of prompts: {reason}", fix=f"Edit {path}.")
        for number, entry in enumerate(entries, 1)
        if (reason := objection(entry))
    ]
    if len(join_entries(entries)) > limit:
        found.append(Finding(level="warning", text=f"{path} is {fullness(entries, limit)}", fix=f"Shorten {path}."))
    return found or [Finding(level="ok", text=f"{FILES[target]}: {len(entries)} entries, {fullness(entries, limit)}")]
