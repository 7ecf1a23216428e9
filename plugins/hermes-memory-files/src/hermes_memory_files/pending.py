"""Changes of a model's that wait for the person whose memory it is: a file each, in a folder beside the memory.

The id comes from what is asked for, so the same change waits once.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from attrs import asdict

from hermes_core.errors import ToolError, UnknownName, UserError
from hermes_core.types import Source
from hermes_core.values import frozen
from hermes_memory_files.changes import Operation, apply_all, checked, operation_of, tried
from hermes_memory_files.entries import find_entry, memo_id
from hermes_memory_files.store import FILES, MemoryStore

__all__ = ["MOST", "Waiting", "approve", "propose", "reject", "waiting"]

MOST = 50


@frozen(kw_only=True)
class Waiting:
    """One change that waits."""

    id: str
    target: str
    operations: tuple[Operation, ...]
    source: Source
    when: float

    def lines(self, entries: Sequence[str]) -> list[str]:
        """Say what it would do: a line with + for what comes, one with - for what goes, as it stands there."""
        said: list[str] = []
        for one in self.operations:
            if one.action != "add":
                found = find_entry(entries, one.old.strip())
                said.append(f"- {entries[found[0]] if len(found) == 1 else one.old}")
            if one.action != "remove":
                said.append(f"+ {one.text.strip()}")
        return [line.replace("\n", "\n  ") for line in said]


def propose(store: MemoryStore, target: str, operations: Sequence[Operation], source: Source) -> Waiting:
    """Keep a change for its person. Raises ToolError where it could not be done as things are, or too many wait."""
    tried(store.entries(target), checked(operations), store, target)
    plain = [asdict(one) for one in operations]
    identity = memo_id(json.dumps([target, plain], ensure_ascii=False))[:8]
    with store.held():
        there = waiting(store)
        if same := next((one for one in there if one.id == identity), None):
            return same
        if len(there) >= MOST:
            raise ToolError(
                f"{MOST} changes of this memory wait already; nothing more is kept.",
                retry=False,
                hint="Tell the person: /memory shows them.",
            )
        one = Waiting(id=identity, target=target, operations=tuple(operations), source=source, when=store.clock())
        kept = {"target": target, "operations": plain, "source": asdict(source), "when": one.when}
        store.write(_place(store, identity), json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    return one


def waiting(store: MemoryStore) -> Sequence[Waiting]:
    """What waits, oldest first; what cannot be read is left out."""
    found = []
    for path in store.pending.glob("*.json") if store.pending.is_dir() else ():
        try:
            found.append(_read(path))
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            continue
    return sorted(found, key=lambda one: (one.when, one.id))


def approve(store: MemoryStore, wanted: str) -> Waiting:
    """Make a change that waits. Raises UnknownName, and UserError where it cannot be done any more; it waits on then.

    It is made before it is forgotten: after a death in between it is found done, and says so.
    """
    one = _named(store, wanted)
    try:
        apply_all(store, one.target, one.operations, one.source, again=True)
    except ToolError as error:
        hint = f"Mend {store.path(one.target)}, or reject it: {one.id}"
        raise UserError(f"{one.id} cannot be done now: {error.text}", hint=hint) from None
    _place(store, one.id).unlink(missing_ok=True)
    return one


def reject(store: MemoryStore, wanted: str) -> Waiting:
    """Drop a change that waits. Raises UnknownName."""
    one = _named(store, wanted)
    _place(store, one.id).unlink(missing_ok=True)
    return one


def _named(store: MemoryStore, wanted: str) -> Waiting:
    there = waiting(store)
    found = [one for one in there if wanted.strip() and one.id.startswith(wanted.strip())]
    if len(found) != 1:
        raise UnknownName("change that waits", wanted, [one.id for one in there])
    return found[0]


def _place(store: MemoryStore, identity: str) -> Path:
    return store.pending / f"{identity}.json"


def _read(path: Path) -> Waiting:
    value = json.loads(path.read_bytes())
    if value["target"] not in FILES:
        raise ValueError(f"{path} names no file of this memory")
    source = value["source"]
    return Waiting(
        id=path.stem,
        target=value["target"],
        operations=tuple(operation_of(one) for one in value["operations"]),
        source=Source(by=str(source["by"]), session_id=str(source["session_id"]), trusted=source["trusted"] is True),
        when=float(value["when"]),
    )
