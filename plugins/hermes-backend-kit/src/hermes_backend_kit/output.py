"""Output of commands in bounded memory: of one that runs to its end, and of one in the background."""

from collections import deque
from collections.abc import Callable

from hermes_core.types import ExecResult

__all__ = ["Capture", "Unread"]

_NOTICE_ROOM = 64  # bytes


class Capture:
    """Keeps the beginning and the end of a stream within ``limit`` bytes and says what was left out between them.

    ``listener`` hears every piece that is taken, kept or not.
    """

    def __init__(self, limit: int, listener: Callable[[bytes], None] | None = None) -> None:
        room = _NOTICE_ROOM if limit >= 4 * _NOTICE_ROOM else 0
        self._limit = limit
        self._listener = listener
        self._head_room = (limit - room) // 2
        self._tail_room = limit - room - self._head_room
        self._notice = bool(room)
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._total = 0

    def take(self, data: bytes) -> None:
        """Keep the next piece and tell the listener. Raises what the listener raises."""
        self.add(data)
        if self._listener:
            self._listener(data)

    def add(self, data: bytes) -> None:
        """Keep the next piece without telling anybody."""
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

    def result(self, status: int) -> ExecResult:
        """What a command came to that ended with this status."""
        return ExecResult(status=status, output=self.joined(), truncated=self.truncated)


class Unread:
    """Output that nobody has read yet, up to ``limit`` bytes; the oldest goes first. ``listener`` hears every piece."""

    def __init__(self, limit: int, listener: Callable[[bytes], None] | None = None) -> None:
        self._limit = limit
        self._listener = listener
        self._pieces: deque[bytes] = deque()
        self._size = 0
        self._lost = 0

    def __bool__(self) -> bool:
        return bool(self._size or self._lost)

    def take(self, data: bytes) -> None:
        """Keep the next piece and tell the listener. Raises what the listener raises."""
        self._pieces.append(data)
        self._size += len(data)
        while self._size > self._limit and len(self._pieces) > 1:
            gone = self._pieces.popleft()
            self._size -= len(gone)
            self._lost += len(gone)
        if self._listener:
            self._listener(data)

    def read(self) -> bytes:
        """Everything since the last time, with a note in front where some was dropped."""
        note = f"[... {self._lost} bytes left out ...]\n".encode() if self._lost else b""
        data = note + b"".join(self._pieces)
        self._pieces.clear()
        self._size = self._lost = 0
        return data
