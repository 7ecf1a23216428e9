"""The text form of a memory file: entries with a line that holds only a section sign between them."""

from collections.abc import Sequence

MARK = "§"
JOINT = f"\n{MARK}\n"


def split_entries(text: str) -> tuple[str, ...]:
    """The entries of a file, also of one that a person edited: line ends, blank lines and stray marks do no harm."""
    blocks: list[list[str]] = [[]]
    for line in text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n"):
        if line.strip() == MARK:
            blocks.append([])
        else:
            blocks[-1].append(line)
    return tuple(entry for block in blocks if (entry := "\n".join(block).strip()))


def join_entries(entries: Sequence[str]) -> str:
    """The text of a file; limits count exactly this."""
    return JOINT.join(entries)


def memo_id(text: str) -> str:
    """A stable id: the same text has the same id in every process."""
    from hashlib import blake2b

    return blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()


def fullness(entries: Sequence[str], limit: int) -> str:
    """How full a file is: ``12%, 264 of 2,200 characters``."""
    used = len(join_entries(entries))
    return f"{used * 100 // limit}%, {used:,} of {limit:,} characters"


def find_entry(entries: Sequence[str], part: str) -> list[int]:
    """Positions of the entries that hold ``part``; an entry that equals it is meant alone."""
    if part in entries:
        return [entries.index(part)]
    exact = [i for i, entry in enumerate(entries) if part in entry]
    return exact or [i for i, entry in enumerate(entries) if part.casefold() in entry.casefold()]
