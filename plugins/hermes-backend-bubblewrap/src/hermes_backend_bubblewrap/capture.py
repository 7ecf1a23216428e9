"""Output in bounded memory."""

from collections import deque

NOTICE_ROOM = 64


class Capture:
    """Keeps the beginning and the end of a stream within ``limit`` bytes and says what was left out between them."""

    def __init__(self, limit: int) -> None:
        room = NOTICE_ROOM if limit >= 4 * NOTICE_ROOM else 0
        self._limit, self._room = limit, room
        self._head_room = (limit - room) // 2
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = self._total = 0

    def add(self, data: bytes) -> None:
        """Take the next piece."""
        self._total += len(data)
        space = self._head_room - len(self._head)
        self._head += data[:space]
        data = data[space:]
        if data:
            self._tail.append(data)
            self._tail_size += len(data)
            # Everything that could still be needed if the stream ended now fits into limit - head.
            while self._tail_size - len(self._tail[0]) >= self._limit - self._head_room:
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
        tail_room = self._limit - self._room - self._head_room
        kept = tail[len(tail) - tail_room :] if tail_room else b""
        left_out = self._total - len(self._head) - len(kept)
        notice = f"\n[... {left_out} bytes left out ...]\n".encode() if self._room else b""
        return bytes(self._head) + notice + kept
