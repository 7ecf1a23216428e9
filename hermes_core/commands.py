"""What backends share about commands: output in bounded memory, and what bash tells of its variables."""

import os
import re
from collections import deque
from collections.abc import Sequence

__all__ = ["Capture", "is_shell", "parse_exports"]

_NOTICE_ROOM = 64  # bytes
_DECLARED = re.compile(
    rb"""declare\ -[a-wyzA-Z]*x[a-zA-Z]*\ (?P<name>[A-Za-z_][A-Za-z0-9_]*)
         =(?: "(?P<plain>(?:[^"\\]|\\.)*)" | \$'(?P<coded>(?:[^'\\]|\\.)*)' )\n""",
    re.VERBOSE | re.DOTALL,
)
_CODES = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"e": b"\x1b", b"E": b"\x1b", b"f": b"\f"}
_CODES[b"v"] = b"\v"


class Capture:
    """Keeps the beginning and the end of a stream within ``limit`` bytes and says what was left out between them."""

    def __init__(self, limit: int) -> None:
        room = _NOTICE_ROOM if limit >= 4 * _NOTICE_ROOM else 0
        self._limit = limit
        self._head_room = (limit - room) // 2
        self._tail_room = limit - room - self._head_room
        self._notice = bool(room)
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._total = 0

    def add(self, data: bytes) -> None:
        """Take the next piece."""
        self._total += len(data)
        if len(self._head) < self._head_room:
            space = self._head_room - len(self._head)
            self._head += data[:space]
            data = data[space:]
        if data:
            self._tail.append(data)
            self._tail_size += len(data)
            # Everything that could still be needed if the stream ended now fits into limit - head.
            while self._tail and self._tail_size - len(self._tail[0]) >= self._limit - self._head_room:
                self._tail_size -= len(self._tail.popleft())

    @property
    def truncated(self) -> bool:
        """Whether anything was left out."""
        return self._total > self._limit

    def joined(self) -> bytes:
        """What was kept; never longer than the limit."""
        tail = b"".join(self._tail)
        if not self.truncated:
            return bytes(self._head) + tail
        kept = tail[len(tail) - self._tail_room :] if self._tail_room else b""
        left_out = self._total - len(self._head) - len(kept)
        notice = f"\n[... {left_out} bytes left out ...]\n".encode() if self._notice else b""
        return bytes(self._head) + notice + kept


def is_shell(argv: Sequence[str]) -> bool:
    """Whether a command is one whose folder and variables should last."""
    return len(argv) == 3 and argv[1] == "-c" and argv[0].rpartition("/")[2] == "bash"


def parse_exports(text: bytes) -> dict[str, str]:
    """The variables in the output of bash's ``export -p``."""
    found = {}
    for match in _DECLARED.finditer(text):
        plain, coded = match["plain"], match["coded"]
        value = re.sub(rb"\\(.)", rb"\1", plain, flags=re.DOTALL) if coded is None else _decode(coded)
        found[os.fsdecode(match["name"])] = os.fsdecode(value)
    return found


def _decode(coded: bytes) -> bytes:
    def one(match: re.Match[bytes]) -> bytes:
        code = match[1]
        if code[:1] in b"01234567":
            return bytes([int(code, 8) & 255])
        return _CODES.get(code, code)

    return re.sub(rb"\\([0-7]{1,3}|.)", one, coded, flags=re.DOTALL)
