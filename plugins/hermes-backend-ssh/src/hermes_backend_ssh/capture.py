"""What is kept of a remote command's output."""

from collections import deque

GAP = b"\n[... output left out here ...]\n"


class Capture:
    """The first and the last bytes of a stream, together never more than ``limit``."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._first = bytearray()
        self._rest: deque[bytes] = deque()
        self._kept = 0
        self.total = 0

    def add(self, data: bytes) -> None:
        """Take the next piece, letting go of what can no longer be needed."""
        self.total += len(data)
        space = self._limit // 2 - len(self._first)
        if space > 0:
            self._first += data[:space]
            data = data[space:]
        self._rest.append(data)
        self._kept += len(data)
        while self._rest and self._kept - len(self._rest[0]) >= self._limit - self._limit // 2:
            self._kept -= len(self._rest.popleft())

    @property
    def truncated(self) -> bool:
        """Whether something is missing in the middle."""
        return self.total > self._limit

    def joined(self) -> bytes:
        """Beginning, gap, end."""
        rest = b"".join(self._rest)
        if not self.truncated:
            return bytes(self._first) + rest
        gap = GAP if self._limit > 4 * len(GAP) else b""
        room = max(0, self._limit - len(self._first) - len(gap))
        return bytes(self._first) + gap + rest[len(rest) - room :]
