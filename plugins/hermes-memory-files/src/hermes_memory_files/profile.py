"""Who the person is, as USER.md says it: shown to them, and changed by them."""

from hermes_core.errors import ToolError
from hermes_core.types import Source
from hermes_memory_files.entries import fullness, join_entries, memo_id, split_entries
from hermes_memory_files.guard import objection
from hermes_memory_files.memory import add_entry, clean_entry, one_entry
from hermes_memory_files.store import MemoryStore

__all__ = ["forget", "keep", "rewrite", "told"]

_BY = Source(by="user")


def told(store: MemoryStore) -> str:
    """Say what is known of the person, as every session is told it, and where it came from. Raises ToolError."""
    entries, known = store.entries("user"), store.sources()
    if not entries:
        return "Nothing is known of you yet. /user add TEXT, or: hermes user add TEXT"
    lines = [f"What every conversation is told of you ({fullness(entries, store.limits['user'])}):"]
    for entry in entries:
        record = known(entry)
        marks = ["you said so"] if record.source.by == "user" else ["noted by the agent"]
        marks += [] if record.source.trusted else ["after text from outside was read"]
        marks += [f"not shown to a model: {reason}"] if (reason := objection(entry)) else []
        lines.append(f"- {entry}".replace("\n", "\n  ") + f"  ({', '.join(marks)})")
    return "\n".join(lines)


def keep(store: MemoryStore, text: str) -> str:
    """Add an entry in the person's own words. Raises ToolError."""
    entry = clean_entry(text)
    store.change("user", _BY, lambda entries: add_entry(entries, entry, store, "user"), why="add")
    return entry


def forget(store: MemoryStore, part: str) -> str:
    """Take the entry out that holds a part, from the archive too: it was asked for by its person. Raises ToolError."""
    there = store.entries("user")
    gone = there[one_entry(there, part, "user")]
    store.clear({memo_id(gone)})
    store.change("user", _BY, lambda entries: [one for one in entries if one != gone], why="forgotten", kept=False)
    return gone


def rewrite(store: MemoryStore, before: tuple[str, ...], text: str) -> tuple[str, ...]:
    """Put what a person made of it in an editor in its place. Raises ToolError, also when it changed meanwhile."""
    wanted = split_entries(text)
    for entry in wanted:
        clean_entry(entry)

    def edit(entries: tuple[str, ...]) -> tuple[str, ...]:
        if entries != before:
            raise ToolError(f"{store.path('user')} was changed meanwhile by somebody else.", retry=False)
        if len(join_entries(wanted)) > store.limits["user"]:
            raise ToolError(f"That is too much: {fullness(wanted, store.limits['user'])}.", hint="Shorten it.")
        return tuple(dict.fromkeys(wanted))

    return store.change("user", _BY, edit, why="edited")
