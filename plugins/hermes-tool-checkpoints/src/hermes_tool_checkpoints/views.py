"""Snapshots as people see them: lists, differences, what a rollback did."""

import time
from collections.abc import Sequence
from pathlib import Path

from hermes_core.values import frozen
from hermes_tool_checkpoints.git import Git, Job
from hermes_tool_checkpoints.restore import Restored
from hermes_tool_checkpoints.store import Snapshot, Store

_LINES = 400  # of a difference in a conversation
_NAMES = 10


@frozen(kw_only=True)
class Row:
    """A snapshot in a list; ``changes`` sums up what happened between it and the next."""

    number: int
    snapshot: Snapshot
    changes: str


def rows(store: Store, folder: Path, snapshots: Sequence[Snapshot], job: Job) -> list[Row]:
    """Snapshots with what came after each."""
    if not snapshots:
        return []
    trees = [s.tree for s in snapshots]
    if folder.is_dir():
        with store.at(folder, job) as git:
            after = [store.state(git).tree, *trees[:-1]]
            pairs = "".join(f"{tree} {later}\n" for tree, later in zip(trees, after, strict=True))
            told = git("diff-tree", "-r", "--no-renames", "--shortstat", "--stdin", feed=pairs.encode()).decode()
    else:
        told = ""
    sums = _sums(told)
    return [
        Row(number=n, snapshot=s, changes=sums[n - 1] if n <= len(sums) else "the folder is gone")
        for n, s in enumerate(snapshots, 1)
    ]


def _sums(told: str) -> list[str]:
    """The sums of ``diff-tree --shortstat``: a line with two names, then one that sums up, or none."""
    sums: list[str] = []
    for line in told.splitlines():
        if line.startswith(" "):
            sums[-1] = line.strip()
        else:
            sums.append("no change")
    return sums


def at(when: float) -> str:
    """A moment, to the second, in local time."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(when))


def origin(snapshot: Snapshot) -> str:
    """What a snapshot was taken before."""
    return "before a rollback" if snapshot.kind == "rollback" else f"before {snapshot.tool}"


def listing(folder: str, found: Sequence[Row], cut_off: float) -> str:
    """The list in a conversation."""
    width = max((len(origin(row.snapshot)) for row in found), default=0)
    lines = [f"Snapshots of {folder}, newest first, and what changed after each:"]
    for row in found:
        skipped = row.snapshot.skipped
        left = f" ({skipped} {'file' if skipped == 1 else 'files'} left out)" if skipped else ""
        line = f"    {row.number:>2}  {at(row.snapshot.when)}  {origin(row.snapshot):<{width}}  {row.changes}{left}"
        lines.append(line.rstrip())
    if cut_off:
        lines.append(f"A rollback to {at(cut_off)} was cut off half-way; the same one again completes it.")
    lines.append("/rollback N brings all back, /rollback N FILE one file, /rollback diff N shows what changed since.")
    return "\n".join(lines)


def difference(store: Store, folder: Path, snapshot: Snapshot, job: Job, *, most: int = _LINES) -> str:
    """What changed in a folder since a snapshot, as a patch; the middle is left out beyond ``most`` lines, 0: never."""
    with store.at(folder, job) as git:
        return cut(patch(git, snapshot.tree, store.state(git).tree), most)


def patch(git: Git, before: str, after: str) -> str:
    """The patch between two trees."""
    words = ("diff-tree", "-r", "-p", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv")
    return git(*words, before, after).decode(errors="replace")


def cut(text: str, most: int) -> str:
    """A text of at most so many lines."""
    lines = text.splitlines()
    if not most or len(lines) <= most:
        return text.rstrip("\n")
    head = most * 2 // 3
    return "\n".join([*lines[:head], f"… {len(lines) - most} lines left out …", *lines[head - most :]])


def told(done: Restored, *, undo: str) -> str:
    """What a rollback did, in a few lines."""
    when = at(done.snapshot.when)
    if not done.changed and not done.left:
        return f"Nothing to do: the files are as they were at {when}."
    brought, removed = len(done.restored), len(done.deleted)
    lines = [f"Brought back to {when}: {_count(brought, 'file')} restored, {_count(removed, 'file')} deleted."]
    lines += [
        f"    {'deleted ' if name in done.deleted else 'restored'}  {_safe(name)}" for name in done.changed[:_NAMES]
    ]
    if len(done.changed) > _NAMES:
        lines.append(f"    … and {len(done.changed) - _NAMES} more")
    if done.left:
        lines.append("Left as they are:")
        lines += [f"    {_safe(name)}: {reason}" for name, reason in sorted(done.left.items())[:_NAMES]]
        if len(done.left) > _NAMES:
            lines.append(f"    … and {len(done.left) - _NAMES} more")
    return "\n".join([*lines, f"To undo this: {undo}"])


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _safe(name: str) -> str:
    """A name on one line, without control characters."""
    return name if name.isprintable() else ascii(name)[1:-1]
