"""Transcripts: ``<session>.jsonl``, one OpenAI-shaped message a line.

They are derived from what is stored, and only ever appended to. The last line of each message carries its ``number`` in
the conversation, so a file that was cut by a kill, or that another process wrote to, is completed at the next turn.
"""

import asyncio
import fcntl
import json
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO, TypeAlias

from hermes_core.control import SessionsBroker
from hermes_core.errors import StoreError, UnknownName
from hermes_core.types import JSON, Session
from hermes_openai_shape.write import shapes

__all__ = ["Transcripts"]

_AT_ONCE = 50  # messages that are read, masked and written in one go
_KEPT = 1_000  # transcripts of which it is known how far they are
_REACH = 65_536  # bytes of the end that are looked at first
_encode = json.JSONEncoder(ensure_ascii=False).encode
_log = logging.getLogger(f"hermes.{__name__}")
Rows: TypeAlias = Sequence[tuple[int, JSON]]


class Transcripts:
    """The folder of transcripts."""

    def __init__(self, folder: Path, masked: Callable[[str], str]) -> None:
        """``masked`` takes out of a text what must not be written into plain files."""
        self._folder, self._masked = folder, masked
        self._warned = False
        self._known: dict[Path, int] = {}  # the last message that was written; the file has the last word

    async def follow(self, archive: SessionsBroker, session: Session) -> None:
        """Add what a session has and its transcript has not. Never raises for a bad disk, nor for a bad store."""
        path = self._path(session)
        try:
            last = self._known.pop(path, -1)
            last = await asyncio.to_thread(_last_of, path) if last < 0 else last
            while rows := await _behind(archive, session, last):
                last = await asyncio.to_thread(self._append, path, last, rows)
                if last >= rows[-1][0] and len({number for number, _ in rows}) < _AT_ONCE:
                    break
            self._known[path] = last
            while len(self._known) > _KEPT:
                del self._known[next(iter(self._known))]
        except (UnknownName, StoreError):  # a session that was never stored, or a store whose trouble the turn told
            return
        except OSError as error:
            if not self._warned:
                _log.warning("Transcripts in %s cannot be written: %s. Turns go on without.", self._folder, error)
            self._warned = True

    async def forget(self, session: Session) -> None:
        """Remove the transcript of a deleted session."""
        self._known.pop(self._path(session), None)
        try:
            await asyncio.to_thread(self._path(session).unlink, missing_ok=True)
        except OSError as error:
            _log.warning("The transcript of session %s cannot be removed: %s.", session.id, error)

    def _path(self, session: Session) -> Path:
        return self._folder / f"{session.id}.jsonl"

    def _append(self, path: Path, after: int, rows: Rows) -> int:
        """Add those of the rows behind ``after`` that are not there yet; the last message that is there now."""
        try:
            file = path.open("a+b")
        except FileNotFoundError:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            file = path.open("a+b")
        with file:
            fcntl.flock(file, fcntl.LOCK_EX)  # another process may just have ended a turn of this session
            last = _mended(file)
            if last < after:  # it was deleted or cut meanwhile
                return last
            file.write(self._lines([row for row in rows if row[0] > last]))
            return max(last, rows[-1][0])

    def _lines(self, rows: Rows) -> bytes:
        ends = [number != following for (number, _), (following, _) in zip(rows, [*rows[1:], (0, None)], strict=True)]
        lines = (
            {**self._clean(shape), **({"number": number} if end else {})}
            for (number, shape), end in zip(rows, ends, strict=True)
        )
        return "".join(f"{_encode(line)}\n" for line in lines).encode("utf-8", "replace")

    def _clean(self, value: JSON) -> JSON:
        if isinstance(value, str):
            return self._masked(value)
        if isinstance(value, dict):
            return {key: self._clean(item) for key, item in value.items()}
        return [self._clean(item) for item in value] if isinstance(value, list) else value


async def _behind(archive: SessionsBroker, session: Session, last: int) -> Rows:
    """The next messages behind one, 0 being before the first: each with its number, one may be several, or none."""
    rows = await archive.read(session.owner, session.id, around=max(last, 1), window=_AT_ONCE)
    behind = [(number, message) for number, message in rows if number > last][:_AT_ONCE]
    return [(number, shape) for number, message in behind for shape in shapes(message)]


def _last_of(path: Path) -> int:
    """The last message that a transcript has whole; 0 where it has none. Raises OSError."""
    try:
        with path.open("r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            return _mended(file)
    except FileNotFoundError:
        return 0


def _mended(file: BinaryIO) -> int:
    """The last message that is there whole; what a cut left of the one behind it is removed."""
    size, reach = file.seek(0, 2), _REACH
    while True:
        start = max(0, size - reach)
        file.seek(start)
        tail = file.read()
        end = tail.rfind(b"\n") + 1
        while end and ((begin := tail.rfind(b"\n", 0, end - 1) + 1) or not start):
            if number := _number(tail[begin:end]):
                if start + end < size:
                    file.truncate(start + end)
                return number
            end = begin
        if not start:
            if size:
                file.truncate(0)
            return 0
        reach *= 4


def _number(line: bytes) -> int:
    """The number of the message that a line ends, 0 when it ends none."""
    try:
        number = json.loads(line)["number"]
    except (ValueError, KeyError, TypeError):
        return 0
    return number if isinstance(number, int) else 0
