"""What was typed, kept for the next time: one JSON string a line, readable by nobody else."""

import contextlib
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path

from prompt_toolkit.history import History

__all__ = ["LineHistory"]

READ = 1_000_000  # bytes from the end that are looked at
LARGEST = 2_000_000  # bytes at which the file is cut down to what is read
ENTRY = 32_000  # characters; a longer entry is not worth keeping


class LineHistory(History):
    """History in a file, or only in this process when ``path`` is None.

    ``expand`` gives back the text behind a collapsed paste. A line that begins with a space is not kept. A file that
    cannot be written costs the history, never the conversation; ``trouble`` is told once.
    """

    def __init__(self, path: Path | None, expand: Callable[[str], str], trouble: Callable[[str], None]) -> None:
        super().__init__()
        self._path = path
        self._expand = expand
        self._trouble = trouble

    def append_string(self, string: str) -> None:
        """Keep an entry, unless it repeats the one before."""
        entry = self._expand(string)
        if not entry.strip() or entry.startswith(" ") or len(entry) > ENTRY or entry in self.get_strings()[-1:]:
            return
        super().append_string(entry)

    def load_history_strings(self) -> Iterable[str]:
        """Entries of other times, newest first."""
        if self._path is None:
            return []
        try:
            with self._path.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - READ))
                lines = file.read().split(b"\n")
        except FileNotFoundError:
            return []
        except OSError as error:
            self._give_up(error)
            return []
        if size > READ:
            lines = lines[1:]
        if size > LARGEST:
            self._rewrite(lines)
        return [entry for entry in map(_entry, reversed(lines)) if entry]

    def store_string(self, string: str) -> None:
        """Add an entry to the file; one write, so that several conversations may share it."""
        if self._path is None:
            return
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            fd = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            with contextlib.closing(os.fdopen(fd, "wb", buffering=0)) as file:
                file.write(json.dumps(string).encode() + b"\n")
        except OSError as error:
            self._give_up(error)

    def _rewrite(self, lines: list[bytes]) -> None:
        assert self._path is not None
        fresh = self._path.with_name(f"{self._path.name}.{os.getpid()}.new")
        try:
            with contextlib.closing(os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")) as f:
                f.write(b"\n".join(lines))
            fresh.replace(self._path)
        except OSError as error:
            fresh.unlink(missing_ok=True)
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        self._trouble(f"What you type is not kept: {self._path}: {error.strerror or error}.")
        self._path = None


def _entry(line: bytes) -> str:
    with contextlib.suppress(ValueError):
        entry = json.loads(line)
        if isinstance(entry, str):
            return entry
    return ""
