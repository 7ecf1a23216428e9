"""Bringing a snapshot back. What is there now is kept as a snapshot first, so it can be undone.

Only files that the snapshot of now has are overwritten or deleted: what was left out of it (too large, ignored, a
secret) could not be brought back and is left alone. No link is followed.
"""

import json
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from attrs import field

from hermes_core.errors import UserError
from hermes_core.values import define, frozen
from hermes_tool_checkpoints.contents import Contents
from hermes_tool_checkpoints.git import Git, GitFailed, Job
from hermes_tool_checkpoints.store import About, Snapshot, Store, read, replace


@frozen(kw_only=True)
class Restored:
    """What a rollback did. ``left`` says of files that are not as they were, why not; ``undo`` brings back what was."""

    snapshot: Snapshot
    undo: Snapshot
    restored: tuple[str, ...]
    deleted: tuple[str, ...]
    left: dict[str, str] = field(factory=dict)

    @property
    def changed(self) -> list[str]:
        """All files that were touched, by name."""
        return sorted({*self.restored, *self.deleted})


def restore(store: Store, folder: Path, snapshot: Snapshot, about: About, job: Job, *, only: str = "") -> Restored:
    """Make the folder, or one file or folder in it, what it was. Raises UserError, GitFailed.

    A rollback that is killed half-way is said so by ``cut_off``; the same rollback again completes it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with store.at(folder, job) as git:
        then = store.facts(git, snapshot)
        now = store.state(git)
        paths = _Changes.between(git, now.tree, snapshot.tree, os.fsencode(only))
        if only and not paths.any and not _holds(git, now.tree, only) and not _holds(git, snapshot.tree, only):
            reason = then.skipped.get(only) or now.contents.skipped.get(only)
            raise UserError(f"{only} is not in this snapshot{f': {reason}' if reason else ''}.")
        undo = store.keep(git, now, about)
        marker = store.root / "projects" / f"{store.project(folder)}.restoring"
        replace(marker, json.dumps({"when": snapshot.when}))
        work = _Work(git, folder, now.contents, then)
        work.play(paths, snapshot.tree)
        marker.unlink()
        return Restored(
            snapshot=snapshot, undo=undo, restored=_names(work.restored), deleted=_names(work.deleted), left=work.left
        )


def cut_off(store: Store, folder: Path) -> float:
    """When the snapshot was taken whose rollback was killed half-way; 0 when none was."""
    return float(read(store.root / "projects" / f"{store.project(folder)}.restoring").get("when", 0.0))


@define
class _Changes:
    """Paths that must be written, and paths that must go."""

    write: set[bytes]
    remove: set[bytes]

    @property
    def any(self) -> bool:
        return bool(self.write or self.remove)

    @classmethod
    def between(cls, git: Git, now: str, then: str, only: bytes) -> "_Changes":
        listing = git("diff-tree", "-r", "-z", "--no-renames", "--name-status", now, then).split(b"\0")
        changes = cls(set(), set())
        for state, path in zip(listing[::2], listing[1::2], strict=False):
            if not only or path == only or path.startswith(only.rstrip(b"/") + b"/"):
                (changes.remove if state == b"D" else changes.write).add(path)
        return changes


class _Work:
    def __init__(self, git: Git, folder: Path, now: Contents, then: Contents) -> None:
        self._git, self._folder, self._now, self._then = git, folder, now, then
        self.restored: set[bytes] = set()
        self.deleted: set[bytes] = set()
        self.left: dict[str, str] = {}

    def play(self, changes: _Changes, tree: str) -> None:
        """Clear what stands in the way, write what was, then delete what was not there."""
        above = {parent for path in changes.write for parent in _parents(path)}
        first = {p for p in changes.remove if p in above or any(q in changes.write for q in _parents(p))}
        for path in first:
            self._delete(path)
        free = {path for path in changes.write if self._is_free(path)}
        self._write(free, tree)
        self._chmod(changes.write & self.restored)
        # With the old .gitignore back in place: what it ignores was not looked at then, and may have been there.
        rest = changes.remove - first
        for path in rest - self._kept(rest):
            self._delete(path)

    def _kept(self, paths: set[bytes]) -> set[bytes]:
        kept = {p for p in paths if os.fsdecode(p) in self._then.skipped}
        if asked := paths - kept:
            try:
                feed = b"".join(b"./%s\0" % path for path in asked)  # a name may begin like a pattern
                ignored = self._git("check-ignore", "--no-index", "-z", "--stdin", feed=feed)
                kept |= {path[2:] for path in ignored.split(b"\0") if path}
            except GitFailed as error:
                if error.status != 1:  # 1: none of them is ignored; else nobody knows
                    kept |= asked
        for path in kept:
            self.left[os.fsdecode(path)] = "it was not part of the snapshot, and may have been there"
        return kept

    def _is_free(self, path: bytes) -> bool:
        """Whether writing a path destroys nothing that is not in the snapshot of now."""
        name = os.fsdecode(path)
        target = self._folder / name
        for parent in reversed(_parents(path)):
            there = _mode(self._folder / os.fsdecode(parent))
            if there and not stat.S_ISDIR(there):
                self.left[name] = f"{os.fsdecode(parent)} is in the way"
                return False
        there = _mode(target)
        if stat.S_ISDIR(there):
            _prune(target)
            there = _mode(target)
        if stat.S_ISDIR(there) or (there and path not in self._now.wanted):
            reason = self._now.skipped.get(name, "it is not part of snapshots now")
            self.left[name] = f"what is there now could not be kept ({reason})"
            return False
        return True

    def _write(self, paths: set[bytes], tree: str) -> None:
        if not paths:
            return
        index = self._git.index.with_suffix(".restore")
        feed = b"\0".join(sorted(paths)) + b"\0"
        try:
            self._git("read-tree", tree, index=index)
            with suppress(GitFailed):  # what could not be written is found by looking
                self._git("checkout-index", "-f", "-u", "-z", "--stdin", feed=feed, index=index)
            wrong = set(self._git("diff-files", "-z", "--name-only", index=index).split(b"\0"))
        finally:
            for leftover in (index, index.with_name(f"{index.name}.lock")):
                leftover.unlink(missing_ok=True)
        self.restored |= paths - wrong
        for path in paths & wrong:
            self.left[os.fsdecode(path)] = "it could not be written"

    def _chmod(self, paths: Iterable[bytes]) -> None:
        for path in paths:
            target = self._folder / os.fsdecode(path)
            there = _mode(target)
            if stat.S_ISREG(there):
                plain = 0o755 if there & 0o100 else 0o644
                with suppress(OSError):
                    target.chmod(self._then.modes.get(os.fsdecode(path), plain))

    def _delete(self, path: bytes) -> None:
        name = os.fsdecode(path)
        target = self._folder / name
        if any(not stat.S_ISDIR(_mode(self._folder / os.fsdecode(p))) for p in _parents(path)):
            return  # reached through a link, or gone with its folder
        try:
            target.unlink(missing_ok=True)
        except OSError as error:
            self.left[name] = f"it could not be deleted: {error.strerror}"
            return
        self.deleted.add(path)
        for parent in reversed(_parents(path)):
            try:
                (self._folder / os.fsdecode(parent)).rmdir()
            except OSError:
                break


def _parents(path: bytes) -> list[bytes]:
    """The folders above a path, outermost first."""
    pieces = path.split(b"/")
    return [b"/".join(pieces[:i]) for i in range(1, len(pieces))]


def _mode(path: Path) -> int:
    try:
        return path.lstat().st_mode
    except OSError:
        return 0


def _prune(folder: Path) -> None:
    """Remove a folder in which there are only empty folders."""
    for place, _, _ in os.walk(folder, topdown=False):
        with suppress(OSError):
            Path(place).rmdir()


def _holds(git: Git, tree: str, path: str) -> bool:
    return bool(git("ls-tree", "-z", "--name-only", tree, "--", path))


def _names(paths: Iterable[bytes]) -> tuple[str, ...]:
    return tuple(sorted(os.fsdecode(p) for p in paths))
