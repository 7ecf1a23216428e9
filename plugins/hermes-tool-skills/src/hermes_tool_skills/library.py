"""The skills of this home: what is here, every version it had, and each change as one step that survives ``kill -9``.

Order of a change: version, audit line, lock, files, lock. The lock says what must be in the folder, the version store
holds it, so a change that was cut off is finished by whoever looks next.
"""

import json
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from attrs import asdict, evolve

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName, UserError
from hermes_core.patterns import pattern
from hermes_core.types import JSON
from hermes_core.values import frozen
from hermes_tool_skills.disk import add_line, drop_folder, held, put_tree, write_json
from hermes_tool_skills.lock import Entry, Lock, read_lock, write_lock
from hermes_tool_skills.tree import BadTree, Tree, digest, hashes, read_tree

_NUMBER = pattern(r"\d{6}")


@frozen(kw_only=True)
class Version:
    """One state a skill was in: who made it, when, why, and what the scan said."""

    name: str
    number: int
    by: str
    why: str
    when: float
    session: str = ""
    verdict: str = "safe"
    source: str = ""
    gone: bool = False


@frozen(kw_only=True)
class Change:
    """Who changes something, and why."""

    by: str
    why: str
    session: str = ""


class Library:
    """The folder ``skills`` of a home, with its lock, versions, proposals and audit log."""

    def __init__(self, home: Path, data: Path, *, keep: int = 50, clock: Callable[[], float] | None = None) -> None:
        self.folder = home / "skills"
        self.data = data
        self.lock_file = data / "skills.lock"
        self.audit_file = data / "audit.jsonl"
        self._versions = data / "versions"
        self._keep = keep
        self.clock = clock or time.time

    @classmethod
    def of(cls, ctx: PluginContext) -> "Library":
        """The library of the home that a plugin context names."""
        return cls(ctx.paths.home, ctx.paths.data, keep=ctx.config.versions)

    def held(self) -> AbstractContextManager[None]:
        """Keep everybody else from changing skills until the block ends."""
        return held(self.data / ".held")

    def lock(self) -> Lock:
        """What was accepted; changes that were cut off are finished first. Raises BadLock, OSError."""
        lock = read_lock(self.lock_file)
        if not lock.unfinished:
            return lock
        with self.held():
            return self.lock_held()

    def lock_held(self) -> Lock:
        """The same for one that holds the library."""
        for entry in (lock := read_lock(self.lock_file)).unfinished:
            lock = self._settle(lock, entry)
        return lock

    def place(self, name: str) -> Path:
        """The folder of a skill of this home."""
        return self.folder / name

    def live(self, name: str) -> dict[str, bytes]:
        """The files in the folder now. Raises BadTree, OSError."""
        return read_tree(self.place(name))

    # --- changes; the caller holds the library ------------------------------------------------------------------------

    def commit(self, entry: Entry, tree: Tree, change: Change) -> Entry:
        """Make this tree the skill's next version and put it into its folder. ``entry`` needs no version and files.

        Raises OSError; then the change is either not begun or finished by the next look.
        """
        number = self._next(entry.name)
        now = self.clock()
        entry = evolve(entry, version=number, files=hashes(tree), when=now, stage="settling")
        version = Version(
            name=entry.name, number=number, by=change.by, why=change.why, when=now,
            session=change.session, verdict=entry.verdict, source=entry.resolved or entry.source,
        )  # fmt: skip
        self._store(version, tree)
        self.audit("commit", entry, change)
        lock = self._settle(read_lock(self.lock_file).having(entry), entry)
        self._prune(entry.name, number)
        return lock.entries[entry.name]

    def remove(self, entry: Entry, change: Change) -> None:
        """Take a skill out of its folder; its versions stay. Files that were changed become a last version."""
        try:
            tree: Tree = self.live(entry.name)
        except (BadTree, OSError):
            tree = {}
        if tree and digest(hashes(tree)) != entry.digest:
            number = self._next(entry.name)
            found = Version(name=entry.name, number=number, by="unknown", why="as it was found", when=self.clock())
            self._store(found, tree)
        self.audit("remove", entry, change)
        lock = read_lock(self.lock_file).having(entry := evolve(entry, stage="going", enabled=False))
        self._settle(lock, entry)

    def mark(self, entry: Entry, change: Change, what: str) -> None:
        """Keep an entry whose files did not change: enabled, disabled, pinned."""
        self.audit(what, entry, change)
        write_lock(self.lock_file, read_lock(self.lock_file).having(entry))

    def switch(self, name: str, change: Change, *, on: bool) -> None:
        """Switch a skill from elsewhere on or off."""
        lock = read_lock(self.lock_file)
        disabled = {*lock.disabled} - {name} if on else {*lock.disabled, name}
        self._line("enable" if on else "disable", {"name": name}, change)
        write_lock(self.lock_file, evolve(lock, disabled=tuple(sorted(disabled))))

    def _settle(self, lock: Lock, entry: Entry) -> Lock:
        """Write the lock, bring the folder to what it says, and write that this is done."""
        write_lock(self.lock_file, lock)
        if entry.stage == "going":
            drop_folder(self.place(entry.name))
            done = evolve(entry, stage="gone")
        else:
            put_tree(self.place(entry.name), self.version(entry.name, entry.version)[1])
            done = evolve(entry, stage="here")
        write_lock(self.lock_file, lock := lock.having(done))
        return lock

    # --- versions -----------------------------------------------------------------------------------------------------

    def numbers(self, name: str) -> list[int]:
        """The numbers of the versions that are kept, oldest first."""
        folder = self._versions / name
        found = [p.name for p in folder.iterdir()] if folder.is_dir() else []
        return sorted(int(n) for n in found if _NUMBER.fullmatch(n))

    def named(self) -> list[str]:
        """The names of which versions are kept."""
        return sorted(p.name for p in self._versions.iterdir()) if self._versions.is_dir() else []

    def versions(self, name: str) -> list[Version]:
        """All versions of a skill, newest first. Raises UnknownName."""
        numbers = self.numbers(name)
        if not numbers:
            raise UnknownName("skill with a history", name, self.named())
        return [self._about(name, number) for number in reversed(numbers)]

    def version(self, name: str, number: int) -> tuple[Version, dict[str, bytes]]:
        """One version and its files. Raises UnknownName, UserError when it is damaged."""
        if number not in self.numbers(name):
            raise UnknownName(f"version of {name}", str(number), map(str, self.numbers(name)))
        about = self._about(name, number)
        try:
            tree = read_tree(self._at(name, number) / "files")
            stored = json.loads((self._at(name, number) / "hashes.json").read_bytes())
        except (OSError, ValueError, BadTree) as error:
            raise UserError(f"Version {number} of {name} cannot be read: {error}") from None
        if hashes(tree) != stored:
            raise UserError(
                f"Version {number} of {name} was changed since it was stored, so it is not used.",
                hint=f"Take another one: hermes skills history {name}",
            )
        return about, tree

    def _about(self, name: str, number: int) -> Version:
        try:
            return Version(**json.loads((self._at(name, number) / "version.json").read_bytes()))
        except (OSError, ValueError, TypeError) as error:
            raise UserError(f"Version {number} of {name} cannot be read: {error}") from None

    def _at(self, name: str, number: int) -> Path:
        return self._versions / name / f"{number:06}"

    def _next(self, name: str) -> int:
        return max(self.numbers(name), default=0) + 1

    def _store(self, version: Version, tree: Tree) -> None:
        """A version appears in one step: a folder that is renamed when all is in it."""
        place = self._at(version.name, version.number)
        draft = place.with_name(f".{place.name}.new")
        drop_folder(draft)
        put_tree(draft / "files", tree)
        write_json(draft / "hashes.json", hashes(tree))
        write_json(draft / "version.json", asdict(version))
        draft.rename(place)

    def _prune(self, name: str, current: int) -> None:
        for number in self.numbers(name)[: -self._keep]:
            if number != current:
                drop_folder(self._at(name, number))

    # --- audit --------------------------------------------------------------------------------------------------------

    def audit(self, what: str, entry: Entry, change: Change) -> None:
        """Write down what is about to be done; the file only ever grows."""
        about = {
            "name": entry.name, "version": entry.version, "origin": entry.origin, "verdict": entry.verdict,
            "source": entry.source, "resolved": entry.resolved, "digest": entry.digest, "enabled": entry.enabled,
        }  # fmt: skip
        self._line(what, about, change)

    def _line(self, what: str, about: dict[str, JSON], change: Change) -> None:
        row = {"when": self.clock(), "what": what, **about, "by": change.by, "why": change.why}
        add_line(self.audit_file, {**row, "session": change.session})

    def audited(self) -> Sequence[JSON]:
        """The lines of the audit log, oldest first; a line that was cut off is left out."""
        try:
            lines = self.audit_file.read_bytes().splitlines()
        except OSError:
            return []
        found = []
        for line in lines:
            try:
                found.append(json.loads(line))
            except ValueError:
                continue
        return found
