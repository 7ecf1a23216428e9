"""What was sent, kept for the next time: one JSON string a line, readable by nobody else."""

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

__all__ = ["History"]

READ = 300_000  # bytes from the end that are looked at
LARGEST = 600_000  # bytes at which the file is cut down to what is read
ENTRY = 64_000  # characters; a longer entry is only kept in this process
ENTRIES = 2_000
SEARCHED = 20_000  # characters of an entry that a search looks at
PATIENCE = 0.02  # seconds that another Hermes may hold the file


class History:
    """Entries of this and of earlier times, newest last. With ``path`` None only those of this process.

    Several processes may share the file: an entry is added with one write under a lock, and the file is cut down under
    the same lock. A file that cannot be read or written costs the history, never the conversation: ``trouble`` is told.
    """

    def __init__(self, path: Path | None, trouble: Callable[[str], None]) -> None:
        self._path, self._trouble = path, trouble
        self._entries: list[str] | None = None

    @property
    def entries(self) -> Sequence[str]:
        """Every entry, newest last; the file is read when first asked."""
        if self._entries is None:
            self._entries = self._load()
        return self._entries

    def add(self, entry: str) -> None:
        """Keep an entry, unless it repeats the one before or begins with a space."""
        known = self.entries
        if not entry.strip() or entry.startswith(" ") or entry in known[-1:]:
            return
        assert self._entries is not None
        self._entries.append(entry)
        del self._entries[:-ENTRIES]
        if self._path is not None and len(entry) <= ENTRY:
            self._store(self._path, json.dumps(entry).encode() + b"\n")

    def find(self, wanted: str, most: int) -> list[str]:
        """Entries that hold every word of ``wanted``, whatever the case; newest first, each once."""
        words = wanted.casefold().split()
        found: dict[str, None] = {}
        for entry in reversed(self.entries):
            if len(found) == most:
                break
            folded = entry[:SEARCHED].casefold() if words else ""
            if all(word in folded for word in words):
                found.setdefault(entry)
        return list(found)

    def _load(self) -> list[str]:
        if self._path is None:
            return []
        try:
            with self._path.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - READ))
                data = file.read()
        except FileNotFoundError:
            return []
        except OSError as error:
            self._give_up(error)
            return []
        lines = data.split(b"\n")[1 if size > READ else 0 :]
        read = [_entry(line) for line in lines if line]
        if broken := read.count(None):
            self._trouble(f"{broken} lines of the input history cannot be read and were left out: {self._path}")
        if size > LARGEST:
            self._shrink(self._path)
        return [entry for entry in read if entry][-ENTRIES:]

    def _store(self, path: Path, line: bytes) -> None:
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with _locked(path) as fd:
                if os.fstat(fd).st_mode & 0o077:
                    os.fchmod(fd, 0o600)
                if _torn(fd):
                    line = b"\n" + line
                os.write(fd, line)
        except OSError as error:
            self._give_up(error)

    def _shrink(self, path: Path) -> None:
        fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
        try:
            with _locked(path) as fd:
                if os.fstat(fd).st_size <= LARGEST:
                    return  # another Hermes was here first
                data = os.pread(fd, READ, os.fstat(fd).st_size - READ)
                with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                    file.write(data[data.find(b"\n") + 1 :])
                fresh.replace(path)
        except OSError as error:
            with contextlib.suppress(OSError):
                fresh.unlink(missing_ok=True)
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        self._trouble(f"What you type is not kept: {self._path}: {error.strerror or error}.")
        self._path = None


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[int]:
    """The file, held against others; whoever waited for a file that was replaced meanwhile opens the new one."""
    until = time.monotonic() + PATIENCE
    while True:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            if _lock(fd, until) and not _is(fd, path):
                continue
            yield fd
            return
        finally:
            os.close(fd)


def _lock(fd: int, until: float) -> bool:
    """Whether the lock was had in time. Without it a line is still added whole, only a cut may lose it."""
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() >= until:
                return False
            time.sleep(0.001)
        else:
            return True


def _is(fd: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), path.stat())
    except FileNotFoundError:
        return False


def _torn(fd: int) -> bool:
    """Whether the last line was not written to its end."""
    size = os.fstat(fd).st_size
    return size > 0 and os.pread(fd, 1, size - 1) != b"\n"


def _entry(line: bytes) -> str | None:
    with contextlib.suppress(ValueError, RecursionError):
        entry = json.loads(line)
        if isinstance(entry, str):
            return entry
    return None
