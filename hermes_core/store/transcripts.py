"""Transcripts: ``<session>.jsonl``, one OpenAI-shaped message a line, for people and their tools.

They are derived from the rows, written after the commit, and only ever appended to. Each line carries the id of its
row (``row``), so a file that was cut by a kill or written by several processes is completed on the next append.
A transcript that cannot be written never fails a turn; the log says so once.
"""

import json
import logging
from collections import OrderedDict
from collections.abc import Callable
from io import FileIO
from pathlib import Path

from hermes_core.store.codec import to_openai
from hermes_core.types import Message
from hermes_core.types.base import JSON

_OPEN_FILES = 16
_encode = json.JSONEncoder(ensure_ascii=False).encode
_log = logging.getLogger(__name__)
Missing = Callable[[str, int], list[tuple[int, Message]]]


class Transcripts:
    """The folder of transcripts; keeps the files it wrote to last open."""

    def __init__(self, folder: Path, clean: Callable[[JSON], JSON] | None = None) -> None:
        """``clean`` takes out of each message what must not be written into plain files."""
        self._folder, self._clean = folder, clean
        self._files: OrderedDict[str, tuple[FileIO, int]] = OrderedDict()
        self._warned = False

    def append(self, session_id: str, row: int, before: int, message: Message, missing: Missing) -> None:
        """Add a message; ``before`` is the row that should be the file's last. Never raises for a bad disk."""
        try:
            file, last = self._files.pop(session_id) if session_id in self._files else self._open(session_id)
            if last == before:
                file.write(lines(row, message, self._clean))
            else:
                last = _last_row(file)
                file.write(b"".join(lines(*stored, self._clean) for stored in missing(session_id, last)))
        except OSError as error:
            if not self._warned:
                _log.warning("Transcripts in %s cannot be written: %s. Turns go on without.", self._folder, error)
            self._warned = True
            return
        self._files[session_id] = file, row
        if len(self._files) > _OPEN_FILES:
            self._files.popitem(last=False)[1][0].close()

    def forget(self, session_id: str) -> None:
        """Remove the transcript of a deleted session."""
        if session_id in self._files:
            self._files.pop(session_id)[0].close()
        try:
            (self._folder / f"{session_id}.jsonl").unlink(missing_ok=True)
        except OSError as error:
            _log.warning("The transcript of session %s cannot be removed: %s.", session_id, error)

    def close(self) -> None:
        """Close the files; closing twice is quiet."""
        while self._files:
            self._files.popitem()[1][0].close()

    def _open(self, session_id: str) -> tuple[FileIO, int]:
        path = self._folder / f"{session_id}.jsonl"
        try:
            file = path.open("a+b", buffering=0)
        except FileNotFoundError:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            file = path.open("a+b", buffering=0)
        return file, _last_row(file)


def lines(row: int, message: Message, clean: Callable[[JSON], JSON] | None = None) -> bytes:
    """A stored message as lines of a transcript."""
    shaped = to_openai(message)
    return "".join(f"{_encode({**(clean(one) if clean else one), 'row': row})}\n" for one in shaped).encode()


def _last_row(file: FileIO) -> int:
    """The row of the last whole line; what a cut left of a line after it is removed."""
    size, reach = file.seek(0, 2), 65536
    if not size:
        return 0
    while True:
        start = max(0, size - reach)
        file.seek(start)
        tail = file.read()
        whole = tail[: tail.rfind(b"\n") + 1]
        if start == 0 or whole.count(b"\n") > 1:
            break
        reach *= 4
    if len(whole) < len(tail):
        file.truncate(start + len(whole))
    try:
        return int(json.loads(whole.split(b"\n")[-2])["row"])
    except (ValueError, KeyError, TypeError, IndexError):
        return 0
