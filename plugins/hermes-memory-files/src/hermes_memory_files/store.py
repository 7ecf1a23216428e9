"""One person's folder on disk: two files, where each entry came from, and what was let go of.

Every change happens under a lock, reads the files anew (a person may have edited them) and replaces a whole file by
rename. Order of writes: archive, provenance, entries; a crash between them loses nothing and never drops a mark.
"""

import json
import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from attrs import field

from hermes_core.errors import ToolError
from hermes_core.types import JSON, Source
from hermes_core.values import frozen
from hermes_memory_files.entries import join_entries, memo_id, split_entries

FILES: Mapping[str, str] = {"memory": "MEMORY.md", "user": "USER.md"}
_SOURCES = ".sources.json"
_ARCHIVE = "archive.jsonl"
_LOCK = ".lock"
_PATIENCE = 10.0  # seconds to wait for another process; a change takes milliseconds


@frozen(kw_only=True)
class Record:
    """Where an entry came from, and when."""

    source: Source
    time: float = 0.0


@frozen(kw_only=True)
class MemoryStore:
    """The files of one person."""

    folder: Path
    limits: Mapping[str, int]
    clock: Callable[[], float] = field(default=time.time)

    def path(self, target: str) -> Path:
        """The file of a target, ``memory`` or ``user``."""
        return self.folder / FILES[target]

    @property
    def pending(self) -> Path:
        """The folder of changes that wait for their person."""
        return self.folder / "pending"

    def changed(self) -> float:
        """When something was last kept or forgotten here, by whichever process; 0 when nothing ever was."""
        try:
            return (self.folder / _SOURCES).stat().st_mtime
        except OSError:
            return 0.0

    def entries(self, target: str) -> tuple[str, ...]:
        """What a file holds now. Raises ToolError when it cannot be read."""
        path = self.path(target)
        try:
            return split_entries(path.read_bytes().decode())
        except FileNotFoundError:
            return ()
        except UnicodeDecodeError as error:
            raise ToolError(
                f"{path} is not UTF-8 text (byte {error.start}), so it was left alone.",
                retry=False,
                hint="Save the file as UTF-8, or move it away.",
            ) from None
        except OSError as error:
            raise _trouble("read", path, error) from None

    def sources(self) -> Callable[[str], Record]:
        """Who wrote an entry. What a person typed into the file is theirs; a broken record trusts nobody."""
        try:
            stored: JSON = json.loads((self.folder / _SOURCES).read_bytes())
            records = {key: _record(value) for key, value in stored.items()}
        except FileNotFoundError:
            records = {}
        except (OSError, ValueError, TypeError, AttributeError, KeyError):
            return lambda text: Record(source=Source(by="unknown", trusted=False))
        by_hand = Record(source=Source(by="user"))
        return lambda text: records.get(memo_id(text), by_hand)

    def change(
        self,
        target: str,
        source: Source,
        edit: Callable[[tuple[str, ...]], Sequence[str]],
        *,
        why: str = "changed",
        kept: bool = True,
    ) -> tuple[str, ...]:
        """Apply ``edit`` to a file's entries, all or nothing; the entries after it. What goes is ``kept`` aside.

        Raises ToolError, from ``edit`` or because the file cannot be read, written or locked.
        """
        try:
            with self.held():
                before = self.entries(target)
                after = tuple(edit(before))
                while (now := self.entries(target)) != before:  # an editor saved meanwhile: what it wrote counts
                    before, after = now, tuple(edit(now))
                if after != before:
                    if kept:
                        self._archive(target, [e for e in before if e not in after], source, why)
                    self._keep_sources(target, after, [e for e in after if e not in before], source)
                    _replace(self.path(target), join_entries(after) + "\n" if after else "")
                return after
        except OSError as error:
            raise _trouble("write", self.path(target), error) from None

    def erase(self) -> int:
        """Delete all of it, the archive too; how many entries there were. Raises ToolError.

        The record of where entries came from goes last: without it they would count as the person's own.
        """
        if not self.folder.is_dir():
            return 0
        try:
            with self.held():
                there = {entry for target in FILES for entry in self._readable(target)}
                proposed = self.pending.glob("*") if self.pending.is_dir() else ()
                for path in (
                    *proposed,
                    self.folder / "tidied",
                    self.folder / _ARCHIVE,
                    *map(self.path, FILES),
                    self.folder / _SOURCES,
                ):
                    path.unlink(missing_ok=True)
                return len(there)
        except OSError as error:
            raise _trouble("erase", self.folder, error) from None

    def _readable(self, target: str) -> tuple[str, ...]:
        try:
            return self.entries(target)
        except ToolError:
            return ()  # what cannot be read any more goes too

    def archived(self) -> list[Mapping[str, JSON]]:
        """What was let go of and kept aside, newest first: its id, text, why, and when. Raises ToolError."""
        try:
            lines = (self.folder / _ARCHIVE).read_bytes().splitlines()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise _trouble("read", self.folder / _ARCHIVE, error) from None
        found: list[Mapping[str, JSON]] = []
        for line in reversed(lines):
            try:
                value = json.loads(line)
                when = time.strftime("%Y-%m-%d %H:%M", time.localtime(value["time"]))
                text = str(value["text"])
                found.append(
                    {"id": memo_id(text), "when": when, "why": value["why"], "file": value["file"], "text": text}
                )
            except (ValueError, TypeError, KeyError):
                continue  # a line that a death cut short
        return found

    def clear(self, ids: Collection[str]) -> None:
        """Let go of texts in what was kept aside, and of what waits and names one of them. Raises ToolError."""
        archive = self.folder / _ARCHIVE
        if not archive.exists() and not self.pending.is_dir():
            return
        try:
            with self.held():
                gone = [text for target in FILES for text in self.entries(target) if memo_id(text) in ids]
                lines = archive.read_bytes().splitlines(keepends=True) if archive.exists() else []
                left = [line for line in lines if not _holds(line, ids)]
                if len(left) < len(lines):
                    _replace(archive, b"".join(left).decode("utf-8", "surrogateescape"))
                for path in self.pending.glob("*.json") if self.pending.is_dir() else ():
                    line = path.read_bytes()
                    if _holds(line, ids) or _names(line, gone):
                        path.unlink(missing_ok=True)
        except OSError as error:
            raise _trouble("clear", self.folder, error) from None

    def write(self, path: Path, text: str) -> None:
        """Write a file of this folder as a whole. Raises ToolError."""
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _replace(path, text)
        except OSError as error:
            raise _trouble("write", path, error) from None

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep other processes from changing anything here. Raises ToolError, and OSError."""
        from hermes_atomic.whole import Busy, held  # to read needs neither

        lock = self.folder / _LOCK
        try:
            with held(lock, seconds=_PATIENCE):
                yield
        except Busy:
            text = f"Another process has held {lock} for {_PATIENCE:.0f} seconds."
            raise ToolError(text, hint="Try again later; nothing was changed.") from None

    def _archive(self, target: str, gone: Sequence[str], source: Source, why: str) -> None:
        if not gone:
            return
        known = self.sources()
        lines = [
            {
                "time": self.clock(),
                "file": FILES[target],
                "why": why,
                "by": source.by,
                "text": text,
                "source": _plain(known(text)),
            }
            for text in gone
        ]
        data = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()
        handle = os.open(self.folder / _ARCHIVE, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.write(handle, data)
            os.fsync(handle)
        finally:
            os.close(handle)

    def _keep_sources(self, target: str, after: Sequence[str], new: Sequence[str], source: Source) -> None:
        known = self.sources()
        other = self.entries("user" if target == "memory" else "memory")
        fresh = Record(source=source, time=self.clock())
        records = {
            memo_id(text): fresh if text in new and text not in other else known(text) for text in (*after, *other)
        }
        by_hand = Record(source=Source(by="user"))
        kept = {key: _plain(record) for key, record in records.items() if record != by_hand}
        _replace(self.folder / _SOURCES, json.dumps(kept, indent=1, ensure_ascii=False) + "\n")


def _holds(line: bytes, ids: Collection[str]) -> bool:
    """Whether one of the texts in a line of JSON has one of the ids; what cannot be read may hold anything."""
    try:
        value = json.loads(line)
        texts = [value.get("text", ""), *(one.get("text", "") for one in value.get("operations", ()))]
        return any(memo_id(str(text).strip()) in ids for text in texts)
    except (ValueError, AttributeError):
        return True


def _names(line: bytes, gone: Sequence[str]) -> bool:
    """Whether a change that waits takes one of these entries away: what it puts in their place repeats them."""
    olds = [str(one.get("old", "")).strip().casefold() for one in json.loads(line).get("operations", ())]
    return any(old and old in text.casefold() for old in olds for text in gone)


def _record(value: Mapping[str, JSON]) -> Record:
    source = Source(by=str(value["by"]), session_id=str(value["session"]), trusted=value["trusted"] is True)
    return Record(source=source, time=float(value["time"]))


def _plain(record: Record) -> dict[str, JSON]:
    source = record.source
    return {"by": source.by, "session": source.session_id, "trusted": source.trusted, "time": record.time}


def _replace(path: Path, text: str) -> None:
    """Replace a file as a whole, through a symbolic link if it is one."""
    from hermes_atomic.whole import replace

    replace(path, text.encode("utf-8", "surrogateescape"), follow=True)


def _trouble(verb: str, path: Path, error: OSError) -> ToolError:
    return ToolError(
        f"Cannot {verb} {path}: {error.strerror or error}.",
        retry=False,
        hint="Tell the user; the file keeps what it had.",
    )
