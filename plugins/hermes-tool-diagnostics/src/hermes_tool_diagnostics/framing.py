"""Messages of the Language Server Protocol in a stream of bytes: a head with their length, then JSON."""

import json
from collections.abc import Iterator
from typing import Any

LARGEST = 32_000_000  # bytes of one message
_HEAD = 16_000


class Broken(Exception):
    """The stream holds something else."""


def framed(message: Any) -> bytes:
    """A message as it is sent."""
    body = json.dumps(message, separators=(",", ":")).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


class Frames:
    """Takes bytes as they come and gives whole messages."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._wanted = -1

    def feed(self, data: bytes) -> Iterator[dict[str, Any]]:
        """The messages that are whole now. Raises Broken."""
        self._held += data
        while True:
            if self._wanted < 0 and not self._head():
                return
            if len(self._held) < self._wanted:
                return
            body, self._held = bytes(self._held[: self._wanted]), self._held[self._wanted :]
            self._wanted = -1
            try:
                message = json.loads(body)
            except (ValueError, RecursionError) as error:
                raise Broken("a message is no JSON") from error
            if isinstance(message, dict):
                yield message

    def _head(self) -> bool:
        end = self._held.find(b"\r\n\r\n")
        if end < 0:
            if len(self._held) > _HEAD:
                raise Broken("it does not speak the protocol")
            return False
        for line in bytes(self._held[:end]).split(b"\r\n"):
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length" and value.strip().isdigit():
                self._wanted = int(value)
        if not 0 <= self._wanted <= LARGEST:
            raise Broken("it does not speak the protocol" if self._wanted < 0 else "a message is too long")
        del self._held[: end + 4]
        return True
